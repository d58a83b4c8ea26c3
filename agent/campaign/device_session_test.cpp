#include "agent/campaign/device_session.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace agent::campaign {
namespace {

TEST(DeviceChoice, EachNameOfTheCpuDeviceHasItsDialect) {
  for (const char* name : {"cpu", "cpu-hip", "cpu-hip32"}) {
    EXPECT_EQ(parse_device(name).backend, benchsuite::Backend::cpu);
    EXPECT_EQ(parse_device(name).kind(), name);
  }
  EXPECT_EQ(parse_device("cpu-hip").dialect, sandbox::Dialect::hip);
  EXPECT_EQ(device_in_dialect("cpu", "hip32"), "cpu-hip32");
  EXPECT_EQ(device_in_dialect("cpu-hip", "cuda"), "cpu");
  EXPECT_EQ(device_in_dialect("cuda:1", ""), "cuda:1");
  EXPECT_THROW(device_in_dialect("cuda:1", "hip"), core::UsageError);
  for (const char* wrong : {"cpu-", "cpu-cuda", "cpu-hip:1", "cpu-hip64", "cuda-hip"}) {
    EXPECT_THROW(parse_device(wrong), core::UsageError) << wrong;
  }
}

TEST(DeviceChoice, BackendsDecideAboutTheDialect) {
  const auto why_not = [](std::vector<std::string> backends, const char* device) {
    sandbox::Solution solution;
    solution.backends = std::move(backends);
    return why_not_on(parse_device(device), solution).value_or("");
  };
  EXPECT_EQ(why_not({"cpu", "cuda"}, "cpu"), "");
  EXPECT_EQ(why_not({"cpu"}, "cpu"), "");
  EXPECT_EQ(why_not({"cpu", "hip"}, "cpu-hip"), "");
  EXPECT_EQ(why_not({"cpu", "cuda", "hip"}, "cpu-hip32"), "");
  EXPECT_EQ(why_not({"cpu", "hip"}, "cpu"),
            "it is HIP and not CUDA: its \"backends\" say cpu, hip; judge it on the device cpu-hip");
  EXPECT_EQ(why_not({"cpu", "cuda"}, "cpu-hip"), "it is not for HIP: its \"backends\" say cpu, cuda");
  EXPECT_EQ(why_not({"cuda"}, "cpu"),
            "it is not for the device cpu: its \"backends\" say cuda; try it with --device cuda");
}

TEST(Processor, ItsNameAndVectors) {
  const std::string one =
      "processor\t: 0\nmodel name\t: Some Processor @ 2 GHz\nflags\t\t: fpu sse2 avx f16c avx2 fma avx512f\n";
  EXPECT_EQ(processor_name(one), "Some Processor @ 2 GHz");
  EXPECT_EQ(vector_words(one), "AVX-512: vectors of 64 bytes; fused multiply-add; f16 is converted in hardware");
  EXPECT_EQ(vector_words("flags : sse2 avx avx2 fma\n"),
            "AVX2: vectors of 32 bytes; fused multiply-add; f16 is converted in software, which is slow");
  EXPECT_EQ(vector_words("flags : sse2 fmap\n"),
            "SSE: vectors of 16 bytes; no fused multiply-add; f16 is converted in software, which is slow");
  EXPECT_EQ(vector_words("Features : fp asimd\n"),
            "NEON: vectors of 16 bytes; fused multiply-add; f16 is converted in hardware");
}

TEST(Processor, MissingFactsAreNotInvented) {
  EXPECT_EQ(processor_name(""), "unknown");
  EXPECT_EQ(vector_words("flags\nmodel name"), "");
}

}  // namespace
}  // namespace agent::campaign
