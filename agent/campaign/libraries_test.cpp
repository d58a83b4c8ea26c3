#include "agent/campaign/libraries.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "agent/campaign/baselines.h"
#include "agent/torch/torch_python.h"
#include "core/error.h"
#include "core/text.h"

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

std::string refusal(const std::string& text) {
  try {
    parse_own_library(text);
  } catch (const core::UsageError& error) {
    return error.what();
  }
  return "taken";
}

TEST(Libraries, TheUsersOwnIsAPythonFileWithAName) {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "kw_own_library.py";
  std::ofstream(file) << "def equivalent(x): return x + x\n";
  const OwnLibrary own = parse_own_library("ours 2.1=" + file.string());
  EXPECT_EQ(own.name, "ours 2.1");
  EXPECT_EQ(own.file, file);
  EXPECT_TRUE(computes(Library::Kind::own, benchsuite::Problem{}));
  const core::Json request = open_request({Library::Kind::own, own.name, nullptr, own.file}, benchsuite::Problem{});
  EXPECT_EQ(request, core::Json({{"op", "open"}, {"equivalent", ""}, {"file", file.string()}}));
  std::filesystem::remove(file);
  EXPECT_NE(refusal("ours=" + file.string()).find("kw_own_library.py is no file"), std::string::npos);
  EXPECT_NE(refusal(file.string()).find("is not NAME=FILE.py"), std::string::npos);
  EXPECT_NE(refusal("=a.py").find("is not NAME=FILE.py"), std::string::npos);
  EXPECT_NE(refusal("ours=libours.so").find("write one that calls it"), std::string::npos);
  EXPECT_NE(refusal("PyTorch 3 eager=a.py").find("names that begin with PyTorch are taken"), std::string::npos);
  EXPECT_NE(refusal("o\nurs=a.py").find("is no name for a library"), std::string::npos);
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
  EXPECT_EQ(open_request({Library::Kind::pytorch_compile, "", nullptr}, problem, "reduce-overhead"),
            core::Json::parse(R"({"op": "open", "equivalent": "a @ b", "compile": "reduce-overhead"})"));
  EXPECT_EQ(open_request({Library::Kind::pytorch_eager, "", nullptr}, problem),
            core::Json::parse(R"({"op": "open", "equivalent": "a @ b"})"));
}

TEST(Libraries, CompilesAReferenceInAJail) {
  benchsuite::Problem problem;
  const std::string source = "def forward(x, k):\n    return x\n";
  problem.files[std::string(benchsuite::kPytorchFile)] = source;
  problem.contract.tf32 = true;
  problem.scalars.push_back({"k", int32_t{3}});
  EXPECT_TRUE(computes(Library::Kind::pytorch_compile, problem));
  EXPECT_FALSE(computes(Library::Kind::pytorch_eager, problem));  // it is the naive solution
  EXPECT_TRUE(is_untrusted(Library::Kind::pytorch_compile, problem));
  EXPECT_EQ(open_request({Library::Kind::pytorch_compile, "", nullptr}, problem, "default"),
            core::Json({{"op", "open"},
                        {"what", "compiled"},
                        {"source", source},
                        {"tf32", true},
                        {"scalars", {{"k", 3}}},
                        {"mode", "default"}}));
  problem.equivalents.pytorch = "x";  // held to a grammar, and so without a jail
  EXPECT_FALSE(is_untrusted(Library::Kind::pytorch_compile, problem));
  EXPECT_EQ(open_request({Library::Kind::pytorch_compile, "", nullptr}, problem, "default").at("equivalent"), "x");
}

// Greets, and writes into its folder.
constexpr const char* kWriter = R"python(
import socket, struct, sys
open(sys.argv[1] + "/cached", "w").close()
socket.socket(fileno=3).sendall(struct.pack("<II", 2, 0) + b"{}")
import time
time.sleep(60)
)python";

TEST(Libraries, AJailedWorkerHasAFolderOfItsOwn) {
  namespace fs = std::filesystem;
  std::vector<fs::path> folders;
  LibraryWorker worker([&](const fs::path& scratch) {
    folders.push_back(scratch);
    return sandbox::process::WorkerCommand{"/usr/bin/env", {"python3", "-c", kWriter, scratch.string()}, {}};
  });
  EXPECT_EQ(worker.running().pid(), worker.running().pid());
  worker.end();
  worker.running();
  ASSERT_EQ(folders.size(), 2u);
  EXPECT_NE(folders[0], folders[1]);
  EXPECT_FALSE(fs::exists(folders[0]));
  EXPECT_TRUE(fs::exists(folders[1] / "cached"));
  worker.end();
  EXPECT_FALSE(fs::exists(folders[1]));
}

TEST(Libraries, ThePythonThatCompilesWritesBelowItsFolder) {
  if (torch::find_torch_python().index() != 0) GTEST_SKIP() << "there is no PyTorch";
  const Variable compiler("CC", "gcc-12"), none("CXX", "");
  const auto args = torch::compiled_reference_worker(core::installed_paths(), 1, false, "/scratch").args;
  const std::string all = core::join(args, " ");
  for (const char* part :
       {"--argument=--device --argument=1", " --gpu", "--scratch /scratch", "--variable=HOME=/scratch",
        "--variable=TMPDIR=/scratch", "--variable=TORCHINDUCTOR_CACHE_DIR=/scratch/", "--variable=CC=gcc-12",
        "--variable=TRITON_CACHE_DIR=/scratch/", "--variable=TORCHINDUCTOR_COMPILE_THREADS=1",
        "--variable=PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part << " in " << all;
  }
  EXPECT_EQ(all.find("HOME=/ "), std::string::npos);
  const auto without = torch::reference_worker(core::installed_paths(), 1).args;
  EXPECT_EQ(core::join(without, " ").find("scratch"), std::string::npos);
}

OfMode of_mode(const std::string& mode, const std::optional<double>& speed_up) {
  OfMode one{mode, {}};
  if (!speed_up) {
    one.judgement.verdict = verifier::verdicts::TimedOut{std::nullopt, 240};
    return one;
  }
  one.judgement.measurement.emplace();
  one.judgement.measurement->speed_up.value = *speed_up;
  return one;
}

TEST(Libraries, TheFastestModeCounts) {
  EXPECT_EQ(fastest({of_mode("default", 1.5), of_mode("tuned", 2), of_mode("graphs", 0.5)}).mode, "tuned");
  EXPECT_EQ(fastest({of_mode("default", {}), of_mode("tuned", {}), of_mode("graphs", 0.5)}).mode, "graphs");
  EXPECT_EQ(fastest({of_mode("default", 0.25), of_mode("tuned", {})}).mode, "default");
  EXPECT_EQ(fastest({of_mode("default", {}), of_mode("tuned", {})}).mode, "default");
  OfMode wrong = of_mode("wrong", 9);
  wrong.judgement.verdict = verifier::verdicts::MemoryLimit{"none is left"};
  EXPECT_EQ(fastest({wrong, of_mode("default", 1)}).mode, "default");
}

}  // namespace
}  // namespace agent::campaign
