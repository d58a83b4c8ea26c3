#include "agent/prompting/call_places.h"

#include <gtest/gtest.h>

namespace agent::prompting {
namespace {

std::pair<int, int> places(const std::string& source) {
  const CallPlaces found =
      call_places(sandbox::tokenize(source), [](const std::string& name) { return name == "expf" || name == "logf"; });
  return {found.innermost, found.outside};
}
using Places = std::pair<int, int>;

TEST(CallPlaces, OncePerRowIsNotOncePerElement) {
  EXPECT_EQ(places("__global__ void k(float* y) {\n"
                   "  for (int m = 0; m < 4; ++m) {\n"
                   "    float sum = 0;\n"
                   "#pragma unroll\n"
                   "    for (int n = 0; n < 8; ++n) sum += expf(y[n]);\n"
                   "    y[m] = logf(sum);\n"
                   "  }\n"
                   "}\n"),
            Places(1, 1));
}

TEST(CallPlaces, BehindALoopIsOutside) {
  EXPECT_EQ(places("__global__ void k(float* y) { for (int n = 0; n < 8; ++n) { y[n] += 1; } y[0] = logf(y[1]); }"),
            Places(0, 1));
}

TEST(CallPlaces, AKernelWithoutLoopsHasAnElementPerThread) {
  EXPECT_EQ(places("__global__ void __launch_bounds__(64) k(float* y) { y[threadIdx.x] = expf(1.0f); }"), Places(1, 0));
}

TEST(CallPlaces, AHelperCountsWhereItIsCalled) {
  const std::string helper = "__device__ float f(float x) { return x * expf(x); }\n";
  EXPECT_EQ(places(helper + "__global__ void k(float* y) { do { y[1] = f(y[2]); } while (y[0] > 1); }"), Places(1, 0));
  EXPECT_EQ(places(helper + "__global__ void k(float* y) { for (;;) { while (y[0]) --y[0]; y[1] = f(y[2]); } }"),
            Places(0, 1));
  EXPECT_EQ(places(helper + "__global__ void k(float* y) { y[0] = 1; }"), Places(0, 0));
}

TEST(CallPlaces, MalformedSourcesDoNoHarm) {
  for (const char* source : {"", "for", "__global__ void k(", "void k() { for (", "void k() { do", "} ) for ( {",
                             "void k() { for (;;) expf(", "void k() { if constexpr for while do { }"}) {
    EXPECT_GE(places(source).first, 0) << source;
  }
  std::string deep = "void k() {", calls;
  for (int i = 0; i < 100'000; ++i) deep += " for (;;)", calls += "f(";
  EXPECT_EQ(places(deep + " expf(1); }"), Places(1, 0));
  EXPECT_EQ(places(calls), Places(0, 0));
  EXPECT_EQ(places("// expf(1)\n\"expf(\""), Places(0, 0));
}

}  // namespace
}  // namespace agent::prompting
