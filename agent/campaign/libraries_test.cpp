#include "agent/campaign/libraries.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "agent/torch/torch_python.h"
#include "core/error.h"

namespace agent::campaign {
namespace {
// Sets an environment variable during its lifetime.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(Libraries, VersionsAreShort) {
  EXPECT_EQ(short_version("2.11.0+cu130"), "2.11");
  EXPECT_EQ(short_version("2.11"), "2.11");
  EXPECT_EQ(short_version("2.12a0"), "2.12");
  EXPECT_EQ(short_version("3"), "3");
}

TEST(Libraries, ThePythonIsTheUsersChoice) {
  {
    const Variable named("KW_PYTHON", "/bin/sh");
    EXPECT_EQ(torch::find_python(), "/bin/sh");
  }
  {
    const Variable named("KW_PYTHON", "/nowhere/python3");
    EXPECT_THROW(torch::find_python(), core::InputError);
  }
  const Variable none("KW_PYTHON", "");
  const Variable path("PATH", "/nowhere:");
  EXPECT_EQ(torch::find_python(), std::nullopt);
}

TEST(Libraries, AProblemNamesItsLibraries) {
  benchsuite::Problem problem;
  EXPECT_FALSE(computes(Library::Kind::cublas, problem));
  EXPECT_FALSE(computes(Library::Kind::pytorch_eager, problem));
  problem.equivalents.pytorch = "a @ b";
  EXPECT_TRUE(computes(Library::Kind::pytorch_compile, problem));
  EXPECT_FALSE(computes(Library::Kind::cublas_lt, problem));
  problem.equivalents.gemm = {"a", "b", "c"};
  EXPECT_TRUE(computes(Library::Kind::cublas_lt, problem));
  EXPECT_EQ(open_request({Library::Kind::cublas_lt, "", nullptr}, problem),
            core::Json::parse(R"({"op": "open", "library": "cublaslt", "gemm": ["a", "b", "c"]})"));
  EXPECT_EQ(open_request({Library::Kind::pytorch_compile, "", nullptr}, problem),
            core::Json::parse(R"({"op": "open", "expression": "a @ b", "compile": true})"));
}

}  // namespace
}  // namespace agent::campaign
