#include "agent/campaign/export_binaries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "results/exporting/exporting_fixture.h"

namespace agent::campaign {
namespace {
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
