// No launch finds data that an earlier one left in shared or local memory. Needs a GPU and NVRTC.
#include "sandbox/gpu/driver/scrub.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <optional>

#include "core/paths.h"
#include "core/text.h"
#include "sandbox/cuda/compiler/compiler.h"
#include "sandbox/cuda/driver/driver.h"
#include "sandbox/process/sealed_memory.h"

namespace sandbox::gpu::driver {
namespace {
constexpr unsigned kThreads = 256;

// Reads unwritten memory through addresses that are opaque to the compiler.
constexpr const char* kKernels = R"(
extern "C" __global__ void leave_shared(unsigned marker) {
  __shared__ unsigned room[4096];
  volatile unsigned* shared = room;
  for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x) shared[i] = marker;
}
extern "C" __global__ void find_shared(unsigned marker, unsigned* found) {
  __shared__ unsigned room[4096];
  volatile unsigned* shared = room;
  for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x) {
    if (shared[i] == marker) atomicAdd(found, 1);
  }
}
extern "C" __global__ void leave_local(unsigned marker) {
  volatile unsigned frame[64];
  for (unsigned i = 0; i < 64; ++i) frame[i] = marker;
}
extern "C" __global__ void find_local(unsigned marker, unsigned* found) {
  volatile unsigned frame[64];
  unsigned same = 0;
  for (unsigned i = 0; i < 64; ++i) {
    if (frame[i] == marker) ++same;
  }
  if (same > 0) atomicAdd(found, same);
}
// Fills all of a thread's registers. For an unwritten register, the assembler uses the first one.
extern "C" __global__ void __launch_bounds__(256, 8) leave_registers(unsigned marker) {
  __shared__ unsigned room[256];
  volatile unsigned* shared = room;
  shared[threadIdx.x] = marker;
  __syncthreads();
  unsigned held[24];
#pragma unroll
  for (int i = 0; i < 24; ++i) held[i] = shared[i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 24; ++i) shared[i] = held[i];
}
extern "C" __global__ void __launch_bounds__(256, 8) find_registers(unsigned marker, unsigned* found) {
  unsigned a, b;
  asm volatile("{ .reg .u32 x; mov.u32 %0, x; }" : "=r"(a));
  asm volatile("{ .reg .u32 y; mov.u32 %0, y; }" : "=r"(b));
  if (a == marker || b == marker) atomicAdd(found, 1);
}
)";

class ScrubOnGpu : public testing::Test {
 protected:
  ScrubOnGpu() : driver_(cuda::driver::open_driver()), context_(driver_, 0) {
    const char* home = std::getenv("CUDA_HOME");
    nvrtc_.emplace(cuda::compiler::Nvrtc::open(home != nullptr ? home : ""));
  }

  std::string compiled(const std::string& name, const std::string& source) {
    const core::Paths paths = core::installed_paths();
    const cuda::compiler::CompilerSettings settings{context_.facts().architecture,
                                                    core::read_file(paths.device_headers() / "kw_prelude.h")};
    const Compilation compilation = cuda::compiler::compile({name, source, {}, Build::fast}, settings, *nvrtc_);
    return process::read_memory(std::get<Built>(compilation).binary.get());
  }

  // Number of words of one launch that the next one finds, with `between` called in between.
  unsigned found(const Module& module, const std::string& what, const std::function<void()>& between) {
    const unsigned marker = ++marker_ * 0x01234567u;
    const PrivateMemory count(context_, sizeof(unsigned));
    context_.set(count.address(), 0, sizeof(unsigned));
    const auto blocks = 4 * static_cast<unsigned>(context_.facts().multiprocessors);
    module.function("leave_" + what)(blocks, kThreads, marker);
    between();
    module.function("find_" + what)(blocks, kThreads, marker, count.address());
    unsigned words = 0;
    context_.copy_to_host(&words, count.address(), sizeof words);
    return words;
  }

  Driver driver_;
  Context context_;
  std::optional<cuda::compiler::Nvrtc> nvrtc_;
  unsigned marker_ = 0;
};

// Hopper seems to clear both by itself; logs what remains without scrubbing.
TEST_F(ScrubOnGpu, NothingIsFoundOfAnEarlierLaunch) {
  const Module module(context_, compiled("residue.cu", kKernels));
  Scrub scrub(context_,
              compiled("run_kernels.cu", core::read_file(core::installed_paths().gpu_kernels() / "run_kernels.cu")));
  for (const char* what : {"shared", "local", "registers"}) {
    RecordProperty(std::string(what) + " words left without scrubbing", std::to_string(found(module, what, [] {})));
    for (int i = 0; i < 5; ++i) EXPECT_EQ(found(module, what, [&] { scrub.enqueue(256); }), 0u) << what;
  }
}

}  // namespace
}  // namespace sandbox::gpu::driver
