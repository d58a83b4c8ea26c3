// Kernels with Hopper's features through NVRTC. Needs the CUDA Toolkit, but no GPU.
#ifdef KW_HAVE_NVRTC
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/paths.h"
#include "core/text.h"
#include "sandbox/cuda/compiler/compiler.h"

namespace sandbox::cuda::compiler {
namespace {
using testing::HasSubstr;

Compilation compile_for(const std::string& architecture, const std::string& source) {
  static const Nvrtc nvrtc = Nvrtc::open(KW_CUDA_HOME);
  const CompilerSettings settings{architecture,
                                  core::read_file(core::installed_paths().device_headers() / "kw_prelude.h")};
  return compile({"solution.cu", source, {}, Build::fast}, settings, nvrtc);
}

std::string ptx_of(const Built& built) {
  std::string text(built.ptx_bytes, '\0');
  EXPECT_EQ(::pread(built.ptx.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  return text;
}

// Returns the PTX, or the log if it does not compile.
std::string outcome(const std::string& architecture, const std::string& source) {
  const Compilation compilation = compile_for(architecture, source);
  if (const auto* rejected = std::get_if<Rejected>(&compilation)) return "rejected: " + rejected->message;
  return ptx_of(std::get<Built>(compilation));
}

constexpr const char* kTensorMemory = R"(
#include <cuda.h>
static_assert(sizeof(CUtensorMap) == 128 && alignof(CUtensorMap) == 128, "as the driver lays it out");
// y[i] = x[i] for the first 64 floats, through shared memory with a tensor map.
extern "C" __global__ void copy(const __grid_constant__ CUtensorMap x_map, float* y) {
  __shared__ alignas(128) float tile[64];
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned tile_at = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const unsigned barrier_at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier_at));
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(barrier_at) : "memory");
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::
                     "r"(tile_at), "l"(&x_map), "r"(0), "r"(barrier_at) : "memory");
  }
  __syncthreads();
  asm volatile("{\n.reg .pred done;\nwait:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
               "@!done bra wait;\n}" ::"r"(barrier_at) : "memory");
  y[threadIdx.x] = tile[threadIdx.x];
}
)";

TEST(HopperKernels, TensorMapsReachAKernelAsAParameter) {
  const Compilation compilation = compile_for("sm_90", kTensorMemory);
  ASSERT_TRUE(std::holds_alternative<Built>(compilation)) << std::get<Rejected>(compilation).log;
  const Built& built = std::get<Built>(compilation);
  EXPECT_EQ(built.kernels.at("copy"), 2);
  EXPECT_THAT(ptx_of(built), HasSubstr("cp.async.bulk.tensor.1d"));
  EXPECT_THAT(outcome("sm_80", kTensorMemory), HasSubstr("rejected"));
}

TEST(HopperKernels, LibcuppTakesTensorMaps) {
  EXPECT_THAT(outcome("sm_90", R"(
#include <cuda.h>
#include <cuda/barrier>
namespace device = cuda::device::experimental;
extern "C" __global__ void copy(const __grid_constant__ CUtensorMap x_map, float* y) {
  __shared__ alignas(128) float tile[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    device::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  if (threadIdx.x == 0) device::cp_async_bulk_tensor_1d_global_to_shared(tile, &x_map, 0, barrier);
  auto token = threadIdx.x == 0 ? cuda::device::barrier_arrive_tx(barrier, 1, sizeof tile) : barrier.arrive();
  barrier.wait(static_cast<decltype(token)&&>(token));
  y[threadIdx.x] = tile[threadIdx.x];
}
)"),
              HasSubstr("cp.async.bulk.tensor.1d"));
}

TEST(HopperKernels, ClustersCompileFromCooperativeGroups) {
  const std::string ptx = outcome("sm_90", R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void sum(const float* x, float* y) {
  __shared__ float part;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) part = x[blockIdx.x];
  cluster.sync();
  if (threadIdx.x == 0 && cluster.block_rank() == 0) {
    float total = 0;
    for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank) total += *cluster.map_shared_rank(&part, rank);
    y[blockIdx.x / cluster.num_blocks()] = total;
  }
  cluster.sync();
}
)");
  EXPECT_THAT(ptx, HasSubstr("barrier.cluster.arrive"));
  EXPECT_THAT(ptx, HasSubstr("mapa"));
}

TEST(HopperKernels, ALaunchMayWaitForTheOneBeforeIt) {
  const std::string ptx = outcome("sm_90", R"(
#include <cuda_device_runtime_api.h>
extern "C" __global__ void first(float* x) {
  x[threadIdx.x] = 1;
  asm volatile("griddepcontrol.launch_dependents;");
}
extern "C" __global__ void second(const float* x, float* y) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  y[threadIdx.x] = x[threadIdx.x];
}
extern "C" __global__ void third(const float* x, float* y) {
  cudaGridDependencySynchronize();
  y[threadIdx.x] = x[threadIdx.x];
  cudaTriggerProgrammaticLaunchCompletion();
}
)");
  EXPECT_THAT(ptx, HasSubstr("griddepcontrol.launch_dependents"));
  EXPECT_THAT(ptx, HasSubstr("griddepcontrol.wait"));
}

TEST(HopperKernels, TheBarrierOfAGridCompiles) {
  EXPECT_THAT(outcome("sm_80", R"(
#include <cooperative_groups.h>
extern "C" __global__ void k(int* x) {
  x[0] = 1;
  cooperative_groups::this_grid().sync();
  x[1] = x[0];
}
)"),
              HasSubstr(".entry k"));
}

TEST(HopperKernels, ArchitecturesWithFeaturesOfTheirOwn) {
  const std::string source = R"(extern "C" __global__ void k() { asm volatile("wgmma.fence.sync.aligned;"); })";
  EXPECT_THAT(outcome("sm_90a", source), HasSubstr(".target sm_90a"));
  EXPECT_THAT(outcome("sm_90", source), HasSubstr("rejected"));
}

}  // namespace
}  // namespace sandbox::cuda::compiler
#endif
