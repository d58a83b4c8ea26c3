#include "agent/prompting/call_counts.h"

#include <gtest/gtest.h>

namespace agent::prompting {
namespace {

std::pair<int, int> counts(const std::string& source) {
  const CallCounts found =
      count_calls(sandbox::tokenize(source), [](const std::string& name) { return name == "expf" || name == "logf"; });
  return {found.innermost, found.outside};
}
using Counts = std::pair<int, int>;

TEST(CallCounts, OncePerRowIsNotOncePerElement) {
  EXPECT_EQ(counts("__global__ void k(float* y) {\n"
                   "  for (int m = 0; m < 4; ++m) {\n"
                   "    float sum = 0;\n"
                   "#pragma unroll\n"
                   "    for (int n = 0; n < 8; ++n) sum += expf(y[n]);\n"
                   "    y[m] = logf(sum);\n"
                   "  }\n"
                   "}\n"),
            Counts(1, 1));
}

TEST(CallCounts, BehindALoopIsOutside) {
  EXPECT_EQ(counts("__global__ void k(float* y) { for (int n = 0; n < 8; ++n) { y[n] += 1; } y[0] = logf(y[1]); }"),
            Counts(0, 1));
}

TEST(CallCounts, AKernelWithoutLoopsHasAnElementPerThread) {
  EXPECT_EQ(counts("__global__ void __launch_bounds__(64) k(float* y) { y[threadIdx.x] = expf(1.0f); }"), Counts(1, 0));
}

TEST(CallCounts, AHelperCountsWhereItIsCalled) {
  const std::string helper = "__device__ float f(float x) { return x * expf(x); }\n";
  EXPECT_EQ(counts(helper + "__global__ void k(float* y) { do { y[1] = f(y[2]); } while (y[0] > 1); }"), Counts(1, 0));
  EXPECT_EQ(counts(helper + "__global__ void k(float* y) { for (;;) { while (y[0]) --y[0]; y[1] = f(y[2]); } }"),
            Counts(0, 1));
  EXPECT_EQ(counts(helper + "__global__ void k(float* y) { y[0] = 1; }"), Counts(0, 0));
}

TEST(CallCounts, MalformedSourcesDoNoHarm) {
  for (const char* source : {"", "for", "__global__ void k(", "void k() { for (", "void k() { do", "} ) for ( {",
                             "void k() { for (;;) expf(", "void k() { if constexpr for while do { }"}) {
    EXPECT_GE(counts(source).first, 0) << source;
  }
  std::string deep = "void k() {", calls;
  for (int i = 0; i < 100'000; ++i) deep += " for (;;)", calls += "f(";
  EXPECT_EQ(counts(deep + " expf(1); }"), Counts(1, 0));
  EXPECT_EQ(counts(calls), Counts(0, 0));
  EXPECT_EQ(counts("// expf(1)\n\"expf(\""), Counts(0, 0));
}

}  // namespace
}  // namespace agent::prompting
