// cuda_fp8.h of the cpu device: every code and many floats, against arithmetic in double and against the host functions
// of the CUDA Toolkit where that is present.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "sandbox/cpu/narrow_float_cases_fixture.h"
#ifdef KW_HAVE_NVRTC
#include <cuda_fp8.h>
#endif

namespace sandbox::cpu::test {
namespace {
struct Fp8Format {
  const char* name;
  int mantissa_bits, bias;
  int end;  // the code after the largest number's: NaN in e4m3, infinity in e5m2

  bool is_nan(int code) const { return (code & 0x7f) > 0x7c ? end == 0x7c || (code & 0x7f) == 0x7f : false; }
  double value(int code) const {
    const int exponent = (code & 0x7f) >> mantissa_bits, hidden = 1 << mantissa_bits, mantissa = code & (hidden - 1);
    const double size = is_nan(code)                           ? NAN
                        : end == 0x7c && (code & 0x7f) == 0x7c ? HUGE_VAL
                        : exponent == 0                        ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                                        : std::ldexp(hidden + mantissa, exponent - bias - mantissa_bits);
    return (code & 0x80) != 0 ? -size : size;
  }
  // By search: the nearer neighbour, of two equally near ones the even one.
  uint32_t round(double number, bool saturate) const {
    if (std::isnan(number)) return 0x7f;
    const std::vector<double>& all = numbers();
    const double size = std::fabs(number);
    auto code = static_cast<int>(std::upper_bound(all.begin(), all.end(), size) - all.begin()) - 1;
    if (code < end) {
      const double down = size - all[static_cast<size_t>(code)], up = all[static_cast<size_t>(code + 1)] - size;
      if (up < down || (up == down && code % 2 == 1)) ++code;
    }
    if (code == end && saturate) --code;
    return static_cast<uint32_t>(code | (std::signbit(number) ? 0x80 : 0));
  }

 private:
  // By code, and the one that would follow the largest.
  const std::vector<double>& numbers() const {
    const auto make = [this] {
      std::vector<double> all;
      for (int code = 0; code < end; ++code) all.push_back(value(code));
      all.push_back(2 * all.back() - all[all.size() - 2]);
      return all;
    };
    static std::map<int, std::vector<double>> of_end;
    auto& known = of_end[end];
    if (known.empty()) known = make();
    return known;
  }
};
constexpr Fp8Format kE4m3{"e4m3", 3, 7, 0x7f}, kE5m2{"e5m2", 2, 15, 0x7c};

double through(const NarrowFormat& format, float value) {
  return format.value(format.round(static_cast<double>(value)));
}

// An expression of a float x, and one of the T t with the bits of x; what they must give.
struct Fp8Operation {
  std::string expression;
  std::function<uint32_t(uint32_t bits)> expected;  // empty: as the toolkit says
  std::function<uint32_t(uint32_t bits)> toolkit;
};

std::vector<uint32_t> results_of(const Fp8Format& format, const std::vector<Fp8Operation>& operations,
                                 const std::vector<uint32_t>& operands) {
  std::string source = R"(#include <cuda_fp8.h>
    typedef __nv_fp8_FORMAT T;
    typedef __nv_fp8x2_FORMAT P;
    typedef __nv_fp8x4_FORMAT Q;
    #define F KIND
    __device__ unsigned fold(long long a) { return (unsigned)(a ^ (long long)((unsigned long long)a >> 32)); }
    __device__ unsigned bits(float a) { return __float_as_uint(a); }
    extern "C" __global__ void k(const unsigned* in, unsigned* out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      float x = __uint_as_float(in[i]);
      T t; P p; Q q;
      t.__x = in[i]; p.__x = in[i]; q.__x = in[i];
)";
  for (size_t k = 0; k < operations.size(); ++k) {
    source += "      out[" + std::to_string(k) + "ll * n + i] = " + operations[k].expression + ";\n";
  }
  source += "    }";
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = source.find(from, at)) != std::string::npos; at += to.size()) {
      source.replace(at, from.size(), to);
    }
  };
  replace("FORMAT", format.name);
  replace("KIND", format.end == 0x7f ? "__NV_E4M3" : "__NV_E5M2");
  Device device(source);
  float* in = device.add_floats("in", operands.size());
  const float* out = device.add_floats("out", operands.size() * operations.size());
  device.add_argument(static_cast<int>(operands.size()));
  std::memcpy(in, operands.data(), operands.size() * sizeof(uint32_t));
  const auto fault = device.launch("k", static_cast<int64_t>((operands.size() + 255) / 256), 256);
  if (fault) throw std::runtime_error(fault->describe());
  std::vector<uint32_t> results(operands.size() * operations.size());
  std::memcpy(results.data(), out, results.size() * sizeof(uint32_t));
  return results;
}

void expect_all_of(const Fp8Format& format, const std::vector<Fp8Operation>& operations,
                   const std::vector<uint32_t>& operands) {
  const std::vector<uint32_t> results = results_of(format, operations, operands);
  for (size_t k = 0; k < operations.size(); ++k) {
    for (size_t i = 0; i < operands.size(); ++i) {
      const uint32_t got = results[k * operands.size() + i];
      const auto what = [&] {
        return std::string(format.name) + ": " + operations[k].expression + " of " + std::to_string(operands[i]) +
               ", which is " + std::to_string(float_of(operands[i]));
      };
      if (operations[k].expected) {
        ASSERT_EQ(got, operations[k].expected(operands[i])) << what();
      }
      if (operations[k].toolkit) {
        ASSERT_EQ(got, operations[k].toolkit(operands[i])) << what() << ", not what the toolkit gives";
      }
    }
  }
}

#ifdef KW_HAVE_NVRTC
template <typename T>
T with_bits(uint32_t bits) {
  T made;
  made.__x = static_cast<decltype(made.__x)>(bits);
  return made;
}
template <typename T>
uint32_t wide(T value) {
  return folded(static_cast<uint64_t>(static_cast<int64_t>(value)));
}
#define OF_TOOLKIT(of_e4m3, of_e5m2)                               \
  [is_e4m3 = format.end == 0x7f]([[maybe_unused]] uint32_t bits) { \
    [[maybe_unused]] const float x = float_of(bits);               \
    return static_cast<uint32_t>(is_e4m3 ? (of_e4m3) : (of_e5m2)); \
  }
#else
#define OF_TOOLKIT(of_e4m3, of_e5m2) nullptr
#endif

class ShimFp8 : public testing::TestWithParam<Fp8Format> {
 protected:
  const Fp8Format& format = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Both, ShimFp8, testing::Values(kE4m3, kE5m2),
                         [](const auto& instance) { return std::string(instance.param.name); });

std::vector<uint32_t> every_code() {
  std::vector<uint32_t> codes;
  for (uint32_t code = 0; code < 256; ++code) codes.push_back(code | (255 - code) << 8 | code << 16 | code << 24);
  return codes;
}
// Every number with 7 bits behind its first, which are the numbers and the middles of formats with 2 and 3, and what
// lies next to them.
std::vector<uint32_t> many_floats() {
  std::vector<uint32_t> floats;
  for (uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const uint32_t lower : {0x0000u, 0x0001u, 0x8000u, 0xffffu}) floats.push_back(upper << 16 | lower);
  }
  return floats;
}

TEST_P(ShimFp8, WidensEveryCode) {
  const auto value = [f = format](uint32_t bits) {
    const int code = static_cast<int>(bits & 0xff);
    return f.is_nan(code) ? 0x7fffffffu : bits_of(static_cast<float>(f.value(code)));
  };
  const auto second = [value](uint32_t bits) { return value(bits >> 8); };
  expect_all_of(
      format,
      {{"bits((float)t)", value,
        OF_TOOLKIT(bits_of(float(with_bits<__nv_fp8_e4m3>(bits))), bits_of(float(with_bits<__nv_fp8_e5m2>(bits))))},
       {"bits((float)(double)t)", value, nullptr},
       {"bits((float)__half(t))", value, nullptr},
       {"bits((float)__nv_bfloat16(t)) & 0x7fff0000 | (t.__x & 0x80u) << 24",
        [value](uint32_t bits) { return (value(bits) & 0x7fff0000u) | (bits & 0x80u) << 24; }, nullptr},
       {"bits(__half2float(__half(__nv_cvt_fp8_to_halfraw(t.__x, F))))", value, nullptr},
       {"__nv_cvt_fp8_to_halfraw(t.__x, F).x", nullptr,
        OF_TOOLKIT(__nv_cvt_fp8_to_halfraw(bits & 0xff, __NV_E4M3).x,
                   __nv_cvt_fp8_to_halfraw(bits & 0xff, __NV_E5M2).x)},
       {"__nv_cvt_fp8x2_to_halfraw2(p.__x, F).y", nullptr,
        OF_TOOLKIT(__nv_cvt_fp8x2_to_halfraw2(bits & 0xffff, __NV_E4M3).y,
                   __nv_cvt_fp8x2_to_halfraw2(bits & 0xffff, __NV_E5M2).y)},
       {"bits(((float2)p).x)", value, nullptr},
       {"bits(((float2)p).y)", second, nullptr},
       {"bits(__high2float((__half2)p))", second, nullptr},
       {"bits(((float4)q).y)", second, nullptr},
       {"bits(((float4)q).z)", value, nullptr},
       {"bits(((float4)q).w)", value,
        OF_TOOLKIT(bits_of(float4(with_bits<__nv_fp8x4_e4m3>(bits)).w),
                   bits_of(float4(with_bits<__nv_fp8x4_e5m2>(bits)).w))},
       {"(bool)t ? 1u : 0u", [](uint32_t bits) { return (bits & 0x7f) != 0 ? 1u : 0u; }, nullptr}},
      every_code());
}

#define INTEGER(type)                                                       \
  {                                                                         \
    "fold((long long)(" #type ")t)", nullptr,                               \
        OF_TOOLKIT(wide(static_cast<type>(with_bits<__nv_fp8_e4m3>(bits))), \
                   wide(static_cast<type>(with_bits<__nv_fp8_e5m2>(bits)))) \
  }
TEST_P(ShimFp8, BecomesIntegersWithinTheirRange) {
  expect_all_of(format,
                {{"fold((int)t)",
                  [f = format](uint32_t bits) {
                    const double value = f.value(static_cast<int>(bits & 0xff));
                    return folded(static_cast<uint64_t>(
                        std::isnan(value) ? 0 : static_cast<int64_t>(std::clamp(value, -0x1p31, 0x1p31 - 1))));
                  },
                  nullptr},
                 INTEGER(int),
                 INTEGER(signed char),
                 INTEGER(unsigned char),
                 INTEGER(short),
                 INTEGER(unsigned short),
                 INTEGER(unsigned),
                 INTEGER(long long),
                 INTEGER(unsigned long long)},
                every_code());
}

TEST_P(ShimFp8, RoundsOnceAndSaturatesWhereItShould) {
  const auto rounded = [f = format](bool saturate, double beside = 0) {
    return [f, saturate, beside](uint32_t bits) {
      return f.round(static_cast<double>(float_of(bits)) * (1 + beside), saturate);
    };
  };
  const auto by_way_of = [f = format](const NarrowFormat& narrow) {
    return [f, narrow](uint32_t bits) { return f.round(through(narrow, float_of(bits)), true); };
  };
  const auto saturated = rounded(true);
  const auto pair = [saturated](uint32_t bits) { return saturated(bits) | saturated(bits_of(0.3f)) << 8; };
  expect_all_of(
      format,
      {{"T(x).__x", saturated, OF_TOOLKIT(__nv_fp8_e4m3(x).__x, __nv_fp8_e5m2(x).__x)},
       {"__nv_cvt_float_to_fp8(x, __NV_SATFINITE, F)", saturated, nullptr},
       {"__nv_cvt_float_to_fp8(x, __NV_NOSAT, F)", rounded(false),
        OF_TOOLKIT(__nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E4M3), __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E5M2))},
       {"x == x ? T((double)x * (1 + 0x1p-40)).__x : 0x7f", rounded(true, 0x1p-40), nullptr},
       {"x == x ? __nv_cvt_double_to_fp8((double)x * (1 - 0x1p-40), __NV_NOSAT, F) : 0x7f", rounded(false, -0x1p-40),
        nullptr},
       {"__nv_cvt_double_to_fp8((double)x, __NV_NOSAT, F)", nullptr,
        OF_TOOLKIT(__nv_cvt_double_to_fp8(static_cast<double>(x), __NV_NOSAT, __NV_E4M3),
                   __nv_cvt_double_to_fp8(static_cast<double>(x), __NV_NOSAT, __NV_E5M2))},
       {"T(__float2half(x)).__x", by_way_of(kHalf),
        OF_TOOLKIT(__nv_fp8_e4m3(__float2half(x)).__x, __nv_fp8_e5m2(__float2half(x)).__x)},
       {"T(__float2bfloat16(x)).__x", by_way_of(kBfloat16),
        OF_TOOLKIT(__nv_fp8_e4m3(__float2bfloat16(x)).__x, __nv_fp8_e5m2(__float2bfloat16(x)).__x)},
       {"__nv_cvt_halfraw_to_fp8(__float2half(x), __NV_NOSAT, F)", nullptr,
        OF_TOOLKIT(__nv_cvt_halfraw_to_fp8(__float2half(x), __NV_NOSAT, __NV_E4M3),
                   __nv_cvt_halfraw_to_fp8(__float2half(x), __NV_NOSAT, __NV_E5M2))},
       {"__nv_cvt_bfloat16raw_to_fp8(__float2bfloat16(x), __NV_NOSAT, F)", nullptr,
        OF_TOOLKIT(__nv_cvt_bfloat16raw_to_fp8(__float2bfloat16(x), __NV_NOSAT, __NV_E4M3),
                   __nv_cvt_bfloat16raw_to_fp8(__float2bfloat16(x), __NV_NOSAT, __NV_E5M2))},
       {"P(make_float2(x, 0.3f)).__x", pair,
        OF_TOOLKIT(__nv_fp8x2_e4m3(make_float2(x, 0.3f)).__x, __nv_fp8x2_e5m2(make_float2(x, 0.3f)).__x)},
       {"__nv_cvt_float2_to_fp8x2(make_float2(x, 0.3f), __NV_SATFINITE, F)", pair, nullptr},
       {"P(__floats2half2_rn(x, 0.3f)).__x & 0xff", by_way_of(kHalf), nullptr},
       {"P(__floats2bfloat162_rn(1, x)).__x >> 8", by_way_of(kBfloat16), nullptr},
       {"Q(make_float4(x, 0.3f, 1, x)).__x", nullptr,
        OF_TOOLKIT(__nv_fp8x4_e4m3(make_float4(x, 0.3f, 1, x)).__x, __nv_fp8x4_e5m2(make_float4(x, 0.3f, 1, x)).__x)},
       {"Q(__floats2half2_rn(1, x), __floats2half2_rn(2, 3)).__x >> 8 & 0xff", by_way_of(kHalf), nullptr}},
      many_floats());
}

TEST_P(ShimFp8, RoundsIntegers) {
  std::vector<Fp8Operation> operations;
  for (const int64_t number : {0ll, 1ll, -1ll, 17ll, -27ll, 448ll, 465ll, 60000ll, -100000ll, (1ll << 40) + 1}) {
    for (const char* type : {"int", "long long", "short"}) {
      if (number > INT16_MAX && type == std::string("short")) continue;
      if (number > INT32_MAX && type == std::string("int")) continue;
      if (number < INT16_MIN && type == std::string("short")) continue;
      operations.push_back({"T((" + std::string(type) + ")" + std::to_string(number) + "ll).__x",
                            [f = format, number](uint32_t) { return f.round(static_cast<double>(number), true); },
                            nullptr});
    }
  }
  expect_all_of(format, operations, {0});
}

}  // namespace
}  // namespace sandbox::cpu::test
