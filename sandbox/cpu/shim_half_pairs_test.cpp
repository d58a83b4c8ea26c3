// Pairs of halves and of bfloat16, and both types as kernels use them: in shared memory, unions and vectors, exchanged
// by warps, added to atomically, converted by assignment.
#include "sandbox/cpu/narrow_float_cases_fixture.h"

namespace sandbox::cpu::test {
namespace {

// FORMAT and T as in narrow_float_cases.h, P the pair. Each thread sets bits of wrong[its number].
std::string source_of(const NarrowFormat& format, const std::string& body) {
  std::string source = "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\ntypedef " + std::string(format.type) +
                       " T;\ntypedef " + format.type +
                       "2 P;\n#define EXPECT(bit, condition) if (!(condition)) wrong[t] |= 1u << (bit)\n" + body;
  for (size_t at = 0; (at = source.find("FORMAT", at)) != std::string::npos;) source.replace(at, 6, format.name);
  return source;
}

class ShimHalfPairs : public NarrowFloatTest {
 protected:
  // k(unsigned* wrong) in a block of 64.
  void expect_nothing_wrong(const std::string& body) const {
    for (const Build build : {Build::fast, Build::check}) {
      Device device(source_of(format, body), build);
      const float* wrong = device.add_floats("wrong", 64);
      for (const runtime::Order order : {runtime::Order::forward, runtime::Order::seeded}) {
        const auto fault = device.launch("k", 1, 64, order);
        ASSERT_FALSE(fault) << fault->describe();
        for (int i = 0; i < 64; ++i) ASSERT_EQ(bits_of(wrong[i]), 0u) << "thread " << i;
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Both, ShimHalfPairs, testing::Values(kHalf, kBfloat16),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST_P(ShimHalfPairs, CalculateAsTheirComponents) {
  // Each pair function against the function of one component, which other tests hold against arithmetic.
  std::vector<Operation> operations;
  const auto add = [&](const std::string& of_pairs, const std::string& of_a, const std::string& of_b) {
    const std::string one = "__FORMAT_as_ushort";
    operations.push_back({"(" + one + "((" + of_pairs + ").x) == " + one + "(" + of_a + ") && " + one + "((" +
                              of_pairs + ").y) == " + one + "(" + of_b + "))",
                          [](const Operand&) { return 1u; }, nullptr});
  };
  const std::string p = "make_FORMAT2(a, b)", q = "make_FORMAT2(b, c)", r = "make_FORMAT2(c, a)";
  for (const char* name : {"add", "sub", "mul", "add_rn", "add_sat", "sub_sat", "mul_sat", "max", "min", "max_nan",
                           "min_nan", "eq", "ne", "lt", "gtu"}) {
    const std::string full = name;
    const size_t stem = full.find('_');
    const std::string pairs = "__h" + full.substr(0, stem) + "2" + (stem == std::string::npos ? "" : full.substr(stem));
    const bool relation = full.size() == 2 || full == "gtu";
    const std::string open = relation ? "T((float)__h" : "(__h";
    add(pairs + "(" + p + ", " + q + ")", open + full + "(a, b))", open + full + "(b, c))");
  }
  add("__h2div(" + p + ", " + q + ")", "__hdiv(a, b)", "__hdiv(b, c)");
  for (const char* suffix : {"", "_sat", "_relu"}) {
    add("__hfma2" + std::string(suffix) + "(" + p + ", " + q + ", " + r + ")",
        "__hfma" + std::string(suffix) + "(a, b, c)", "__hfma" + std::string(suffix) + "(b, c, a)");
  }
  for (const char* name : {"sqrt", "rsqrt", "rcp", "exp", "log2", "tanh", "floor", "rint"}) {
    add("h2" + std::string(name) + "(" + p + ")", "h" + std::string(name) + "(a)", "h" + std::string(name) + "(b)");
  }
  add("__hneg2(" + p + ")", "__hneg(a)", "__hneg(b)");
  add("__habs2(" + p + ")", "__habs(a)", "__habs(b)");
  add("__hcmadd(" + p + ", " + q + ", " + r + ")", "__hfma(__hneg(b), c, __hfma(a, b, c))",
      "__hfma(b, b, __hfma(a, c, a))");
  add(p + " * " + q + " + " + r, "a * b + c", "b * c + a");
  add("__lows2FORMAT2(" + p + ", " + r + ")", "a", "c");
  add("__highs2FORMAT2(" + p + ", " + q + ")", "b", "c");
  add("__lowhigh2highlow(" + p + ")", "b", "a");
  add("__high2FORMAT2(" + p + ")", "b", "b");
  std::vector<Operand> operands = many_values(format);
  operands.resize(10000);
  expect_all(format, operations, operands);
}

TEST_P(ShimHalfPairs, CompareAsWholes) {
  const auto both = [this](bool (*relation)(double, double)) {
    return [f = format, relation](const Operand& o) {
      return relation(f.value(o.a), f.value(o.b)) && relation(f.value(o.b), f.value(o.c)) ? 1u : 0u;
    };
  };
  const std::string pairs = "(make_FORMAT2(a, b), make_FORMAT2(b, c))";
  std::vector<Operand> operands = many_values(format);
  operands.push_back({1, 1, 1});
  expect_all(format,
             {{"__hbeq2" + pairs, both([](double x, double y) { return x == y; }), nullptr},
              {"__hbneu2" + pairs, both([](double x, double y) { return x != y; }), nullptr},
              {"__hblt2" + pairs, both([](double x, double y) { return x < y; }), nullptr},
              {"__hbgeu2" + pairs, both([](double x, double y) { return !(x < y); }), nullptr},
              {"make_FORMAT2(a, b) == make_FORMAT2(b, c)", both([](double x, double y) { return x == y; }), nullptr},
              {"make_FORMAT2(a, b) != make_FORMAT2(b, c)", both([](double x, double y) { return x != y; }), nullptr},
              {"__hle2_mask" + pairs,
               [this](const Operand& o) {
                 return (value(o.a) <= value(o.b) ? 0xffffu : 0) | (value(o.b) <= value(o.c) ? 0xffff0000u : 0);
               },
               nullptr}},
             operands);
}

TEST_P(ShimHalfPairs, AreExchangedByWarps) {
  expect_nothing_wrong(R"(
    extern "C" __global__ void k(unsigned* wrong) {
      const unsigned t = threadIdx.x, lane = t % 32;
      const T own = T((int)lane);
      const P pair = make_FORMAT2(own, T(-(int)lane));
      EXPECT(0, (int)__shfl_sync(0xffffffff, own, 5) == 5);
      EXPECT(1, (int)__shfl_up_sync(0xffffffff, own, 1) == (lane == 0 ? 0 : lane - 1));
      EXPECT(2, (int)__shfl_down_sync(0xffffffff, own, 4, 8) == (lane % 8 < 4 ? lane + 4 : lane));
      EXPECT(3, (int)__shfl_xor_sync(0xffffffff, own, 16) == (lane ^ 16));
      EXPECT(4, __shfl_sync(0xffffffff, pair, 7) == make_FORMAT2(T(7), T(-7)));
      EXPECT(5, (int)__shfl_xor_sync(0xffffffff, pair, 3).y == -(int)(lane ^ 3));
      P sum = __float2FORMAT2_rn(1.0f);
      for (int step = 16; step > 0; step /= 2) sum = __hadd2(sum, __shfl_down_sync(0xffffffff, sum, step));
      EXPECT(6, lane != 0 || __low2float(sum) + __high2float(sum) == 64);
    })");
}

TEST_P(ShimHalfPairs, AreAddedToAtomically) {
  expect_nothing_wrong(R"(
    extern "C" __global__ void k(unsigned* wrong) {
      __shared__ T total[3];
      __shared__ P pair;
      const unsigned t = threadIdx.x;
      if (t < 3) total[t] = T(100);
      if (t == 3) pair = __floats2FORMAT2_rn(0.5f, -0.5f);
      __syncthreads();
      const T before = atomicAdd(&total[1], T(1));
      EXPECT(0, (float)before >= 100 && (float)before < 164);
      atomicAdd(&pair, make_FORMAT2(T(1), T(-1)));
      __syncthreads();
      EXPECT(1, (float)total[0] == 100 && (float)total[1] == 164 && (float)total[2] == 100);
      EXPECT(2, __low2float(pair) == 64.5f && __high2float(pair) == -64.5f);
    })");
}

TEST_P(ShimHalfPairs, LieInMemoryAsTheToolkitsDo) {
  expect_nothing_wrong(R"(
    static_assert(sizeof(T) == 2 && alignof(T) == 2 && sizeof(P) == 4 && alignof(P) == 4, "");
    static_assert(__is_trivially_copyable(T) && __is_trivially_copyable(P) && __is_trivial(T) && __is_trivial(P), "");
    struct __align__(16) Eight { T value[8]; };
    union Words { uint4 vector; T value[8]; P pair[4]; };
    extern "C" __global__ void k(unsigned* wrong) {
      __shared__ Eight row[64];
      const unsigned t = threadIdx.x;
      Eight mine;
      for (int i = 0; i < 8; ++i) mine.value[i] = T((int)t + i);
      row[t] = mine;
      __syncthreads();
      Words words;
      words.vector = *reinterpret_cast<const uint4*>(&row[63 - t]);
      EXPECT(0, (float)words.value[3] == 66 - t && (float)words.pair[2].y == 68 - t);
      __syncthreads();
      EXPECT(1, __FORMAT_as_ushort(words.value[0]) == (words.vector.x & 0xffff));
      const T* first = row[t].value;
      EXPECT(2, __ldg(first) == T((int)t) && __ldcs(first + 1) == T((int)t + 1));
      __stcg(&row[t].value[1], T(9));
      volatile T* seen = row[t].value;
      seen[2] = T(8);
      const T eight = seen[2];
      EXPECT(3, (int)row[t].value[1] == 9 && (int)eight == 8);
    })");
}

TEST_P(ShimHalfPairs, ConvertByAssignment) {
  expect_nothing_wrong(R"(
    template <typename N> __device__ N twice(N value) { return value + value; }
    extern "C" __global__ void k(unsigned* wrong) {
      const unsigned t = threadIdx.x;
      T x = 1.5f, y = 2, z = 0.25, u = 7u, l = -3ll, b = true;
      EXPECT(0, (float)x == 1.5f && (float)y == 2 && (float)z == 0.25f);
      EXPECT(9, (float)u == 7 && (float)l == -3 && (float)b == 1);
      x = 3;
      y = 0.5f;
      x += y;
      EXPECT(1, x == T(3.5));
      x -= y;
      x *= y;
      x /= T(3);
      EXPECT(2, x == T(0.5) && (x++ == y) && --x == y && -x < +x);
      float f = x;
      double d = x;
      int i = T(-2.75f);
      EXPECT(3, f == 0.5f && d == 0.5 && i == -2 && (bool)x && !T(0));
      EXPECT(4, twice(x) == T(1) && expf(T(0)) == 1 && fmaxf(x, 2.0f) == 2);
      P p(x, y), q = __float22FORMAT2_rn(make_float2(1, 2)), r = {y, x};
      p += q;
      p = p * r - q;
      const float2 both = __FORMAT22float2(p);
      EXPECT(5, both.x == -0.25f && both.y == -0.75f);
      EXPECT(6, __hmul(T(3), 0.5f) == T(1.5f));
      EXPECT(7, (float)half(__nv_bfloat16(3.0f)) == 3 && (float)__nv_bfloat16(half(5.0f)) == 5);
      EXPECT(8, __hadd(3, 6) == 4 && abs(-3) == 3);
    })");
}
}  // namespace
}  // namespace sandbox::cpu::test
