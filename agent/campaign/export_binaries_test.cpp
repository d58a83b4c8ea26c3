#include "agent/campaign/export_binaries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "results/exporting/exporting_fixture.h"

namespace agent::campaign {
namespace {
#ifdef KW_HAVE_HIPRTC
// It has no form for CUDA that NVRTC could compile.
TEST(CheckExported, CompilesAKernelForHipAlone) {
  const core::Paths paths = core::installed_paths();
  results::exporting::test::ExportArchive archive;
  const results::exporting::test::Made on_cpu{.device = "cpu-hip", .architecture = ""};
  const std::string source = core::read_file(paths.kernels() / "gemm_f16/matrix_cores.cu");
  const auto check = [&](const std::string& text) {
    const std::vector<std::string> what{std::to_string(archive.add(text, on_cpu))};
    check_exported(paths, archive.choose({.what = what, .unconfirmed = true, .backend = "hip"}));
  };
  EXPECT_NO_THROW(check(source));
  EXPECT_THROW(check(source + "static int first = system(\"true\");\n"), core::InputError);
}
#endif

#ifdef KW_HAVE_NVRTC
TEST(CheckExported, AcceptsDeviceCodeAlone) {
  const core::Paths paths = core::installed_paths();
  results::exporting::test::ExportArchive archive;
  const std::string good = core::read_file(paths.kernels() / "sum_f32/two_launches.cu");
  const int64_t honest = archive.add(good);
  EXPECT_NO_THROW(check_exported(paths, archive.choose(honest)));
  const int64_t hostile = archive.add(good + "static int first = system(\"true\");\n", {.name = "hostile"});
  try {
    check_exported(paths, archive.choose(hostile));
    ADD_FAILURE() << "code for the host was not seen";
  } catch (const core::InputError& refused) {
    EXPECT_THAT(refused.what(), testing::HasSubstr("does not compile for sm_90a"));
  }
}
#endif
}  // namespace
}  // namespace agent::campaign
