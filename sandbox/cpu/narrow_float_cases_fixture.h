// Tests of __half and __nv_bfloat16 bit for bit: expressions on the device against arithmetic in double, and against
// the host functions of the CUDA Toolkit where that is present.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <random>

#include "sandbox/cpu/narrow_float_model_fixture.h"
#include "sandbox/cpu/test_device_fixture.h"
#ifdef KW_HAVE_NVRTC
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace sandbox::cpu::test {

// `expression` of a, b, c (of type T) and x (float); what it should give, from a, b, c and the bits of x.
struct Operand {
  uint16_t a = 0, b = 0, c = 0;
  float x = 0;
};
struct Operation {
  std::string expression;
  std::function<uint32_t(const Operand&)> model;
  std::function<uint32_t(const Operand&)> toolkit;  // may be empty
};

inline uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
// As bits(long long) below.
inline uint32_t folded(uint64_t value) { return static_cast<uint32_t>(value ^ value >> 32); }

#ifdef KW_HAVE_NVRTC
inline uint32_t bits_of(__half value) { return __half_as_ushort(value); }
inline uint32_t bits_of(__nv_bfloat16 value) { return __bfloat16_as_ushort(value); }
inline uint32_t bits_of(bool value) { return value ? 1 : 0; }
inline uint32_t bits_of(int value) { return folded(static_cast<uint64_t>(static_cast<int64_t>(value))); }
// The same `expression` of h.a, h.b, h.c, h.x for halves and for bfloat16.
template <typename T>
struct ToolkitOperand {
  T a, b, c;
  float x;
};
inline ToolkitOperand<__half> toolkit_halves(const Operand& o) {
  return {__ushort_as_half(o.a), __ushort_as_half(o.b), __ushort_as_half(o.c), o.x};
}
inline ToolkitOperand<__nv_bfloat16> toolkit_bfloat16s(const Operand& o) {
  return {__ushort_as_bfloat16(o.a), __ushort_as_bfloat16(o.b), __ushort_as_bfloat16(o.c), o.x};
}
#define TOOLKIT(of_half, of_bfloat16)                                    \
  [is_half = format.mantissa_bits == 10](const Operand& o) -> uint32_t { \
    if (is_half) {                                                       \
      [[maybe_unused]] const auto h = toolkit_halves(o);                 \
      return bits_of(of_half);                                           \
    }                                                                    \
    [[maybe_unused]] const auto h = toolkit_bfloat16s(o);                \
    return bits_of(of_bfloat16);                                         \
  }
#else
#define TOOLKIT(of_half, of_bfloat16) nullptr
#endif
#define TOOLKIT_BOTH(expression) TOOLKIT(expression, expression)

// FORMAT stands for the format's name, T for its type.
inline std::string kernel_of(const NarrowFormat& format, const std::vector<Operation>& operations) {
  std::string source = "#include <cuda_bf16.h>\ntypedef " + std::string(format.type) + R"( T;
    typedef T##2 P;
    __device__ unsigned bits(T a) { return __FORMAT_as_ushort(a); }
    __device__ unsigned bits(bool a) { return a; }
    __device__ unsigned bits(int a) { return a; }
    __device__ unsigned bits(unsigned a) { return a; }
    __device__ unsigned bits(float a) { return __float_as_uint(a); }
    __device__ unsigned bits(unsigned long long a) { return a ^ a >> 32; }
    __device__ unsigned bits(long long a) { return bits((unsigned long long)a); }
    struct Operand { unsigned short a, b, c, unused; float x; };
    extern "C" __global__ void k(const Operand* in, unsigned* out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      T a = __ushort_as_FORMAT(in[i].a), b = __ushort_as_FORMAT(in[i].b), c = __ushort_as_FORMAT(in[i].c);
      float x = in[i].x;
)";
  for (size_t k = 0; k < operations.size(); ++k) {
    source += "      out[" + std::to_string(k) + "ll * n + i] = bits(" + operations[k].expression + ");\n";
  }
  source += "    }";
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = source.find(from, at)) != std::string::npos; at += to.size()) {
      source.replace(at, from.size(), to);
    }
  };
  replace("FORMAT", format.name);
  replace("T##2", std::string(format.type) + "2");
  return source;
}

// The bits of operations[k] of operands[i] at [k * operands.size() + i].
inline std::vector<uint32_t> run_all(const NarrowFormat& format, const std::vector<Operation>& operations,
                                     const std::vector<Operand>& operands, const Macros& macros = {}) {
  Device device(kernel_of(format, operations), Build::fast, macros);
  struct Sent {
    uint16_t a, b, c, unused;
    float x;
  };
  auto* in = reinterpret_cast<Sent*>(device.add_floats("in", operands.size() * sizeof(Sent) / sizeof(float)));
  const float* out = device.add_floats("out", operands.size() * operations.size());
  device.add_argument(static_cast<int>(operands.size()));
  for (size_t i = 0; i < operands.size(); ++i) in[i] = {operands[i].a, operands[i].b, operands[i].c, 0, operands[i].x};
  const auto fault = device.launch("k", static_cast<int64_t>((operands.size() + 255) / 256), 256);
  if (fault) throw std::runtime_error(fault->describe());
  std::vector<uint32_t> results(operands.size() * operations.size());
  std::memcpy(results.data(), out, results.size() * sizeof(uint32_t));
  return results;
}

inline void expect_all(const NarrowFormat& format, const std::vector<Operation>& operations,
                       const std::vector<Operand>& operands, const Macros& macros = {}) {
  const std::vector<uint32_t> results = run_all(format, operations, operands, macros);
  for (size_t k = 0; k < operations.size(); ++k) {
    for (size_t i = 0; i < operands.size(); ++i) {
      const Operand& o = operands[i];
      const uint32_t got = results[k * operands.size() + i];
      const auto what = [&] {
        char text[160];
        std::snprintf(text, sizeof text, " with a = %04x, b = %04x, c = %04x, x = %a gives %x", o.a, o.b, o.c,
                      static_cast<double>(o.x), got);
        return format.name + (": " + operations[k].expression) + text;
      };
      ASSERT_EQ(got, operations[k].model(o)) << what();
      if (operations[k].toolkit) {
        ASSERT_EQ(got, operations[k].toolkit(o)) << what() << ", not what the toolkit gives";
      }
    }
  }
}

inline std::vector<Operand> every_value() {
  std::vector<Operand> operands;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) operands.push_back({static_cast<uint16_t>(bits)});
  return operands;
}

// Random triples, rich in special values and in neighbours of like size.
inline std::vector<Operand> many_values(const NarrowFormat& format) {
  const auto top = static_cast<uint16_t>(format.infinity());
  const std::vector<uint16_t> special{0,
                                      1,
                                      2,
                                      static_cast<uint16_t>(1 << format.mantissa_bits),
                                      top,
                                      static_cast<uint16_t>(top - 1),
                                      static_cast<uint16_t>(top + 1),
                                      kNarrowNan};
  std::mt19937 random(5);
  const auto draw = [&](uint16_t near) {
    const uint32_t value = random();
    const uint32_t sign = value >> 31 << 15;
    if (value % 16 == 0) return static_cast<uint16_t>(sign | special[(value >> 8) % special.size()]);
    if (value % 16 < 6) return static_cast<uint16_t>((near + (value >> 8) % 64 - 32) ^ sign);
    return static_cast<uint16_t>(value >> 8);
  };
  std::vector<Operand> operands;
  for (int i = 0; i < 60000; ++i) {
    const uint16_t a = draw(static_cast<uint16_t>(random())), b = draw(a);
    operands.push_back({a, b, draw(a)});
  }
  return operands;
}

class NarrowFloatTest : public testing::TestWithParam<NarrowFormat> {
 protected:
  const NarrowFormat& format = GetParam();
  double value(uint16_t bits) const { return format.value(bits); }
};

}  // namespace sandbox::cpu::test
