#include "agent/models/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace agent::models {
namespace {

constexpr char kKernel[] =
    R"(extern "C" __global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int M, int N) {
  const int row = blockIdx.x;
  float largest = -INFINITY;
  for (int i = threadIdx.x; i < N; i += BLOCK) largest = fmaxf(largest, x[row * N + i]);
  largest = warp_max(largest);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < N; i += BLOCK) {
    const float e = __expf(x[row * N + i] - largest);
    sum += e;
  }
}
)";
constexpr char kEnglish[] =
    R"(Write one kernel that computes the softmax of each row. It is judged on several shapes, some of which you have not
seen, and it must be right on all of them before its time counts. The best solution so far reads its input twice; the
bound of the device is one third of its time, so there is something to be won by reading it once.
)";
constexpr char kJson[] =
    R"({"name": "softmax_f32", "axes": {"M": {"type": "var"}, "N": {"type": "var"}}, "inputs": {"x": {"shape": ["M", "N"],
"dtype": "f32"}}, "workloads": [{"axes": {"M": 4096, "N": 8192}, "role": "bench"}, {"axes": {"M": 1, "N": 7}}]}
)";

// Counted by the tokenizer of Gemma 3 (llama.cpp's /tokenize, 2026-11-21).
TEST(Tokens, AnEstimateIsNearACount) {
  struct Case {
    const char* text;
    double counted;
  };
  for (const Case& one : {Case{kKernel, 162}, Case{kEnglish, 77}, Case{kJson, 105}}) {
    EXPECT_LT(std::abs(static_cast<double>(estimate_tokens(one.text)) / one.counted - 1), 0.15)
        << estimate_tokens(one.text) << " for " << one.text;
  }
}

TEST(Tokens, PartsAddUpAndNothingIsNothing) {
  EXPECT_EQ(estimate_tokens(""), 0);
  EXPECT_GT(estimate_tokens("x"), 0);
  EXPECT_EQ(estimate_tokens("\xC3\xA9\xE2\x82\xAC"), 2) << "characters, not bytes";
  const std::string twice = std::string(kKernel) + kKernel;
  EXPECT_NEAR(static_cast<double>(estimate_tokens(twice)), 2.0 * static_cast<double>(estimate_tokens(kKernel)), 1);
  const Prompt prompt = {kEnglish, {{Turn::Speaker::user, {{kKernel, true}, {kJson, false}}}}};
  const int64_t parts = estimate_tokens(kEnglish) + estimate_tokens(kKernel) + estimate_tokens(kJson);
  EXPECT_NEAR(static_cast<double>(estimate_tokens(prompt)), static_cast<double>(parts), 12);
}
}  // namespace
}  // namespace agent::models
