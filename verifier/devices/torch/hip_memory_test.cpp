// torch_memory.py on AMD, with a Python and a library that stands in for the HIP runtime.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/paths.h"

namespace verifier::devices::torch {
namespace {

constexpr const char* kScript = R"py(
import ctypes, os, types
import torch_memory
rocm, cuda = (types.SimpleNamespace(version=types.SimpleNamespace(hip=hip)) for hip in ("7.1", None))
driver = torch_memory.driver_for(rocm, 0)
assert isinstance(driver, torch_memory.HipDriver) and driver.l2_bytes == 8 << 20 and driver.granule == 1 << 16
file = os.memfd_create("lent")
os.ftruncate(file, 1 << 16)
os.pwrite(file, b"from the judge", 0)
memory = driver.lend(file, 1 << 16, True)
assert ctypes.string_at(memory.begin, 14) == b"from the judge"
ctypes.memmove(memory.begin + 100, b"result", 6)
assert os.pread(file, 6, 100) == b"result"
memory.release()
assert torch_memory.DlTensor(1 << 16, driver.DLPACK_DEVICE, 0, "f32", [4]).device_type == 10
try:
    driver.lend(-1, 1 << 16, False)
    raise SystemExit("an invalid descriptor was taken")
except RuntimeError as error:
    assert str(error) == "hipMemImportFromShareableHandle: invalid argument (1)", error
try:
    torch_memory.driver_for(cuda, 0)
except RuntimeError as error:
    assert "libcuda" in str(error) or "cu" in str(error), error
)py";

TEST(TorchOnAmd, MemoryIsLentThroughTheHipRuntime) {
  const core::Paths paths = core::installed_paths();
  const std::filesystem::path libraries = paths.program_folder.parent_path() / "test_hip";
  ::setenv("KW_TEST_SCRIPT", kScript, 1);
  const std::string command = "LD_LIBRARY_PATH=" + libraries.string() +
                              " PYTHONPATH=" KW_SOURCE_FOLDER
                              "/verifier/devices/torch python3 -B -c \"$KW_TEST_SCRIPT\"";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace verifier::devices::torch
