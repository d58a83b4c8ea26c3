// The judge's kernels convert to 8 bits and back as the host does.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "verifier/comparison/tiles.h"
#include "verifier/devices/gpu/judge_on_cpu_fixture.h"
#include "verifier/draws/elements.h"

namespace verifier::devices::gpu {
namespace {
using core::DType;
using test::JudgeOnCpu;

std::vector<std::byte> encoded(DType dtype, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * core::size_bytes(dtype));
  for (size_t i = 0; i < values.size(); ++i) draws::store_element(dtype, bytes, i, values[i]);
  return bytes;
}

// Each number of a format, each middle of two, and what lies beside it: whoever rounds twice or otherwise mismatches.
TEST(JudgeKernelsOf8Bits, RoundAsTheHostDoes) {
  JudgeOnCpu judge;
  for (const DType dtype : {DType::f8e4m3, DType::f8e5m2}) {
    std::vector<double> r{NAN, INFINITY, -INFINITY, 1e-60, -1e-60, 1e60, -1e60};
    for (int code = 0; code < 127; ++code) {
      const std::array<std::byte, 2> both{static_cast<std::byte>(code), static_cast<std::byte>(code + 1)};
      const double a = draws::load_element(dtype, both, 0), b = draws::load_element(dtype, both, 1);
      const double middle = (a + (std::isfinite(b) ? b : a + draws::ulp_at(dtype, a))) / 2;
      for (const double sign : {1, -1}) {
        for (const double beside : {0.0, 0x1p-40, 0x1p-24, -0x1p-40, -0x1p-24}) {
          r.insert(r.end(), {sign * a * (1 + beside), sign * middle * (1 + beside)});
        }
      }
    }
    const auto count = static_cast<int64_t>(r.size());
    const comparison::Tiling tiling{count, count, 1};
    std::vector<std::byte> output = encoded(dtype, r);
    const auto mismatches = [&] {
      const auto tiles = judge.lend<comparison::TileMismatches>(1);
      judge.launch("kw_tile_mismatches", {1, 256}, judge.lend(output).data(), judge.lend(encoded(DType::f64, r)).data(),
                   static_cast<int64_t>(dtype), tiling, tiles.data());
      EXPECT_EQ(tiles[0].count, comparison::tile_mismatches(dtype, tiling, output, encoded(DType::f64, r))[0].count);
      return tiles[0].count;
    };
    EXPECT_EQ(mismatches(), 0) << core::name_of(dtype);
    for (std::byte& byte : output) byte ^= std::byte{1};
    EXPECT_GT(mismatches(), count * 9 / 10) << core::name_of(dtype);
  }
}

}  // namespace
}  // namespace verifier::devices::gpu
