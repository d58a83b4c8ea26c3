// What a cubin says of itself, read from cubins of NVRTC. Needs the CUDA Toolkit, but no GPU.
#ifdef KW_HAVE_NVRTC
#include "sandbox/cuda/cubin.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/paths.h"
#include "core/text.h"
#include "sandbox/cuda/compiler.h"
#include "sandbox/sealed_memory.h"

namespace sandbox::cuda {
namespace {

std::string cubin_of(const std::string& source) {
  static const Nvrtc nvrtc = Nvrtc::open(KW_CUDA_HOME);
  const CompilerSettings settings{"sm_90", core::read_file(core::installed_paths().device_headers() / "kw_prelude.h")};
  const Compilation compilation = compile({"solution.cu", source, {}, Build::fast}, settings, nvrtc);
  if (const auto* rejected = std::get_if<Rejected>(&compilation)) throw std::runtime_error(rejected->log);
  return read_memory(std::get<Built>(compilation).binary.get());
}

TEST(Cubin, NamesItsKernelsWithTheirParameters) {
  const auto kernels =
      kernels_of(cubin_of("extern \"C\" __global__ void a() {}\n"
                          "extern \"C\" __global__ void b(float* x, int n) { x[n] = 0; }\n"));
  EXPECT_EQ(kernels, (std::map<std::string, int64_t>{{"a", 0}, {"b", 2}}));
}

TEST(Cubin, GlobalsCountWithAndWithoutContent) {
  EXPECT_EQ(global_bytes(cubin_of("extern \"C\" __global__ void a() {}\n")), 0);
  EXPECT_EQ(global_bytes(cubin_of("__device__ int content[100] = {1};\n__device__ int room[1000];\n"
                                  "__constant__ int table[500] = {2};\n"
                                  "extern \"C\" __global__ void a(int i) { room[i] = content[i] + table[i]; }\n")),
            4400);
}

TEST(Cubin, AFewKilobytesMayAskForManyGigabytes) {
  for (const char* gigabytes : {"3", "4", "64"}) {  // ptxas writes 3, 0 and 0 as the size of the section
    const std::string cubin = cubin_of("__device__ char big[" + std::string(gigabytes) +
                                       "ull << 30];\n"
                                       "extern \"C\" __global__ void a(int i) { big[(size_t)i << 20] = 1; }\n");
    EXPECT_LT(cubin.size(), 16u << 10);
    EXPECT_EQ(global_bytes(cubin), std::stoll(gigabytes) << 30);
  }
}

TEST(Cubin, WhatIsNoneIsRefused) { EXPECT_THROW(global_bytes("no ELF at all"), core::InputError); }

}  // namespace
}  // namespace sandbox::cuda
#endif
