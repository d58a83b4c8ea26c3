// Exports of problems with numbers of 8 bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/exporting/exporting_fixture.h"

namespace results::exporting::test {
namespace {
using testing::HasSubstr;

class ExportOf8Bits : public testing::Test {
 protected:
  const benchsuite::Problem problem_ = requantised_problem();
  ExportArchive archive_{{{problem_.name, problem_}}};
  const Package package_ = archive_.choose(archive_.add(problem_.files.at(std::string(benchsuite::kNaiveFile))));
};

TEST_F(ExportOf8Bits, NamesTheirTypesInCudaAndPyTorch) {
  std::string cuda, torch;
  for (const auto& [path, text] : cuda_project(package_, export_data(), "now")) cuda += text;
  for (const auto& [path, text] : torch_project(package_, export_data(), "now")) torch += text;
  EXPECT_THAT(cuda, HasSubstr("#include <cuda_fp8.h>"));
  EXPECT_THAT(cuda, HasSubstr("const __nv_fp8_e5m2* x, __nv_fp8_e4m3* y"));
  EXPECT_THAT(cuda, HasSubstr("static_cast<__nv_fp8_e4m3*>(to)[i] = __nv_fp8_e4m3(number);"));
  EXPECT_THAT(torch, HasSubstr("at::kFloat8_e5m2"));
  EXPECT_THAT(torch, HasSubstr("dtype(at::kFloat8_e4m3fn)"));
  EXPECT_THAT(torch, HasSubstr(".to(torch.float8_e5m2)"));
}

TEST_F(ExportOf8Bits, IsADefinitionOfFlashInferBenchAndNothingForHip) {
  std::string text;
  for (const auto& [path, content] : flashinfer_project(package_, export_data(), "now")) {
    if (path.starts_with("definitions/")) text = content;
  }
  EXPECT_THAT(text, HasSubstr("\"dtype\": \"float8_e5m2\""));
  EXPECT_THAT(text, HasSubstr("\"dtype\": \"float8_e4m3fn\""));
  EXPECT_THAT(refusal([&] { hip_project(package_, export_data(), "now"); }),
              HasSubstr("x uses CUDA's fp8, which HIP lacks"));
}

}  // namespace
}  // namespace results::exporting::test
