// Exported projects compiled by nvcc, which needs no GPU. scripts/try_exports does it by their own instructions; here
// are the kernels that only a GPU could judge.
#ifdef KW_NVCC
#include <gtest/gtest.h>

#include <cstdlib>

#include "results/exporting/exporting_fixture.h"
#include "results/exporting/folder.h"

namespace results {
namespace {
namespace fs = std::filesystem;

// Compiles one source of a project for sm_90a; what the compiler said where it failed.
std::string compile(const fs::path& folder, const std::string& source, const std::string& include) {
  const fs::path log = folder / "log.txt";
  const std::string command = std::string(KW_NVCC) +
                              " -std=c++17 -arch=sm_90a -Xcompiler -Wall,-Wextra -Werror all-warnings -I" +
                              (folder / include).string() + " -c " + (folder / source).string() + " -o " +
                              (folder / "object.o").string() + " > " + log.string() + " 2>&1";
  return std::system(command.c_str()) == 0 ? "" : core::read_file(log);
}

class Compiled : public testing::Test {
 protected:
  fs::path write(const Files& files) {
    const fs::path folder = place_.file().parent_path() / "project";
    write_folder(folder, files, false);
    return folder;
  }
  TemporaryArchive place_;
};

TEST_F(Compiled, EverythingThatAPlanCanSayInALibrary) {
  ExportArchive archive;
  const Package package = archive.choose(archive.add(rich_solution()));
  const fs::path folder = write(cuda_project(package, export_data(), "now"));
  EXPECT_EQ(compile(folder, "src/" + package.kernels[0].id + ".cu", "include"), "");
  EXPECT_EQ(compile(folder, "src/dispatch.cpp", "include"), "");
}

TEST_F(Compiled, EverythingThatAPlanCanSayInAHeader) {
  ExportArchive archive;
  const Package package = archive.choose(archive.add(rich_solution()));
  const fs::path folder = write(header_project(package, export_data(), "now", {}));
  EXPECT_EQ(compile(folder, "test/selftest.cu", "."), "");
}

}  // namespace
}  // namespace results
#endif
