// Instructions of ptx_instructions.cpp against what the PTX manual says it computes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "core/text.h"
#include "sandbox/cpu/compiler/ptx_instructions.h"
#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu {
namespace {
using test::Device;
using testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kSubnormal = 0x1p-130f;

// A word of a register: an integer or a float by its bits.
struct Word {
  Word(unsigned value) : bits(value) {}
  Word(int value) : bits(static_cast<unsigned>(value)) {}
  Word(float value) : bits(std::bit_cast<unsigned>(value)) {}
  unsigned bits;
};

// One instruction: %0 is its destination. `types`: of the destination, then of the sources, as in constraints; an `l`
// has two words, the lower first.
struct Case {
  const char* instruction;
  const char* types;
  std::vector<Word> sources, expected;
};

const std::vector<Case> kCases = {
    {"mov.u32 %0, %1", "rr", {0xdeadbeefu}, {0xdeadbeefu}},
    {"mov.u32 %0, %1", "fr", {0x40490fdbu}, {0x40490fdbu}},
    {"mov.u32 %0, 77", "r", {}, {77}},
    {"mov.s32 %0, -5", "r", {}, {-5}},
    {"mov.b32 %0, %1", "rf", {1.5f}, {1.5f}},
    {"mov.b32 %0, {%1, %2}", "rhh", {0x1234u, 0xabcdu}, {0xabcd1234u}},
    {"mov.f32 %0, %1", "ff", {2.5f}, {2.5f}},
    {"mov.f32 %0, 0f3F800000", "f", {}, {1.0f}},
    {"mov.u64 %0, %1", "ll", {1u, 2u}, {1u, 2u}},
    {"mov.u64 %0, 5", "l", {}, {5, 0}},
    {"mov.b64 %0, %1", "ll", {3u, 4u}, {3u, 4u}},
    {"mov.b64 %0, {%1, %2}", "lrr", {5u, 6u}, {5u, 6u}},
    {"mov.b16 %0, %1", "hh", {0xabcdu}, {0xabcdu}},
    {"mov.u64 %0, 0x1234567890", "l", {}, {0x34567890u, 0x12u}},
    {"mov.f32 %0, 1.5", "f", {}, {1.5f}},
    {"{ .reg .f64 d; mov.f64 d, 0d3FF8000000000000; mov.b64 %0, d; }", "l", {}, {0u, 0x3ff80000u}},
    {"{ .reg .b32 low, high; mov.b64 {low, high}, %1; mov.b64 %0, {high, low}; }", "ll", {1u, 2u}, {2u, 1u}},
    {"{ .reg .b32 high; mov.b64 {_, high}, %1; mov.b32 %0, high; }", "rl", {1u, 2u}, {2u}},
    {"cvt.u32.u64 %0, %1", "rl", {7u, 9u}, {7u}},
    {"cvt.u64.u32 %0, %1", "lr", {0xffffffffu}, {0xffffffffu, 0u}},
    {"cvt.s64.s32 %0, %1", "lr", {-2}, {-2, -1}},
    {"cvt.u32.u16 %0, %1", "rh", {0xfffeu}, {0xfffeu}},
    {"cvt.u16.u32 %0, %1", "hr", {0x1fffeu}, {0xfffeu}},
    {"cvt.rn.f32.s32 %0, %1", "fr", {-16777217}, {-16777216.0f}},
    {"cvt.rn.f32.u32 %0, %1", "fr", {0xffffffffu}, {4294967296.0f}},
    {"cvt.rn.f16.f32 %0, %1", "hf", {1.5f}, {0x3e00u}},
    {"cvt.rn.bf16.f32 %0, %1", "hf", {1.00390625f}, {0x3f80u}},
    {"cvt.f32.f16 %0, %1", "fh", {0x3e00u}, {1.5f}},
    {"cvt.f32.bf16 %0, %1", "fh", {0xbfc0u}, {-1.5f}},
    {"cvt.rn.f16x2.f32 %0, %1, %2", "rff", {1.0f, -2.0f}, {0x3c00c000u}},
    {"cvt.rn.f16x2.f32 %0, %1, %2", "rff", {2049.0f, 65520.0f}, {0x68007c00u}},
    {"cvt.rn.bf16x2.f32 %0, %1, %2", "rff", {1.0f, -2.0f}, {0x3f80c000u}},
    {"cvt.rn.bf16x2.f32 %0, %1, %2", "rff", {1.01171875f, 1.00390625f}, {0x3f823f80u}},
    {"cvt.rz.bf16.f32 %0, %1", "hf", {1.01171875f}, {0x3f81u}},
    {"cvt.rz.f16.f32 %0, %1", "hf", {65535.0f}, {0x7bffu}},
    {"cvt.rz.bf16x2.f32 %0, %1, %2", "rff", {1.01171875f, -1.00390625f}, {0x3f81bf80u}},
    {"cvt.rz.f16x2.f32 %0, %1, %2", "rff", {2049.5f, -1.0f}, {0x6800bc00u}},
    {"cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2", "hff", {1.0f, 1000.0f}, {0x387eu}},
    {"cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2", "hff", {-1.0f, 0x1p-16f}, {0xbc01u}},
    {"cvt.rn.f16x2.e4m3x2 %0, %1", "rh", {0x38b8u}, {0x3c00bc00u}},
    {"cvt.rn.f16x2.e5m2x2 %0, %1", "rh", {0x3cbcu}, {0x3c00bc00u}},
    {"cvt.rna.tf32.f32 %0, %1", "rf", {1.0f + 0x1p-11f}, {1.0f + 0x1p-10f}},
    {"cvt.rna.tf32.f32 %0, %1", "rf", {-1.0f - 0x1p-12f}, {-1.0f}},
    {"and.b32 %0, %1, %2", "rrr", {0xf0f0u, 0xff00u}, {0xf000u}},
    {"and.b64 %0, %1, 0xffffffff", "ll", {7u, 9u}, {7u, 0u}},
    {"or.b32 %0, %1, %2", "rrr", {0xf0f0u, 0xff00u}, {0xfff0u}},
    {"xor.b32 %0, %1, %2", "rrr", {0xf0f0u, 0xff00u}, {0x0ff0u}},
    {"xor.b16 %0, %1, %2", "hhh", {0xf0f0u, 0xff00u}, {0x0ff0u}},
    {"not.b32 %0, %1", "rr", {0xf0f0u}, {0xffff0f0fu}},
    {"not.b64 %0, %1", "ll", {1u, 2u}, {~1u, ~2u}},
    {"shl.b32 %0, %1, 4", "rr", {0xf0000001u}, {0x10u}},
    {"shl.b32 %0, %1, %2", "rrr", {1u, 32u}, {0u}},
    {"shl.b64 %0, %1, 33", "ll", {1u, 0u}, {0u, 2u}},
    {"shr.u32 %0, %1, %2", "rrr", {0x80000000u, 31u}, {1u}},
    {"shr.u32 %0, %1, %2", "rrr", {0x80000000u, 99u}, {0u}},
    {"shr.b32 %0, %1, 4", "rr", {0x80000000u}, {0x08000000u}},
    {"shr.s32 %0, %1, %2", "rrr", {-8, 1}, {-4}},
    {"shr.s32 %0, %1, %2", "rrr", {-8, 40}, {-1}},
    {"shr.u64 %0, %1, 63", "ll", {0u, 0x80000000u}, {1u, 0u}},
    {"add.u32 %0, %1, %2", "rrr", {0xffffffffu, 3u}, {2u}},
    {"add.s32 %0, %1, -3", "rr", {1}, {-2}},
    {"add.u64 %0, %1, %2", "lll", {0xffffffffu, 0u, 1u, 0u}, {0u, 1u}},
    {"add.s64 %0, %1, -1", "ll", {0u, 0u}, {-1, -1}},
    {"sub.u32 %0, %1, %2", "rrr", {1u, 3u}, {-2}},
    {"sub.s64 %0, %1, %2", "lll", {0u, 1u, 1u, 0u}, {-1, 0u}},
    {"mul.lo.u32 %0, %1, %2", "rrr", {0x80000001u, 3u}, {0x80000003u}},
    {"mul.lo.s32 %0, %1, -3", "rr", {5}, {-15}},
    {"mul.lo.u64 %0, %1, %2", "lll", {0u, 1u, 3u, 0u}, {0u, 3u}},
    {"mul.wide.u32 %0, %1, %2", "lrr", {0xffffffffu, 2u}, {0xfffffffeu, 1u}},
    {"mul.wide.s32 %0, %1, %2", "lrr", {-1, 2}, {-2, -1}},
    {"mad.lo.u64 %0, %1, %2, 5", "lll", {0u, 1u, 3u, 0u}, {5u, 3u}},
    {"min.s32 %0, %1, %2", "rrr", {-1, 1}, {-1}},
    {"min.u32 %0, %1, %2", "rrr", {-1, 1}, {1}},
    {"max.s32 %0, %1, %2", "rrr", {-1, 1}, {1}},
    {"max.u64 %0, %1, %2", "lll", {9u, 0u, 0u, 1u}, {0u, 1u}},
    {"div.s32 %0, %1, %2", "rrr", {-7, 2}, {-3}},
    {"div.u32 %0, %1, %2", "rrr", {-1, 2}, {0x7fffffffu}},
    {"rem.s32 %0, %1, %2", "rrr", {-7, 2}, {-1}},
    {"rem.u64 %0, %1, 10", "ll", {0u, 1u}, {6u, 0u}},
    {"neg.s32 %0, %1", "rr", {5}, {-5}},
    {"neg.f32 %0, %1", "ff", {0.0f}, {-0.0f}},
    {"abs.s32 %0, %1", "rr", {-5}, {5}},
    {"abs.f32 %0, %1", "ff", {-kInfinity}, {kInfinity}},
    {"add.f16x2 %0, %1, %2", "rrr", {0x3c003c00u, 0x4000bc00u}, {0x42000000u}},
    {"add.bf16x2 %0, %1, %2", "rrr", {0x3f803f80u, 0x4000bf80u}, {0x40400000u}},
    {"sub.f16x2 %0, %1, %2", "rrr", {0x3c003c00u, 0x4000bc00u}, {0xbc004000u}},
    {"sub.bf16x2 %0, %1, %2", "rrr", {0x3f803f80u, 0x4000bf80u}, {0xbf804000u}},
    {"mul.f16x2 %0, %1, %2", "rrr", {0x7bff3c01u, 0x40003c01u}, {0x7c003c02u}},
    {"mul.bf16x2 %0, %1, %2", "rrr", {0x3fc03f81u, 0x40003f81u}, {0x40403f82u}},
    {"max.f16x2 %0, %1, %2", "rrr", {0x7e00bc00u, 0x3c00c000u}, {0x3c00bc00u}},
    {"max.bf16x2 %0, %1, %2", "rrr", {0x7fc0bf80u, 0x3f80c000u}, {0x3f80bf80u}},
    {"min.f16x2 %0, %1, %2", "rrr", {0x7e00bc00u, 0x3c00c000u}, {0x3c00c000u}},
    {"min.bf16x2 %0, %1, %2", "rrr", {0x00008000u, 0x80000000u}, {0x80008000u}},
    // 3 * 683/2048 + 2^-24 lies just above the middle between two halves.
    {"fma.rn.f16x2 %0, %1, %2, %3", "rrrr", {0x42003c00u, 0x35563c00u, 0x00013c00u}, {0x3c014000u}},
    {"fma.rn.bf16x2 %0, %1, %2, %3", "rrrr", {0x3f803f80u, 0x3f80bf80u, 0x3f803f80u}, {0x40000000u}},
    {"sub.rn.f16x2 %0, %1, %2", "rrr", {0x3c003c00u, 0x4000bc00u}, {0xbc004000u}},
    {"max.NaN.f16x2 %0, %1, %2", "rrr", {0x7e00bc00u, 0x3c00c000u}, {0x7fffbc00u}},
    {"max.NaN.bf16x2 %0, %1, %2", "rrr", {0x7fc0bf80u, 0x3f80c000u}, {0x7fffbf80u}},
    {"min.NaN.f16x2 %0, %1, %2", "rrr", {0x3c00bc00u, 0x7e00c000u}, {0x7fffc000u}},
    {"min.NaN.bf16x2 %0, %1, %2", "rrr", {0x3f80bf80u, 0x7fc0c000u}, {0x7fffc000u}},
    {"neg.f16x2 %0, %1", "rr", {0x3c008000u}, {0xbc000000u}},
    {"neg.bf16x2 %0, %1", "rr", {0xbf800000u}, {0x3f808000u}},
    {"abs.f16x2 %0, %1", "rr", {0xbc008000u}, {0x3c000000u}},
    {"abs.bf16x2 %0, %1", "rr", {0x3f80bf80u}, {0x3f803f80u}},
    {"fma.rn.relu.f16x2 %0, %1, %2, %3", "rrrr", {0x3c003c00u, 0xc0004000u, 0x3c003c00u}, {0x4200u}},
    {"fma.rn.relu.bf16x2 %0, %1, %2, %3", "rrrr", {0x3f803f80u, 0xc0004000u, 0x3f807fc0u}, {0x7fffu}},
    {"add.rn.f16 %0, %1, %2", "hhh", {0x3c00u, 0x4000u}, {0x4200u}},
    {"add.f16 %0, %1, %2", "hhh", {0x7bffu, 0x7bffu}, {0x7c00u}},
    {"add.bf16 %0, %1, %2", "hhh", {0x3f80u, 0x4000u}, {0x4040u}},
    {"sub.f16 %0, %1, %2", "hhh", {0x3c00u, 0x4000u}, {0xbc00u}},
    {"sub.bf16 %0, %1, %2", "hhh", {0x3f80u, 0x4000u}, {0xbf80u}},
    {"mul.f16 %0, %1, %2", "hhh", {0x3c01u, 0x3c01u}, {0x3c02u}},
    {"mul.bf16 %0, %1, %2", "hhh", {0x3f81u, 0x3f81u}, {0x3f82u}},
    {"max.f16 %0, %1, %2", "hhh", {0x7e00u, 0xbc00u}, {0xbc00u}},
    {"max.bf16 %0, %1, %2", "hhh", {0xbf80u, 0x3f80u}, {0x3f80u}},
    {"min.f16 %0, %1, %2", "hhh", {0x3c00u, 0xbc00u}, {0xbc00u}},
    {"min.bf16 %0, %1, %2", "hhh", {0xbf80u, 0x7fc0u}, {0xbf80u}},
    {"max.NaN.f16 %0, %1, %2", "hhh", {0x7e00u, 0x3c00u}, {0x7fffu}},
    {"max.NaN.bf16 %0, %1, %2", "hhh", {0x3f80u, 0x7fc0u}, {0x7fffu}},
    {"min.NaN.f16 %0, %1, %2", "hhh", {0x3c00u, 0x4000u}, {0x3c00u}},
    {"min.NaN.bf16 %0, %1, %2", "hhh", {0x7fc0u, 0x3f80u}, {0x7fffu}},
    {"neg.f16 %0, %1", "hh", {0x3c00u}, {0xbc00u}},
    {"neg.bf16 %0, %1", "hh", {0xbf80u}, {0x3f80u}},
    {"abs.f16 %0, %1", "hh", {0xbc00u}, {0x3c00u}},
    {"abs.bf16 %0, %1", "hh", {0x8000u}, {0u}},
    {"fma.rn.f16 %0, %1, %2, %3", "hhhh", {0x4200u, 0x3556u, 0x0001u}, {0x3c01u}},
    {"fma.rn.bf16 %0, %1, %2, %3", "hhhh", {0x3f80u, 0x3f80u, 0x3f80u}, {0x4000u}},
    {"fma.rn.relu.f16 %0, %1, %2, %3", "hhhh", {0x8000u, 0x3c00u, 0x8000u}, {0u}},
    {"fma.rn.relu.bf16 %0, %1, %2, %3", "hhhh", {0x3f80u, 0x4000u, 0x3f80u}, {0x4040u}},
    {"tanh.approx.f16 %0, %1", "hh", {0x3800u}, {0x3765u}},
    {"tanh.approx.bf16 %0, %1", "hh", {0x3f00u}, {0x3eedu}},
    {"tanh.approx.f16x2 %0, %1", "rr", {0xb8007c00u}, {0xb7653c00u}},
    {"tanh.approx.bf16x2 %0, %1", "rr", {0xbf007f80u}, {0xbeed3f80u}},
    {"ex2.approx.f16 %0, %1", "hh", {0x4000u}, {0x4400u}},
    {"ex2.approx.ftz.bf16 %0, %1", "hh", {0xc302u}, {0u}},
    {"ex2.approx.f16x2 %0, %1", "rr", {0x40004d80u}, {0x44007c00u}},
    {"ex2.approx.ftz.bf16x2 %0, %1", "rr", {0x4000c302u}, {0x40800000u}},
    {"{ .reg .pred p; setp.lt.s32 p, %1, %2; selp.u32 %0, 7, 9, p; }", "rrr", {-1, 1}, {7}},
    {"{ .reg .pred p; setp.lt.u32 p, %1, %2; selp.s32 %0, 7, -9, p; }", "rrr", {-1, 1}, {-9}},
    {"{ .reg .pred p; setp.lo.u32 p, %1, %2; selp.b32 %0, %1, %2, p; }", "rrr", {4u, 5u}, {4u}},
    {"{ .reg .pred p; setp.ls.u32 p, %1, %1; selp.f32 %0, 1.0, 0.5, p; }", "fr", {4u}, {1.0f}},
    {"{ .reg .pred p; setp.hi.u32 p, %1, -1; selp.b64 %0, 1, 2, p; }", "lr", {4u}, {2u, 0u}},
    {"{ .reg .pred p; setp.hs.u32 p, %1, 4; selp.b32 %0, 1, 2, p; }", "rr", {4u}, {1u}},
    {"{ .reg .pred %p; setp.gt.f32 %p, %1, %2; selp.b32 %0, 1, 2, %p; }", "rff", {2.0f, kNan}, {2u}},
    {"{ .reg .pred %%p; setp.ge.f32 %%p, %1, %2; selp.b32 %0, 1, 2, %%p; }", "rff", {2.0f, 2.0f}, {1u}},
    {"{ .reg .pred p; setp.ne.f32 p, %1, %1; selp.b32 %0, 1, 2, p; }", "rf", {kNan}, {2u}},
    {"{ .reg .pred p; setp.ne.b32 p, %1, 0; selp.b32 %0, 1, 2, p; }", "rr", {4u}, {1u}},
    {"{ .reg .pred p; setp.eq.s64 p, %1, -1; selp.b32 %0, 1, 2, p; }", "rl", {-1, -1}, {1u}},
    {"{ .reg .pred p; setp.le.u64 p, %1, 4; selp.b32 %0, 1, 2, p; }", "rl", {0u, 1u}, {2u}},
    {"{ .reg .pred p, q; setp.eq.u32 p|q, %1, 3; not.pred p, p; and.pred p, p, q; selp.b32 %0, 1, 2, p; }",
     "rr",
     {4u},
     {1u}},
    {"{ .reg .pred p, q; setp.eq.u32 q, %1, 3; setp.gt.and.u32 p, %1, 1, q; selp.b32 %0, 1, 2, p; }", "rr", {4u}, {2u}},
    {"{ .reg .pred p, q; setp.eq.u32 q, %1, 3; setp.gt.or.u32 p, %1, 1, !q; selp.b32 %0, 1, 2, p; }", "rr", {0u}, {1u}},
    {"{ .reg .pred p, q; setp.eq.u32 p, 1, 1; mov.pred q, p; xor.pred q, q, p; or.pred q, q, p; @q mov.u32 %0, 3; }",
     "r",
     {},
     {3u}},
    {"prmt.b32 %0, %1, %2, 0x5410", "rrr", {0x33221100u, 0x77665544u}, {0x55441100u}},
    {"prmt.b32 %0, %1, %2, %3", "rrrr", {0x33229100u, 0x77665544u, 0x7361u}, {0x77336691u}},
    {"prmt.b32 %0, %1, %2, 0x9990", "rrr", {0x33229100u, 0u}, {0xffffff00u}},
    {"lop3.b32 %0, %1, %2, %3, 0xE8", "rrrr", {0xf0f0u, 0xff00u, 0xaaaau}, {0xfaa0u}},
    {"lop3.b32 %0, %1, %2, %3, 0x1A", "rrrr", {0xf0u, 0xccu, 0xaau}, {0x1au}},
    {"bfe.u32 %0, %1, 8, 12", "rr", {0xabcdef12u}, {0xdefu}},
    {"bfe.u32 %0, %1, %2, %3", "rrrr", {0xabcdef12u, 28u, 20u}, {0xau}},
    {"bfe.u32 %0, %1, 0, 32", "rr", {0xabcdef12u}, {0xabcdef12u}},
    {"bfe.u32 %0, %1, 40, 4", "rr", {0xabcdef12u}, {0u}},
    {"bfe.s32 %0, %1, 8, 12", "rr", {0xabcdef12u}, {0xfffffdefu}},
    {"bfe.s32 %0, %1, 9, 3", "rr", {0x00000600u}, {3u}},
    {"bfe.s32 %0, %1, 28, 20", "rr", {0xabcdef12u}, {0xfffffffau}},
    {"bfe.s32 %0, %1, 40, 4", "rr", {0xabcdef12u}, {0xffffffffu}},
    {"bfe.s32 %0, %1, 40, 0", "rr", {0xabcdef12u}, {0u}},
    {"bfi.b32 %0, %1, %2, 8, 12", "rrr", {0x12345678u, 0xffffffffu}, {0xfff678ffu}},
    {"bfi.b32 %0, %1, %2, 24, 32", "rrr", {0x12345678u, 0xffffffffu}, {0x78ffffffu}},
    {"bfi.b32 %0, %1, %2, 32, 4", "rrr", {0x12345678u, 0xabcdu}, {0xabcdu}},
    {"bfi.b32 %0, %1, %2, 4, 0", "rrr", {0x12345678u, 0xabcdu}, {0xabcdu}},
    {"shf.l.wrap.b32 %0, %1, %2, %3", "rrrr", {0x89abcdefu, 0x01234567u, 36u}, {0x12345678u}},
    {"shf.l.wrap.b32 %0, %1, %2, 32", "rrr", {0x89abcdefu, 0x01234567u}, {0x01234567u}},
    {"shf.r.wrap.b32 %0, %1, %2, %3", "rrrr", {0x89abcdefu, 0x01234567u, 36u}, {0x789abcdeu}},
    {"brev.b32 %0, %1", "rr", {0x80000003u}, {0xc0000001u}},
    {"popc.b32 %0, %1", "rr", {0xf0f01u}, {9u}},
    {"clz.b32 %0, %1", "rr", {0x00010000u}, {15u}},
    {"clz.b32 %0, %1", "rr", {0u}, {32u}},
    {"mad.lo.s32 %0, %1, %2, %3", "rrrr", {-7, 6, 2}, {-40}},
    {"mad.lo.u32 %0, %0, %1, 3", "+rr", {0x80000001u, 2u}, {5u}},
    {"mad.lo.u32 %0, %1, %2, 5", "rrr", {0x80000001u, 2u}, {7u}},
    {"mul.hi.u32 %0, %1, %2", "rrr", {0xffffffffu, 0xffffffffu}, {0xfffffffeu}},
    {"mul.hi.s32 %0, %1, %2", "rrr", {-2, 3}, {-1}},
    {"dp4a.s32.s32 %0, %1, %2, %3", "rrrr", {0x01ff80u, 0x027f02u, 10}, {10 - 256 - 127 + 2}},
    {"dp4a.u32.u32 %0, %1, %2, %3", "rrrr", {0x01ff80u, 0x027f02u, 10}, {10 + 256 + 255 * 127 + 2}},
    {"fma.rn.f32 %0, %1, %2, %3", "ffff", {1.0f + 0x1p-23f, 1.0f - 0x1p-23f, -1.0f}, {-0x1p-46f}},
    {"fma.rn.f32 %0, %1, %2, %3", "ffff", {1.0f, kSubnormal, 0.0f}, {kSubnormal}},
    {"fma.rn.ftz.f32 %0, %1, %2, %3", "ffff", {1.0f, -kSubnormal, -0.0f}, {-0.0f}},
    {"fma.rn.ftz.f32 %0, %1, %2, %3", "ffff", {2.0f, 3.0f, 0.5f}, {6.5f}},
    {"add.f32 %0, %1, %2", "fff", {1.5f, 2.25f}, {3.75f}},
    {"sub.f32 %0, %1, %2", "fff", {1.5f, 2.25f}, {-0.75f}},
    {"mul.f32 %0, %1, %2", "fff", {1.5f, 2.25f}, {3.375f}},
    {"add.rn.f32 %0, %1, %2", "fff", {1.0f, 0x1p-24f}, {1.0f}},
    {"sub.rn.f32 %0, %1, %2", "fff", {1.0f, 0x1p-26f}, {1.0f}},
    {"mul.rn.f32 %0, %1, %2", "fff", {1.0f + 0x1p-23f, 1.0f + 0x1p-23f}, {1.0f + 0x1p-22f}},
    {"max.f32 %0, %1, %2", "fff", {1.5f, kNan}, {1.5f}},
    {"max.f32 %0, %1, %2", "fff", {kNan, -kInfinity}, {-kInfinity}},
    {"max.f32 %0, %1, %2", "fff", {-0.0f, 0.0f}, {0.0f}},
    {"max.f32 %0, %1, %2", "fff", {0.0f, -0.0f}, {0.0f}},
    {"min.f32 %0, %1, %2", "fff", {kNan, 1.5f}, {1.5f}},
    {"min.f32 %0, %1, %2", "fff", {0.0f, -0.0f}, {-0.0f}},
    {"min.f32 %0, %1, %2", "fff", {-3.0f, 2.0f}, {-3.0f}},
    {"max.NaN.f32 %0, %1, %2", "fff", {1.5f, kNan}, {kNan}},
    {"max.NaN.f32 %0, %1, %2", "fff", {1.5f, 4.0f}, {4.0f}},
    {"min.NaN.f32 %0, %1, %2", "fff", {kNan, 1.5f}, {kNan}},
    {"min.NaN.f32 %0, %1, %2", "fff", {1.5f, 4.0f}, {1.5f}},
    {"ex2.approx.f32 %0, %1", "ff", {0.75f}, {1.6817928f}},
    {"ex2.approx.f32 %0, %1", "ff", {-130.0f}, {kSubnormal}},
    {"ex2.approx.ftz.f32 %0, %1", "ff", {-130.0f}, {0.0f}},
    {"ex2.approx.ftz.f32 %0, %1", "ff", {-kInfinity}, {0.0f}},
    {"lg2.approx.f32 %0, %1", "ff", {kSubnormal}, {-130.0f}},
    {"lg2.approx.f32 %0, %1", "ff", {10.0f}, {3.3219281f}},
    {"lg2.approx.ftz.f32 %0, %1", "ff", {kSubnormal}, {-kInfinity}},
    {"rcp.approx.f32 %0, %1", "ff", {-4.0f}, {-0.25f}},
    {"rcp.approx.ftz.f32 %0, %1", "ff", {-kSubnormal}, {-kInfinity}},
    {"rcp.rn.f32 %0, %1", "ff", {3.0f}, {1.0f / 3.0f}},
    {"rsqrt.approx.f32 %0, %1", "ff", {16.0f}, {0.25f}},
    {"rsqrt.approx.f32 %0, %1", "ff", {kInfinity}, {0.0f}},
    {"rsqrt.approx.ftz.f32 %0, %1", "ff", {kSubnormal}, {kInfinity}},
    {"sqrt.approx.f32 %0, %1", "ff", {2.0f}, {1.4142135f}},
    {"sqrt.approx.ftz.f32 %0, %1", "ff", {kSubnormal}, {0.0f}},
    {"sqrt.rn.f32 %0, %1", "ff", {-1.0f}, {kNan}},
    {"sqrt.rn.f32 %0, %1", "ff", {9.0f}, {3.0f}},
    {"sin.approx.f32 %0, %1", "ff", {1.0f}, {0.84147098f}},
    {"cos.approx.f32 %0, %1", "ff", {1.0f}, {0.54030231f}},
    {"tanh.approx.f32 %0, %1", "ff", {0.5f}, {0.46211716f}},
    {"div.approx.f32 %0, %1, %2", "fff", {1.0f, 3.0f}, {1.0f / 3.0f}},
    {"div.full.f32 %0, %1, %2", "fff", {7.0f, -2.0f}, {-3.5f}},
};

// "float a1" as its declaration; what it takes from the array `in`, or gives to `out`, at word `at`.
std::string declaration(char type, size_t index, const std::string& value) {
  const char* names[] = {"unsigned", "float", "unsigned long long", "unsigned short"};
  return std::string(names[std::string("rflh").find(type)]) + " a" + std::to_string(index) + " = " + value + "; ";
}
std::string taken(char type, size_t at) {
  const std::string word = "in[" + std::to_string(at) + "]";
  if (type == 'f') return "__int_as_float(" + word + ")";
  if (type == 'l') return "in[" + std::to_string(at + 1) + "] * 0x100000000ull + " + word;
  return word;
}
std::string given(char type, size_t at) {
  const std::string word = "out[" + std::to_string(at) + "] = ";
  if (type == 'f') return word + "__float_as_int(a0); ";
  if (type == 'l') return word + "(unsigned)a0; out[" + std::to_string(at + 1) + "] = (unsigned)(a0 >> 32); ";
  return word + "a0; ";
}

// A block with the case's instruction; its sources stand in `in`, and what it computes goes to `out`, from those words.
std::string statement(const Case& c, size_t in, size_t out) {
  std::string types = c.types, text = "{ ", outputs, inputs;
  const bool both = types[0] == '+';
  if (both) types.erase(0, 1);
  for (size_t i = 0; i < types.size(); ++i) {
    const char type = types[i];
    const bool source = i > 0 || both;
    text += declaration(type, i, source ? taken(type, in) : "0");
    if (source) in += type == 'l' ? 2 : 1;
    const std::string operand = std::string("\"") +
                                (i > 0  ? ""
                                 : both ? "+"
                                        : "=") +
                                type + "\"(a" + std::to_string(i) + ")";
    (i == 0 ? outputs : inputs) += (i > 1 ? ", " : "") + operand;
  }
  return text + "asm volatile(\"" + c.instruction + ";\" : " + outputs + " : " + inputs + "); " + given(types[0], out) +
         "}\n";
}

// What stands before the operands of each instruction.
std::vector<std::string> mnemonics_of(const std::string& text) {
  std::vector<std::string> found;
  for (const std::string& part : core::split(text, ';')) {
    for (const std::string& word : core::split(part, ' ')) {
      if (word.empty() || word[0] == '{' || word[0] == '@') continue;
      if (word[0] != '.' && word[0] != '}') found.push_back(word);
      break;
    }
  }
  return found;
}

TEST(ShimPtx, ComputesWhatTheManualSays) {
  std::string source = "extern \"C\" __global__ void k(const unsigned* in, unsigned* out) {\n";
  size_t in_words = 0, out_words = 0;
  for (const Case& c : kCases) {
    source += statement(c, in_words, out_words);
    in_words += c.sources.size();
    out_words += c.expected.size();
  }
  for (const Build build : {Build::fast, Build::check}) {
    Device device(source + "}", build);
    float* in = device.add_floats("in", in_words);
    const float* out = device.add_floats("out", out_words);
    for (const Case& c : kCases) {
      for (const Word& word : c.sources) std::memcpy(in++, &word.bits, sizeof word.bits);
    }
    const auto fault = device.launch("k", 1, 1);
    ASSERT_FALSE(fault) << fault->describe();
    for (const Case& c : kCases) {
      for (const Word& word : c.expected) {
        const float expected = std::bit_cast<float>(word.bits), got = *out++;
        const bool is_float = std::string_view(c.types).find('f') == 0;
        if (is_float && std::isnan(expected)) {
          EXPECT_TRUE(std::isnan(got)) << c.instruction;
        } else if (is_float && expected != 0 && std::isfinite(expected)) {
          EXPECT_FLOAT_EQ(got, expected) << c.instruction;
        } else {
          EXPECT_EQ(std::bit_cast<unsigned>(got), word.bits) << c.instruction;
        }
      }
    }
  }
}

TEST(ShimPtx, UnpacksRegisters) {
  Device device(R"(
    extern "C" __global__ void k(unsigned* out) {
      unsigned low, high;
      unsigned short a, b;
      asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "l"(0x500000004ull));
      asm("mov.b32 {%0, %1}, %2;" : "=h"(a), "=h"(b) : "r"(0x70006));
      out[0] = low; out[1] = high; out[2] = a; out[3] = b;
    })");
  const float* out = device.add_floats("out", 4);
  EXPECT_FALSE(device.launch("k", 1, 1));
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(std::bit_cast<unsigned>(out[i]), 4 + i);
}

// Instructions of threads and special registers, by a block of 8 x 4 x 2 threads, number (1, 2, 0) of a grid of (3, 4,
// 5).
struct Register {
  const char* name;
  const char* value;
};
constexpr Register kRegisters[] = {{"tid.x", "threadIdx.x"},
                                   {"tid.y", "threadIdx.y"},
                                   {"tid.z", "threadIdx.z"},
                                   {"ntid.x", "8"},
                                   {"ntid.y", "4"},
                                   {"ntid.z", "2"},
                                   {"ctaid.x", "blockIdx.x"},
                                   {"ctaid.y", "blockIdx.y"},
                                   {"ctaid.z", "blockIdx.z"},
                                   {"nctaid.x", "3"},
                                   {"nctaid.y", "4"},
                                   {"nctaid.z", "5"},
                                   {"laneid", "t % 32"},
                                   {"warpid", "t / 32"},
                                   {"lanemask_eq", "1u << t % 32"},
                                   {"lanemask_lt", "(1u << t % 32) - 1"},
                                   {"lanemask_le", "~0u >> (31 - t % 32)"},
                                   {"lanemask_ge", "~0u << t % 32"},
                                   {"lanemask_gt", "~1u << t % 32"}};

// By a grid of (3, 4, 5) blocks of 8 x 4 x 2 threads; t: a thread's number in its block.
TEST(ShimPtx, SpecialRegisters) {
  std::string source = R"(extern "C" __global__ void k(unsigned* wrong) {
    unsigned t = threadIdx.x + 8 * threadIdx.y + 32 * threadIdx.z, r;
    unsigned long long before, after, timer;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(before));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer));
    asm volatile("mov.u32 %0, %%clock;" : "=r"(r));
    asm volatile("mov.u64 %0, %clock64;" : "=l"(after));
    if (before == 0 || timer < before || after < timer || r - (unsigned)before > after - before) wrong[t] |= 1;
)";
  unsigned bit = 1;
  for (const Register& r : kRegisters) {
    source += std::string("asm volatile(\"mov.u32 %0, %%") + r.name + ";\" : \"=r\"(r)); if (r != (" + r.value +
              ")) wrong[t] |= 1u << " + std::to_string(bit++) + ";\n";
  }
  Device device(source + "}");
  const float* wrong = device.add_floats("wrong", 64);
  const auto fault = device.launch("k", {3, 4, 5}, {8, 4, 2}, runtime::Order::seeded);
  ASSERT_FALSE(fault) << fault->describe();
  for (int i = 0; i < 64; ++i) EXPECT_EQ(std::bit_cast<unsigned>(wrong[i]), 0u) << "thread " << i;
}

TEST(ShimPtx, ThreadsMeetAndReduce) {
  Device device(R"(
    #define EXPECT(bit, condition) if (!(condition)) wrong[t] |= 1u << bit
    extern "C" __global__ void k(unsigned* wrong) {
      unsigned t = threadIdx.x, u;
      int n = t % 32 * 7 % 32 - 10, r;
      __shared__ unsigned kept[64];
      kept[t] = t;
      asm volatile("bar.sync 0;");
      EXPECT(0, kept[63 - t] == 63 - t);
      asm volatile("barrier.sync %0;" :: "r"(0));
      kept[t] = t + 5;
      asm volatile("bar.warp.sync 0xffffffff;");
      EXPECT(1, kept[t ^ 31] == (t ^ 31) + 5);
      asm volatile("membar.gl;" ::: "memory");
      asm volatile("membar.cta;");
      asm volatile("membar.sys;");
      asm volatile("fence.acq_rel.gpu;");
      asm volatile("fence.acq_rel.cta;");
      asm volatile("nanosleep.u32 %0;" :: "r"(20));
      asm volatile("prefetch.global.L2 [%0];" :: "l"(wrong));
      asm volatile("prefetch.global.L1 [%0];" :: "l"(wrong + 64));
      asm volatile("prefetch.global.L2::evict_normal [%0];" :: "l"(wrong));
      asm volatile("prefetch.L1 [%0];" :: "l"(wrong));
      asm volatile("prefetchu.L1 [%0];" :: "l"(wrong));
      asm volatile("applypriority.global.L2::evict_normal [%0], 128;" :: "l"(wrong));
      asm volatile("griddepcontrol.wait;");
      asm volatile("griddepcontrol.launch_dependents;");
      asm volatile("activemask.b32 %0;" : "=r"(u));
      EXPECT(2, u == 0xffffffff);
      asm volatile("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(n));
      EXPECT(3, r == 496 - 320);
      asm volatile("redux.sync.max.s32 %0, %1, %2;" : "=r"(r) : "r"(n), "r"(0xffffffff));
      EXPECT(4, r == 21);
      asm volatile("redux.sync.min.s32 %0, %1, %2;" : "=r"(r) : "r"(n), "r"(~0));
      EXPECT(5, r == -10);
      asm volatile("redux.sync.add.u32 %0, %1, %2;" : "=r"(u) : "r"(n + 10), "r"(~0));
      EXPECT(6, u == 496);
      asm volatile("redux.sync.max.u32 %0, %1, %2;" : "=r"(u) : "r"(n), "r"(~0));
      EXPECT(7, u == 0xffffffff);
      asm volatile("redux.sync.min.u32 %0, %1, %2;" : "=r"(u) : "r"(n), "r"(t % 32 < 16 ? 0xffff : 0xffff0000));
      EXPECT(8, u == (t % 32 < 16 ? 0 : 1));
      asm volatile("redux.sync.and.b32 %0, %1, -1;" : "=r"(u) : "r"(t | 6));
      EXPECT(9, u == (6 | (t & 32)));
      asm volatile("redux.sync.or.b32 %0, %1, -1;" : "=r"(u) : "r"(t % 32 & ~2u));
      EXPECT(10, u == 29);
      asm volatile("redux.sync.xor.b32 %0, %1, %2;" : "=r"(u) : "r"(1u << t % 32), "r"(~0));
      EXPECT(11, u == 0xffffffff);
    })",
                Build::check);
  const float* wrong = device.add_floats("wrong", 64);
  const auto fault = device.launch("k", 1, 64, runtime::Order::seeded);
  ASSERT_FALSE(fault) << fault->describe();
  for (int i = 0; i < 64; ++i) EXPECT_EQ(std::bit_cast<unsigned>(wrong[i]), 0u) << "thread " << i;
}

TEST(ShimPtx, LanesExchangeVoteAndMatch) {
  Device device(R"(
    #define EXPECT(bit, condition) if (!(condition)) wrong[t] |= 1u << bit
    #define SHFL(mode) asm volatile("{ .reg .pred p; shfl.sync." mode ".b32 %0|p, %2, %3, %4, -1; selp.u32 %1, 1, 0, p; }" \
                                    : "=r"(u), "=r"(p) : "r"(t * 3), "r"(b), "r"(c))
    extern "C" __global__ void k(unsigned* wrong) {
      const unsigned t = threadIdx.x, lane = t % 32;
      unsigned u, p, c;
      unsigned long long wide = (unsigned long long)(lane / 16) << 40;
      for (unsigned width = 8; width <= 32; width *= 4) {
        for (unsigned b = 0; b < 14; b += 3) {
          c = (32 - width) << 8;
          SHFL("up");
          EXPECT(0, u == __shfl_up_sync(~0u, t * 3, b, width) && p == (lane % width >= b));
          c |= 31;
          SHFL("down");
          EXPECT(1, u == __shfl_down_sync(~0u, t * 3, b, width) && p == (lane % width + b < width));
          SHFL("bfly");
          EXPECT(2, u == __shfl_xor_sync(~0u, t * 3, b, width) && p == ((lane ^ b) <= (lane | (width - 1))));
          SHFL("idx");
          EXPECT(3, u == __shfl_sync(~0u, t * 3, b, width) && p == 1);
        }
      }
      // The clamp allows lanes 0 to 5, and only the lower five bits of a lane number count.
      asm volatile("shfl.sync.idx.b32 %0, %1, %2, 5, 0xffffffff;" : "=r"(u) : "r"(t), "r"(lane % 8 + 64));
      EXPECT(4, u == (lane % 8 <= 5 ? t - lane + lane % 8 : t));
      // Inclusive sums, as libraries have them.
      float sum = lane + 1;
      for (int step = 1; step < 32; step *= 2) {
        asm volatile("{ .reg .f32 r0; .reg .pred p; shfl.sync.up.b32 r0|p, %1, %2, 0, -1; @p add.f32 r0, r0, %3; mov.f32 %0, r0; }"
                     : "=f"(sum) : "f"(sum), "r"(step), "f"(sum));
      }
      EXPECT(5, sum == (lane + 1) * (lane + 2) / 2);
      asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 5; vote.sync.ballot.b32 %0, !p, -1; }" : "=r"(u) : "r"(lane));
      EXPECT(6, u == 0xffffffe0);
      #define VOTE(mode, least) asm volatile("{ .reg .pred p; setp.ge.u32 p, %1, %2; vote.sync." mode ".pred p, p, %3; " \
                                             "selp.u32 %0, 1, 0, p; }" : "=r"(u) : "r"(lane), "r"(least), "r"(~0))
      VOTE("any", 31); EXPECT(7, u == 1);
      VOTE("any", 32); EXPECT(8, u == 0);
      VOTE("all", 0); EXPECT(9, u == 1);
      VOTE("all", 1); EXPECT(10, u == 0);
      VOTE("uni", 32); EXPECT(11, u == 1);
      VOTE("uni", 1); EXPECT(12, u == 0);
      asm volatile("match.any.sync.b32 %0, %1, -1;" : "=r"(u) : "r"(t % 4));
      EXPECT(13, u == 0x11111111u << t % 4);
      asm volatile("match.any.sync.b64 %0, %1, -1;" : "=r"(u) : "l"(wide));
      EXPECT(14, u == (lane < 16 ? 0xffffu : 0xffff0000u));
      asm volatile("{ .reg .pred p; match.all.sync.b32 %0|p, %2, -1; selp.u32 %1, 1, 0, p; }" : "=r"(u), "=r"(p) : "r"(t / 32));
      EXPECT(15, u == ~0u && p == 1);
      asm volatile("match.all.sync.b64 %0, %1, -1;" : "=r"(u) : "l"(wide));
      EXPECT(16, u == 0);
    })",
                Build::check);
  const float* wrong = device.add_floats("wrong", 64);
  const auto fault = device.launch("k", 1, 64, runtime::Order::seeded);
  ASSERT_FALSE(fault) << fault->describe();
  for (int i = 0; i < 64; ++i) EXPECT_EQ(std::bit_cast<unsigned>(wrong[i]), 0u) << "thread " << i;
}

TEST(ShimPtx, FaultsAreReportedAtTheirLines) {
  struct Planted {
    const char* statement;
    FaultKind kind;
    const char* message;
  };
  for (const Planted& planted :
       {Planted{"asm volatile(\"trap;\");", FaultKind::trap, "trap"},
        Planted{"asm volatile(\"bar.sync 16;\");", FaultKind::invalid_launch, "named barriers 0 to 15"},
        Planted{"asm volatile(\"bar.sync 1, 48;\");", FaultKind::deadlock, "it takes whole warps"},
        Planted{"unsigned r = 0; asm volatile(\"shfl.sync.up.b32 %0, %0, 1, 0, 3;\" : \"+r\"(r));",
                FaultKind::warp_misuse, "shfl.sync.up is called by a lane that its mask leaves out"},
        Planted{"asm volatile(\"st.global.f32 [%0 + 4], %1;\" :: \"l\"(out + 7), \"f\"(1.0f));",
                FaultKind::out_of_bounds, "writes 4 bytes"},
        Planted{"float x; asm volatile(\"ld.global.nc.f32 %0, [%1];\" : \"=f\"(x) : \"l\"(out - 1)); out[0] = x;",
                FaultKind::out_of_bounds, "reads 4 bytes"},
        Planted{"asm volatile(\"st.global.v2.u32 [%0], {%1, %1};\" :: \"l\"(out + 1), \"r\"(1));",
                FaultKind::misaligned, "no multiple of 8 bytes"}}) {
    Device device(std::string("extern \"C\" __global__ void k(float* out) {\n\n") + planted.statement + "\n}",
                  Build::check);
    device.add_floats("out", 8);
    const auto fault = device.launch("k", 1, 64);
    ASSERT_TRUE(fault) << planted.statement;
    EXPECT_EQ(fault->kind, planted.kind) << fault->describe();
    EXPECT_THAT(fault->message, HasSubstr(planted.message));
    EXPECT_EQ(fault->line, 3) << fault->describe();
  }
}

// Each of the forms that differ by their type only.
TEST(ShimPtx, EveryTypeCompiles) {
  // The headers agree with the toolkit's.
  std::string source =
      "#include <mma.h>\n#include <cuda_fp8.h>\n#include <cooperative_groups.h>\n"
      "__device__ void g(unsigned r) { asm(\"cvt.f32.f16 %0, %1;\" : \"+r\"(r) : \"h\"((short)r)); "
      "asm(\"movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;\" : \"+r\"(r)); }\n"
      "__device__ void f() { unsigned char b; unsigned short h; unsigned r; unsigned long long l;\n";
  for (const std::string& name : compiler::ptx_instructions()) {
    const compiler::PtxForm form = compiler::ptx_form(name).value();
    if (!form.function.ends_with('>')) continue;
    const std::string type = name.substr(name.rfind('.') + 1), stem = name.substr(0, name.find('.'));
    const bool memory = form.header == "kw_ptx_memory.h";
    const auto times = [&](int count) {
      std::string list = "{%0";
      for (int i = 1; i < count; ++i) list += ", %0";
      return list + "}";
    };
    const int width = name.find(".v4") != name.npos ? 4 : name.find(".v2") != name.npos ? 2 : 1;
    std::string operands;
    if (stem == "ld") {
      operands = times(width) + ", [%1]";
    } else if (stem == "st") {
      operands = "[%1], " + times(width);
    } else if (memory) {
      operands = name.find("cas") != name.npos ? "%0, [%1], %0, %0" : "%0, [%1], %0";
    } else if (stem == "setp") {
      operands = name.find(".and") != name.npos || name.find(".or") != name.npos ? "p, %0, %0, !q" : "p|q, %0, %0";
    } else if (type == "pred") {
      operands = stem == "mov" || stem == "not" ? "p, q" : "p, p, q";
    } else {
      const int sources = stem == "mov" || stem == "not" || stem == "neg" || stem == "abs" ? 1 : 2;
      operands = sources == 1     ? "%0, %0"
                 : stem == "selp" ? "%0, %0, %0, p"
                 : stem == "mad"  ? "%0, %0, %0, %0"
                                  : "%0, %0, %0";
    }
    const std::string size = type.substr(1), variable = size == "8"    ? "b"
                                                        : size == "16" ? "h"
                                                        : size == "64" ? "l"
                                                                       : "r";
    source += "asm volatile(\"{ .reg .pred p, q; " + name + " " + operands + "; }\" : \"+r\"(" + variable +
              ") : \"l\"(l));\n";
  }
  const Compilation result = test::compile_text(source + "}\n", Build::check);
  const auto* rejected = std::get_if<Rejected>(&result);
  EXPECT_TRUE(rejected == nullptr) << rejected->message << "\n" << rejected->log;
}

TEST(ShimPtx, EveryInstructionOfTheTableIsTested) {
  // Those of ThreadsMeetAndReduce, LanesExchangeVoteAndMatch and FaultsAreReportedAtTheirLines.
  std::set<std::string, std::less<>> tested = {"bar.warp.sync",
                                               "membar.gl",
                                               "membar.cta",
                                               "membar.sys",
                                               "fence.acq_rel.gpu",
                                               "fence.acq_rel.cta",
                                               "activemask.b32",
                                               "redux.sync.add.s32",
                                               "redux.sync.add.u32",
                                               "redux.sync.max.s32",
                                               "redux.sync.min.s32",
                                               "redux.sync.max.u32",
                                               "redux.sync.min.u32",
                                               "trap",
                                               "nanosleep.u32",
                                               "prefetch.L2",
                                               "prefetch.L1",
                                               "prefetchu.L1",
                                               "applypriority.L2::evict_normal",
                                               "redux.sync.and.b32",
                                               "redux.sync.or.b32",
                                               "redux.sync.xor.b32",
                                               "shfl.sync.up.b32",
                                               "shfl.sync.down.b32",
                                               "shfl.sync.bfly.b32",
                                               "shfl.sync.idx.b32",
                                               "vote.sync.all.pred",
                                               "vote.sync.any.pred",
                                               "vote.sync.uni.pred",
                                               "vote.sync.ballot.b32",
                                               "match.any.sync.b32",
                                               "match.any.sync.b64",
                                               "match.all.sync.b32",
                                               "match.all.sync.b64"};
  for (const Case& c : kCases) {
    for (const std::string& name : mnemonics_of(c.instruction)) tested.insert(name);
  }
  const auto without_type = [](std::string_view name) { return std::string(name.substr(0, name.rfind('.'))); };
  for (const std::string& name : std::set(tested.begin(), tested.end())) tested.insert(without_type(name));
  for (const std::string& name : compiler::ptx_instructions()) {
    const compiler::PtxForm form = compiler::ptx_form(name).value();
    // shim_ptx_memory_test.cpp, shim_matrix_test.cpp, shim_hopper_test.cpp and shim_blackwell_test.cpp have these.
    if (form.header == "kw_ptx_memory.h" || form.header == "kw_matrix.h" || name.starts_with("atom")) continue;
    if (form.header == "kw_hopper.h" || form.header == "kw_blackwell.h") continue;
    const bool any_type = form.function.ends_with('>');
    // Every comparison is combined in the same way.
    const std::string stem = name.starts_with("setp") ? name.substr(0, 7) : without_type(name);
    EXPECT_TRUE(tested.contains(name) || (any_type && tested.contains(stem))) << name;
  }
}

}  // namespace
}  // namespace sandbox::cpu
