// The measuring kernels do the work that they are credited with: executed on the cpu device, as far as it can, and
// compiled by NVRTC where the CUDA Toolkit is present.
#include "verifier/devices/gpu/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>

#include "core/paths.h"
#include "core/text.h"
#include "sandbox/cpu/test_device_fixture.h"
#include "sandbox/cuda/compiler/compiler.h"

namespace verifier::devices::gpu {
namespace {
using sandbox::cpu::test::Device;

std::string source_of(const char* file) { return core::read_file(core::installed_paths().gpu_kernels() / file); }

// Memory of 16-byte vectors, as an argument of every launch.
uint32_t* add_vectors(Device& device, const std::string& name, size_t vectors) {
  return reinterpret_cast<uint32_t*>(device.add_floats(name, vectors * 4));
}
uint32_t sum_of(const uint32_t* words, size_t count) { return std::accumulate(words, words + count, uint32_t{0}); }

// Three whole tiles of 32 threads with 8 vectors each, and a part of one.
constexpr size_t kVectors = 3 * 32 * 8 + 77;
constexpr int64_t kGrids[] = {1, 3, 9};

TEST(CalibrateKernels, ScrambleFillsAllWithBitsThatDiffer) {
  Device device(source_of("calibrate_kernels.cu"));
  const uint32_t* data = add_vectors(device, "data", kVectors);
  device.add_argument<unsigned long long>(kVectors);
  device.add_argument<unsigned>(5);
  ASSERT_FALSE(device.launch("kw_scramble", 3, 32));
  const std::vector<uint32_t> first(data, data + kVectors * 4);
  EXPECT_GE(std::set<uint32_t>(first.begin(), first.end()).size(), first.size() - 1);
  double ones = 0;
  for (const uint32_t word : first) ones += __builtin_popcount(word);
  EXPECT_NEAR(ones / (32.0 * static_cast<double>(first.size())), 0.5, 0.01);
  ASSERT_FALSE(device.launch("kw_scramble", 1, 64));
  EXPECT_EQ(first, std::vector<uint32_t>(data, data + kVectors * 4)) << "the grid must not matter";
}

TEST(CalibrateKernels, ReadMeetsEveryVectorOnce) {
  Device device(source_of("calibrate_kernels.cu"));
  uint32_t* data = add_vectors(device, "data", kVectors);
  for (size_t i = 0; i < kVectors * 4; ++i) data[i] = static_cast<uint32_t>(i * i + 1);
  device.add_argument<unsigned long long>(kVectors);
  const auto* sums = reinterpret_cast<const uint32_t*>(device.add_floats("sums", 9 * 32));
  for (const int64_t grid : kGrids) {
    ASSERT_FALSE(device.launch("kw_read", grid, 32));
    EXPECT_EQ(sum_of(sums, static_cast<size_t>(grid) * 32), sum_of(data, kVectors * 4)) << grid;
  }
}

TEST(CalibrateKernels, ReadAgainMeetsEveryVectorInEachRound) {
  Device device(source_of("calibrate_kernels.cu"));
  uint32_t* data = add_vectors(device, "data", kVectors);
  for (size_t i = 0; i < kVectors * 4; ++i) data[i] = static_cast<uint32_t>(i * i + 1);
  device.add_argument<unsigned long long>(kVectors);
  device.add_argument<int>(5);
  const auto* sums = reinterpret_cast<const uint32_t*>(device.add_floats("sums", 9 * 32));
  for (const int64_t grid : kGrids) {
    ASSERT_FALSE(device.launch("kw_read_again", grid, 32));
    EXPECT_EQ(sum_of(sums, static_cast<size_t>(grid) * 32), 5 * sum_of(data, kVectors * 4)) << grid;
  }
}

TEST(CalibrateKernels, WriteReachesEveryVector) {
  Device device(source_of("calibrate_kernels.cu"));
  uint32_t* data = add_vectors(device, "data", kVectors);
  device.add_argument<unsigned long long>(kVectors);
  device.add_argument<unsigned>(3);
  for (const int64_t grid : kGrids) {
    std::fill(data, data + kVectors * 4, 0);
    ASSERT_FALSE(device.launch("kw_write", grid, 32));
    size_t wrong = 0;
    for (size_t i = 0; i < kVectors; ++i)
      wrong += data[4 * i + 1] != ~data[4 * i] || data[4 * i + 2] != 3 * data[4 * i];
    EXPECT_EQ(wrong, 0u) << grid;
  }
}

TEST(CalibrateKernels, CopyCopies) {
  Device device(source_of("calibrate_kernels.cu"));
  uint32_t* from = add_vectors(device, "from", kVectors);
  uint32_t* to = add_vectors(device, "to", kVectors);
  std::iota(from, from + kVectors * 4, 1u);
  device.add_argument<unsigned long long>(kVectors);
  for (const int64_t grid : kGrids) {
    std::fill(to, to + kVectors * 4, 0);
    ASSERT_FALSE(device.launch("kw_copy", grid, 32));
    EXPECT_EQ(std::memcmp(from, to, kVectors * 16), 0) << grid;
  }
}

// Chains that settle would multiply the same numbers again and again.
template <typename T>
void expect_lively_chains(const char* kernel) {
  constexpr size_t kThreads = 64;
  std::vector<std::vector<T>> after;
  for (const int rounds : {1, 20, 21}) {
    Device device(source_of("calibrate_kernels.cu"));
    device.add_argument<int>(rounds);
    const auto* sums = reinterpret_cast<const T*>(device.add_floats("sums", kThreads * sizeof(T) / sizeof(float)));
    ASSERT_FALSE(device.launch(kernel, 2, kThreads / 2));
    after.emplace_back(sums, sums + kThreads);
    EXPECT_EQ(std::set<T>(sums, sums + kThreads).size(), kThreads);
    for (size_t t = 0; t < kThreads; ++t) EXPECT_LT(std::abs(sums[t]), 16) << kernel << " " << t;
  }
  for (size_t t = 0; t < kThreads; ++t) {
    EXPECT_GT(std::abs(after[1][t] - after[2][t]), 1e-4) << kernel << " has settled in thread " << t;
  }
}
TEST(CalibrateKernels, ChainsOfF32NeverSettle) { expect_lively_chains<float>("kw_fma_f32"); }
TEST(CalibrateKernels, ChainsOfF64NeverSettle) { expect_lively_chains<double>("kw_fma_f64"); }

TEST(BestRate, TakesTheBestOfRunsThatAreLongEnough) {
  std::vector<int> runs;
  // 100 us a launch, but for the eleventh run, which is disturbed for the better.
  const auto clock = [&](int launches) {
    runs.push_back(launches);
    return launches * (runs.size() == 11 ? 80.0 : 100.0);
  };
  EXPECT_DOUBLE_EQ(best_rate(2e6, clock), 2e6 / 80e-6);
  EXPECT_THAT(runs, testing::ElementsAre(1, 1, 2, 4, 8, 16, 32, 64, 64, 64, 64, 64, 64));
}

TEST(BestRate, AClockThatStandsStillIsOurFailure) {
  EXPECT_THROW(best_rate(1, [](int) { return 0.0; }), core::SystemError);
}

#ifdef KW_HAVE_NVRTC
class CalibrateKernelsCompile : public testing::TestWithParam<const char*> {
 protected:
  static sandbox::Built built(const char* file) {
    static const sandbox::cuda::compiler::Nvrtc nvrtc = sandbox::cuda::compiler::Nvrtc::open(KW_CUDA_HOME);
    const std::string prelude = core::read_file(core::installed_paths().device_headers() / "kw_prelude.h");
    sandbox::Compilation compilation = sandbox::cuda::compiler::compile(
        {file, source_of(file), {}, sandbox::Build::fast}, {GetParam(), prelude}, nvrtc);
    if (const auto* rejected = std::get_if<sandbox::Rejected>(&compilation)) {
      throw std::runtime_error(rejected->message + "\n" + rejected->log);
    }
    return std::move(std::get<sandbox::Built>(compilation));
  }
};

TEST_P(CalibrateKernelsCompile, WithoutSpills) {
  const sandbox::Built kernels = built("calibrate_kernels.cu"), tensor = built("calibrate_tensor.cu");
  EXPECT_EQ(kernels.spill_bytes, 0);
  EXPECT_EQ(kernels.local_bytes, 0);
  EXPECT_EQ(tensor.spill_bytes, 0);
  EXPECT_EQ(tensor.local_bytes, 0);
  EXPECT_EQ(kernels.log + tensor.log, "");
  const std::map<std::string, int64_t> parameters{{"kw_scramble", 3}, {"kw_read", 3},   {"kw_read_again", 4},
                                                  {"kw_write", 3},    {"kw_copy", 3},   {"kw_fma_f32", 2},
                                                  {"kw_fma_f64", 2},  {"kw_nothing", 0}};
  EXPECT_EQ(kernels.kernels, parameters);
  std::map<std::string, int64_t> products{{"kw_mma_f16", 2}, {"kw_mma_bf16", 2}, {"kw_mma_tf32", 2}};
  if (std::string(GetParam()) == "sm_90a") {
    products.insert({{"kw_wgmma_f16", 2}, {"kw_wgmma_bf16", 2}, {"kw_wgmma_tf32", 2}});
  }
  EXPECT_EQ(tensor.kernels, products);
}

INSTANTIATE_TEST_SUITE_P(All, CalibrateKernelsCompile, testing::Values("sm_80", "sm_90", "sm_90a", "sm_100a", "sm_120"),
                         [](const auto& architecture) { return std::string(architecture.param); });
#endif

}  // namespace
}  // namespace verifier::devices::gpu
