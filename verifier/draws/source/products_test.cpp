#include "verifier/draws/source/products.h"

#include <gtest/gtest.h>

#include <string>

namespace verifier::draws::source {
namespace {

std::string comparisons(const std::string& source, const sandbox::TunableBinding& binding = {},
                        const std::vector<sandbox::Launch>& launches = {}) {
  const std::vector<sandbox::Token> tokens = sandbox::tokenize(source);
  std::string all;
  for (const Comparison& one : comparisons_of(tokens, SourceValues(tokens, binding), launches, binding)) {
    all += one.of.text() + (one.equals ? " = " : " ~ ") + std::to_string(one.number) + "; ";
  }
  return all;
}

TEST(SourceProducts, PartAtTheLeastNumberAbove) {
  EXPECT_EQ(comparisons("if (M * N < 4096 || M * K > 9 && 70 <= N + K) run();"), "M*N ~ 4096; M*K ~ 10; N+K ~ 70; ");
  EXPECT_EQ(comparisons("if (M * N <= 4096 || 9 > M * K || N - K >= 5) run();"), "M*N ~ 4097; M*K ~ 9; N-K ~ 5; ");
  EXPECT_EQ(comparisons("if (M > 600 || i << 3 >> 2 && f<3>(x)) run();"), "");
}

TEST(SourceProducts, MayBeRemaindersMasksAndShiftsWithCasts) {
  EXPECT_EQ(comparisons("if (M * N % 4096 == 0 && ((size_t)M * N & 127) != 0 && (M * N >> 3) == TILE) run();",
                        {{"TILE", 32}}),
            "M*N%4096 = 0; ((M*N)%128) = 0; ((M*N)/8) = 32; ");
  EXPECT_EQ(comparisons("return static_cast<long long>(M) * K >= (1ll << 20) ? 1 : 2;"), "(M)*K ~ 1048576; ");
}

TEST(SourceProducts, AreDifferencesWhereAxesAreAskedToBeEqual) {
  EXPECT_EQ(comparisons("if (N == J || N2 != 3 * N1) run(); if (i = j) run();"), "(N) - (J) = 0; (N2) - (3*N1) = 0; ");
}

TEST(SourceProducts, AreFollowedThroughDefinitionsAndLaunches) {
  sandbox::Launch launch;
  launch.kernel = "k";
  launch.args = {"x", "H * W", "C", "1 + (B * C > 300)"};
  launch.grid = {core::Expr::parse("B"), core::Expr::constant(1), core::Expr::constant(1)};
  EXPECT_EQ(comparisons("__global__ void k(const float* x, int n, int C, int parts) { const int size = C / 32; "
                        "if (n * size < 65536) run(); if (n % 8 == 0) run(); }",
                        {}, {launch}),
            "B*C ~ 301; (H*W)*(C/32) ~ 65536; (H*W)%8 = 0; ");
}

}  // namespace
}  // namespace verifier::draws::source
