#include "agent/campaign/device_session.h"

#include <gtest/gtest.h>

namespace agent::campaign {
namespace {

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
