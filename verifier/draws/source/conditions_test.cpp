#include "verifier/draws/source/conditions.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace verifier::draws::source {
namespace {

std::vector<Condition> conditions(const std::string& source, const sandbox::TunableBinding& binding = {},
                                  const std::vector<sandbox::Launch>& launches = {}) {
  const std::vector<sandbox::Token> tokens = sandbox::tokenize(source);
  return conditions_of(tokens, SourceValues(tokens, binding), launches, binding);
}

std::vector<Condition> all_of(const std::string& name, const std::vector<Condition>& all) {
  std::vector<Condition> some;
  std::ranges::copy_if(all, std::back_inserter(some), [&](const Condition& one) { return one.name == name; });
  return some;
}
// Those that the source compares.
std::vector<Condition> of(const std::string& name, const std::vector<Condition>& all) {
  std::vector<Condition> some = all_of(name, all);
  std::erase_if(some, [](const Condition& one) { return one.relation == Relation::odd; });
  return some;
}

TEST(SourceConditions, ANumberBelongsToTheNameThatItIsComparedWith) {
  EXPECT_EQ(
      conditions("if (M > 600 && 300 <= N && D % 8 == 0 || p[4] < 90) n = M << 5; if (S < 40 || 50 < T || B != 7 || "
                 "9 >= C) return; n = 5;"),
      (std::vector<Condition>{{"M", Relation::least, 601},
                              {"N", Relation::least, 300},
                              {"D", Relation::remainder, 8},
                              {"S", Relation::most, 39},
                              {"T", Relation::least, 51},
                              {"B", Relation::equal, 7},
                              {"C", Relation::most, 9}}));
}

TEST(SourceConditions, MayNameATunableAProductAMaskAndARemainder) {
  EXPECT_EQ(
      conditions("if (M % TILE == 0 && (N & 127) == 0 && (K % (4 * TILE)) == 32 && H >= 6 * TILE && (W & 9) && S % "
                 "40 < 3 && D == 96 && (T & (TILE - 1)) == 0 && C % 64 != 32 && 4 * TILE <= G && "
                 "(hash & 0x7fffffffffffffff)) run();",
                 {{"TILE", 64}}),
      (std::vector<Condition>{{"M", Relation::remainder, 64},
                              {"N", Relation::remainder, 128},
                              {"K", Relation::remainder, 256, 32},
                              {"H", Relation::least, 384},
                              {"S", Relation::remainder, 40},
                              {"S", Relation::remainder, 40, 1},
                              {"D", Relation::equal, 96},
                              {"T", Relation::remainder, 64},
                              {"C", Relation::remainder, 64, 32},
                              {"C", Relation::remainder, 64},
                              {"G", Relation::least, 256}}));
}

TEST(SourceConditions, OperandsMayBeGroupedCastUnitedAndDivided) {
  EXPECT_EQ(
      conditions("if ((M) >= 384 && ((N | D) & 127) == 0 && (int)S > 600 && (K / BK) % 2 == 1 && p.H / 16 >= 3 && "
                 "4 > (W >> 5) && at::ceil_div(T, BK * 1) == 3 && CEIL_DIV(Q, 64) > 2 && (L + BK - 1) / BK == 5 && a + "
                 "B > 70) run();",
                 {{"BK", 32}}),
      (std::vector<Condition>{{"M", Relation::least, 384},
                              {"N", Relation::remainder, 128},
                              {"D", Relation::remainder, 128},
                              {"S", Relation::least, 601},
                              {"K", Relation::remainder, 64, 32},
                              {"H", Relation::least, 48},
                              {"W", Relation::most, 96},
                              {"T", Relation::equal, 96},
                              {"Q", Relation::least, 192},
                              {"L", Relation::equal, 160},
                              {"B", Relation::least, 71}}));
}

TEST(SourceConditions, HoldForWhatANameIsDefinedBy) {
  const auto all = conditions(
      "constexpr int BK = 32; const int tiles = (K + BK - 1) / BK, pairs = tiles / 2; int rows = B * M;"
      "if (tiles % 2 == 1 && pairs > 3) for (;;) {} if (rows % 128) return; const int self = self; loop = loop2; loop2 "
      "= loop;");
  EXPECT_EQ(of("K", all), (std::vector<Condition>{{"K", Relation::remainder, 64, 32}, {"K", Relation::least, 256}}));
  EXPECT_EQ(of("M", all),
            (std::vector<Condition>{{"M", Relation::remainder, 128}, {"M", Relation::remainder, 128, 1}}));
  const auto packed = conditions(
      "const int packed = K % 8 == 0 ? K / 16 * 16 : 0; const int whole = M > 40 ? 0 : min(M, 3) ? M / 4 : x; if "
      "(packed > "
      "2048 && whole == 7 && K - packed == 8) return;");
  EXPECT_EQ(of("K", packed), (std::vector<Condition>{{"K", Relation::remainder, 8}, {"K", Relation::least, 2049}}));
  EXPECT_EQ(of("M", packed), (std::vector<Condition>{{"M", Relation::least, 41}, {"M", Relation::equal, 28}}));
  const auto circular = conditions("int a = b / 2; int b = a / 2; if (a > 5) return;");
  EXPECT_EQ(of("b", circular).front(), (Condition{"b", Relation::least, 12}));
}

TEST(SourceConditions, HoldForWhatALaunchPasses) {
  sandbox::Launch launch;
  launch.kernel = "product";
  launch.args = {"x", "y", "M", "ceil_div(K, STEP)", "B * H", "(N % 96 == 0) * 2"};
  const auto all = conditions(
      "__device__ float product_of(float, float); extern \"C\" __global__ void __launch_bounds__(128)\nproduct(const "
      "float* "
      "x, float (*y)[4], int rows, const int steps, int heads, int fast) { if (rows % 128 == 0 && steps > 3 && heads "
      "== 7) "
      "y[0][0] = x[0]; }",
      {{"STEP", 48}}, {launch});
  EXPECT_EQ(of("M", all), (std::vector<Condition>{{"M", Relation::remainder, 128}}));
  EXPECT_EQ(of("K", all), (std::vector<Condition>{{"K", Relation::least, 192}}));
  EXPECT_EQ(of("H", all), (std::vector<Condition>{{"H", Relation::equal, 7}}));
  EXPECT_EQ(of("N", all), (std::vector<Condition>{{"N", Relation::remainder, 96}}));
}

TEST(SourceConditions, OddOnesAndThoseOfASwitchAreRead) {
  EXPECT_EQ(of("K", conditions("const int tiles = K / 32; if (tiles & 1) last();")),
            (std::vector<Condition>{{"K", Relation::remainder, 64}, {"K", Relation::remainder, 64, 32}}));
  EXPECT_EQ(conditions("switch (D) { case 64: run(); break; case 128: run(); }"),
            (std::vector<Condition>{{"D", Relation::equal, 64}, {"D", Relation::equal, 128}}));
}

TEST(SourceConditions, AreReadBehindCallsWithTheirArguments) {
  EXPECT_EQ(
      of("K", conditions("template <int TILE> __device__ bool is_whole(int size) { return size % TILE == 0; } void "
                         "f() { if (is_whole<32>(K) && is_whole<kTile>(M) && is_whole<BN * 2>(N)) x(); }")),
      (std::vector<Condition>{{"K", Relation::remainder, 32}}));
  const std::string whole =
      "constexpr int kTile = 128; template <class T, int TILE = 16> __device__ bool is_whole(T "
      "size) noexcept { return size % TILE == 0; } ";
  const auto all = conditions(whole +
                                  "__device__ void image(float* at, int h, int w) { const int tiles = h / 8; if (w == "
                                  "96 && is_whole<int, BN>(w) && tiles % 2 == 1) x(); } void f() { if (is_whole(M) && "
                                  "is_whole<int, kTile>(N)) image(at + B * H, H, p.W); else image(at, D, 3); }",
                              {{"BN", 48}});
  EXPECT_EQ(of("M", all), (std::vector<Condition>{{"M", Relation::remainder, 16}}));
  EXPECT_EQ(of("N", all), (std::vector<Condition>{{"N", Relation::remainder, 128}}));
  EXPECT_EQ(of("H", all), (std::vector<Condition>{{"H", Relation::remainder, 16, 8}}));
  EXPECT_EQ(of("D", all), (std::vector<Condition>{{"D", Relation::remainder, 16, 8}}));
  EXPECT_EQ(of("W", all), (std::vector<Condition>{{"W", Relation::equal, 96}, {"W", Relation::remainder, 48}}));
  EXPECT_EQ(of("T", conditions("struct P { int n; __device__ bool odd(int n, int by) const { return n / by % 2 == 1; } "
                               "}; if (p.odd(T, 16)) x();")),
            (std::vector<Condition>{{"T", Relation::remainder, 32, 16}}));
  EXPECT_EQ(
      of("T", conditions("template <int N> void f(int t) { const auto whole = [&](auto n) { return n % N == 0; }; "
                         "if (whole(t)) x(); } f<64>(T);")),
      (std::vector<Condition>{{"T", Relation::remainder, 64}}));
  EXPECT_EQ(of("T", conditions("#define WHOLE(n, by) ((n) % (by) == 0)\nif (WHOLE(T, 96)) x();")),
            (std::vector<Condition>{{"T", Relation::remainder, 96}}));
}

TEST(SourceConditions, HoldForWhatAFunctionReturns) {
  EXPECT_EQ(of("K", conditions("template <int BK> int tiles_of(int k) { return (k + BK - 1) / BK; } const int tiles = "
                               "tiles_of<32>(K); if (tiles > 4 && tiles_of<32>(K) % 2 == 1) x();")),
            (std::vector<Condition>{{"K", Relation::least, 160}, {"K", Relation::remainder, 64, 32}}));
  EXPECT_EQ(of("K", conditions("#define TILES(k) ((k) / 32)\nif (TILES(K) % 4 == 3) x();")),
            (std::vector<Condition>{{"K", Relation::remainder, 128, 96}}));
}

TEST(SourceConditions, NamedQuotientsMayBeOdd) {
  const auto all = conditions(
      "const int vectors = N % 8 == 0 ? N / 8 : 0, steps = vectors / BLOCK; for (int p = K / 32 "
      "/ 2; p > 0; --p) x();",
      {{"BLOCK", 256}});
  EXPECT_EQ(all_of("N", all), (std::vector<Condition>{
                                  {"N", Relation::remainder, 8}, {"N", Relation::odd, 2048}, {"N", Relation::odd, 8}}));
  EXPECT_EQ(all_of("K", all),
            (std::vector<Condition>{{"K", Relation::least, 64}, {"K", Relation::odd, 64}, {"K", Relation::odd, 32}}));
}

// No size is better than a wrong one that pins an axis.
TEST(SourceConditions, WhatTheyCannotReadIsNone) {
  for (const char* source :
       {"const int tail = K - K / 32 * 32; if (tail == 5) x();", "if (H / K == 8) x();", "if (M % K == 7) x();",
        "if (K * 4 <= 49152) x();", "if (4 * K == 128) x();", "if (K % 64 == 200) x();",
        "if (K > 9223372036854775807) x();", "if (K & 0x7fffffffffffffff) x();",
        "int t = K / 1024; if (t % 64 == 9223372036854775807) x();", "const int n = 8 * (mine + p); if (n < K) x();",
        "K = 5; K += 600;"}) {
    EXPECT_TRUE(of("K", conditions(source)).empty()) << source;
  }
  EXPECT_EQ(std::ranges::count(conditions("const int tail = K & 31; if (tail == 7) x();"),
                               Condition{"K", Relation::equal, 7}),
            0);
  EXPECT_EQ(of("M", conditions("constexpr int kWarps = 256 / 32; if (M < kWarps) x();")),
            (std::vector<Condition>{{"M", Relation::most, 7}}));
}

TEST(SourceConditions, AGridMayDependOnASize) {
  sandbox::Launch launch;
  launch.kernel = "f";
  launch.grid[1] = core::Expr::parse("1 + 7 * (N >= 32768)");
  EXPECT_EQ(of("N", conditions("", {}, {launch})), (std::vector<Condition>{{"N", Relation::least, 32768}}));
}

TEST(SourceConditions, AreFewWhateverTheSource) {
  std::string circles, ones = "int x = 1";
  for (int i = 0; i < 32; ++i) {
    circles += "int a = b / " + std::to_string(i + 1) + "; int b = a / " + std::to_string(i + 1) + ";";
  }
  for (int i = 0; i < 128; ++i) circles += "if (a > " + std::to_string(10 + i) + ") x();";
  for (int i = 0; i < 20000; ++i) ones += "*1";
  EXPECT_LE(conditions(circles).size(), 128u);  // 2^20 ways to go round
  EXPECT_TRUE(conditions(ones + ";").empty());
  std::string many, nested = "if (";
  for (int i = 0; i < 1000; ++i)
    many += "int a" + std::to_string(i) + " = a / 2; if (a > " + std::to_string(i + 5) + ") x();";
  for (int i = 0; i < 1000; ++i) nested += "(";
  EXPECT_LE(conditions(many).size(), 128u);
  EXPECT_LE(conditions("int a = b, b = c, c = a; " + many).size(), 128u);
  EXPECT_TRUE(conditions(nested + "M % 128").size() <= 2);
  // Calls in a circle, of long bodies, with long arguments, nested, and names that are defined again and again.
  std::string calls =
      "void f(int a, int b) { f(a / 2 + b, b / 2 + a); f(b, a); g(a, b); } void g(int a, int b) { "
      "f(b / 3 + a, a); g(a + 7, b + 8); if (a + b > 5) x();";
  for (int i = 0; i < 300; ++i) calls += "f(a" + std::to_string(i) + ", b); ";
  std::string longer = calls + "} ", lambdas, defined;
  for (int i = 0; i < 1000; ++i) longer += "f(K + " + std::to_string(i) + ", M); g(K, " + std::to_string(i) + "); ";
  for (int i = 0; i < 2000; ++i) lambdas += "l = [](int n) { l(l(", defined += "int h(int n) { return h(h(n / 7)); } ";
  EXPECT_LE(conditions(longer).size(), 128u);
  EXPECT_LE(conditions(lambdas + std::string(10000, ')')).size(), 128u);
  EXPECT_LE(conditions(lambdas + std::string(10000, '}')).size(), 128u);
  EXPECT_LE(conditions(defined).size(), 128u);
  // Long names, as arguments and parameters of bodies that use them again and again; brackets that nothing closes.
  const std::string name(500000, 'K');
  std::string uses, open;
  for (int i = 0; i < 4000; ++i) uses += "n + ";
  EXPECT_TRUE(conditions("int f(int n) { return " + uses + "1; } f(" + name + "); f(" + name + " + 1);").empty());
  EXPECT_TRUE(conditions("template <int " + name + "> int f(int n) { return n; } f<7>(K); f<8>(K);").empty());
  for (int i = 0; i < 200000; ++i) open += "f(){";
  EXPECT_TRUE(conditions(open).empty());
  EXPECT_LE(conditions("f(f<f(f<f<<f>f[f=[](f{}<f>){f(").size(), 128u);
  EXPECT_TRUE(conditions(">= 5 <= == 7 & 3 % % 9 a % ( 4").size() <= 2);
}

}  // namespace
}  // namespace verifier::draws::source
