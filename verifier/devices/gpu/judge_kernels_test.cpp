// The judge's kernels, executed on the cpu device, say what the host's functions say.
#include "verifier/devices/gpu/judge_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/paths.h"
#include "core/text.h"
#include "verifier/comparison/compare.h"
#include "verifier/comparison/output_rules.h"
#include "verifier/devices/gpu/judge_on_cpu_fixture.h"
#include "verifier/draws/elements.h"
#include "verifier/statistics/keys.h"
#include "verifier/statistics/random.h"
#ifdef KW_HAVE_NVRTC
#include "sandbox/cuda/compiler/compiler.h"
#include "sandbox/cuda/driver/leaks_fixture.h"
#endif

namespace verifier::devices::gpu {
namespace {
using core::DType;
using sandbox::Build;
using test::JudgeOnCpu;
using test::Shape;
using Bytes = std::vector<std::byte>;

constexpr Shape kShapes[] = {{1, 256}, {3, 100}, {7, 32}, {2, 1}};
constexpr DType kFloatTypes[] = {DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2, DType::f32, DType::f64};

Bytes stored(DType dtype, const std::vector<double>& values) {
  Bytes bytes(values.size() * core::size_bytes(dtype));
  for (size_t i = 0; i < values.size(); ++i) draws::store_element(dtype, bytes, i, values[i]);
  return bytes;
}

class JudgeKernels : public testing::Test {
 protected:
  static void SetUpTestSuite() { judge_ = std::make_unique<JudgeOnCpu>(); }
  static void TearDownTestSuite() { judge_.reset(); }
  static std::unique_ptr<JudgeOnCpu> judge_;
};
std::unique_ptr<JudgeOnCpu> JudgeKernels::judge_;

// One key for each kind of poison.
constexpr uint64_t kPoisonKeys[] = {77, (uint64_t{2} << 62) + 5, (uint64_t{3} << 62) + 9};

TEST_F(JudgeKernels, PoisonIsTheHostsBitForBit) {
  for (const uint64_t key : kPoisonKeys) {
    for (const size_t size : {0, 1, 7, 8, 9, 16, 1000, 4099}) {
      for (const size_t offset : {0, 1, 8}) {
        for (const Shape shape : kShapes) {
          const auto buffer = judge_->lend<uint8_t>(size + offset);
          judge_->launch("kw_poison", shape, buffer.data() + offset, static_cast<int64_t>(size), key);
          Bytes expected(size);
          draws::fill_poison(expected, key);
          const auto content = std::as_bytes(buffer.subspan(offset));
          ASSERT_TRUE(std::equal(expected.begin(), expected.end(), content.begin())) << size << " " << offset;
          ASSERT_EQ(std::count(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(offset), 0),
                    static_cast<std::ptrdiff_t>(offset));

          const auto partials = judge_->lend<int64_t>(static_cast<size_t>(shape.grid));
          const auto differing = [&] {
            judge_->launch("kw_untouched", shape, buffer.data() + offset, static_cast<int64_t>(size), key,
                           partials.data());
            return joined(std::span<const int64_t>(partials));
          };
          EXPECT_EQ(differing(), 0);
          if (size < 8) continue;
          buffer[offset] ^= 1;
          buffer[offset + size - 1] ^= 128;
          EXPECT_EQ(differing(), 2) << size << " " << offset;
        }
      }
    }
  }
}

TEST_F(JudgeKernels, QuantaAreMeasuredAsOnTheHost) {
  for (const DType dtype : {DType::i8, DType::u8, DType::i32}) {
    for (const size_t elements : {1, 31, 5003}) {
      statistics::Stream stream(elements);
      std::vector<double> right(elements), got(elements);
      for (size_t i = 0; i < elements; ++i) {
        right[i] = 100 * stream.unit() - (dtype == DType::u8 ? 0 : 50);
        got[i] = std::rint(right[i]) + (stream.below(8) == 0 ? static_cast<double>(stream.below(5)) : 0);
      }
      if (elements > 31) got[elements / 2] = 77;
      const Bytes output = stored(dtype, got), reference = stored(DType::f64, right);
      const comparison::Quanta expected = comparison::quanta_between(dtype, output, reference);
      for (const Shape shape : kShapes) {
        const auto partials = judge_->lend<comparison::Quanta>(static_cast<size_t>(shape.grid));
        judge_->launch("kw_quanta", shape, judge_->lend(output).data(), judge_->lend(reference).data(),
                       static_cast<int64_t>(dtype), static_cast<int64_t>(elements), partials.data());
        const comparison::Quanta found = joined(std::span<const comparison::Quanta>(partials));
        EXPECT_EQ(found.beyond, expected.beyond);
        EXPECT_EQ(found.peak, expected.peak);
      }
    }
  }
}

// Overwrites [begin, end) as a kernel would.
void overwrite(std::span<std::byte> bytes, size_t begin, size_t end) {
  statistics::Keys keys(begin + 1);
  for (size_t i = begin; i < end; ++i) bytes[i] = static_cast<std::byte>(keys.next());
}

TEST_F(JudgeKernels, SurvivingPoisonIsFoundAsOnTheHost) {
  constexpr size_t kElements = 5003;
  int found_some = 0;
  size_t round = 0;
  for (const size_t element : {1, 2, 4, 8}) {
    const uint64_t key = kPoisonKeys[round++ % std::size(kPoisonKeys)];
    const auto buffer = judge_->lend<std::byte>(kElements * element);
    const auto least = static_cast<size_t>(draws::least_run(element, kElements, key));
    for (const auto& [begin, end] : std::vector<std::pair<size_t, size_t>>{{least, kElements},
                                                                           {0, kElements - least},
                                                                           {least - 1, kElements},
                                                                           {0, 0},
                                                                           {0, kElements},
                                                                           {0, 4001},
                                                                           {17, kElements},
                                                                           {601, 4990},
                                                                           {1, kElements - 1}}) {
      draws::fill_poison(buffer, key);
      overwrite(buffer, begin * element, end * element);
      const draws::Survivors expected = draws::find_poison(buffer, element, key);
      found_some += expected.count > 0;
      for (const Shape shape : kShapes) {
        const auto partials = judge_->lend<draws::Survivors>(static_cast<size_t>(shape.grid));
        judge_->launch("kw_find_poison", shape, buffer.data(), static_cast<int64_t>(element),
                       static_cast<int64_t>(kElements), key, draws::least_run(element, kElements, key),
                       partials.data());
        const draws::Survivors found = joined(std::span<const draws::Survivors>(partials));
        EXPECT_EQ(found.count, expected.count) << element << " " << begin;
        EXPECT_EQ(found.first, expected.first) << element << " " << begin;
      }
    }
  }
  EXPECT_GE(found_some, 20);
}

// An output as a candidate might leave it: mostly right, here and there NaN, infinite or overflown.
struct Output {
  DType dtype;
  size_t elements, columns;
  comparison::Tiling tiling = comparison::tiling_of(columns, elements);
  std::vector<double> r = std::vector<double>(elements), b = r, y = r;
  Bytes reference, naive, output;

  Output(DType type, size_t count, size_t row, bool clean) : dtype(type), elements(count), columns(row) {
    statistics::Stream stream(count + row);
    const double step = draws::ulp_at(dtype, 1), most = draws::largest_of(dtype);
    const double least_power = core::is_f8(dtype) ? -3 : -2;
    for (size_t i = 0; i < elements; ++i) {
      r[i] = stream.normal() * std::pow(10.0, static_cast<double>(i / columns % 5) + least_power);
      b[i] = r[i] * (1 + step * stream.normal());
      y[i] = r[i] * (1 + step * stream.normal());
      if (clean || stream.below(16) != 0) continue;
      // On both sides of where the dtype ends, too.
      const double special[] = {NAN,  INFINITY,     -INFINITY,    most,        -most,
                                r[i], most * 1.005, -most * 1.05, most * .995, -most * .9};
      r[i] = special[stream.below(10)];
      b[i] = special[stream.below(10)];
      y[i] = special[stream.below(10)];
    }
    encode();
  }
  void encode() {
    reference = stored(DType::f64, r);
    naive = stored(dtype, b);
    output = stored(dtype, y);
  }
};
constexpr std::pair<size_t, size_t> kOutputs[] = {{1, 1},    {700, 1},     {700, 7},      {330, 33},
                                                  {640, 64}, {9000, 4500}, {13000, 13000}};

std::vector<comparison::TileErrors> errors_on_device(JudgeOnCpu& judge, const Output& o, Shape shape) {
  const auto tiles = judge.lend<comparison::TileErrors>(static_cast<size_t>(o.tiling.count()));
  judge.launch("kw_tile_errors", shape, judge.lend(o.output).data(), judge.lend(o.reference).data(),
               judge.lend(o.naive).data(), static_cast<int64_t>(o.dtype), o.tiling, tiles.data());
  return {tiles.begin(), tiles.end()};
}
int64_t wrong_on_device(JudgeOnCpu& judge, const Output& o, const std::vector<double>& allowed, Shape shape) {
  const auto counts = judge.lend<int64_t>(allowed.size());
  judge.launch("kw_count_wrong", shape, judge.lend(o.output).data(), judge.lend(o.reference).data(),
               static_cast<int64_t>(o.dtype), o.tiling, judge.lend(allowed).data(), counts.data());
  return joined(std::span<const int64_t>(counts));
}
void expect_close(double a, double b, const char* what) {
  EXPECT_TRUE(a == b || std::fabs(a - b) <= 1e-12 * std::fabs(b)) << what << ": " << a << " and " << b;
}

TEST_F(JudgeKernels, StatisticsOfOutputsAreTheHosts) {
  int64_t mismatches = 0;
  for (const DType dtype : kFloatTypes) {
    for (const auto& [elements, columns] : kOutputs) {
      const Output o(dtype, elements, columns, false);
      const std::vector<comparison::TileErrors> expected =
          comparison::tile_errors(dtype, o.tiling, o.output, {o.reference, o.naive});
      for (const Shape shape : {Shape{1, 256}, Shape{5, 100}}) {
        const std::vector<comparison::TileErrors> found = errors_on_device(*judge_, o, shape);
        ASSERT_EQ(found.size(), expected.size());
        for (size_t i = 0; i < found.size(); ++i) {
          expect_close(found[i].scale_squares, expected[i].scale_squares, "scale");
          EXPECT_EQ(found[i].peak, expected[i].peak);
          expect_close(found[i].naive.squares, expected[i].naive.squares, "naive squares");
          expect_close(found[i].squares, expected[i].squares, "squares");
          EXPECT_EQ(found[i].naive.largest, expected[i].naive.largest);
          EXPECT_EQ(found[i].largest, expected[i].largest);
          EXPECT_EQ(found[i].worst, expected[i].worst);
          EXPECT_EQ(found[i].mismatches, expected[i].mismatches);
          mismatches += found[i].mismatches;
          if (found[i].mismatches > 0) {
            EXPECT_EQ(found[i].first_mismatch, expected[i].first_mismatch);
          }
        }
        std::vector<double> allowed;
        for (const comparison::TileErrors& tile : expected) allowed.push_back(tile.largest / 2);
        allowed.back() = NAN;
        EXPECT_EQ(wrong_on_device(*judge_, o, allowed, shape),
                  comparison::count_wrong(dtype, o.tiling, o.output, o.reference, allowed));
      }
    }
  }
  EXPECT_GT(mismatches, 100);
}

// The verdict from the kernels' statistics, as the cuda device comes to it.
TEST_F(JudgeKernels, TheDecisionIsTheHosts) {
  for (const DType dtype : kFloatTypes) {
    for (const bool wrong : {false, true}) {
      Output o(dtype, 9000, 4500, true);
      if (wrong) {
        o.y[4800] += 10;
        o.y[700] -= 2;
        o.encode();
      }
      const verdicts::Where where{"w", "", "", ""};
      const auto expected = comparison::compare(
          {dtype, DType::f32, o.columns, {}, false, o.output, {o.reference, o.naive}, {}}, "y", where);
      const comparison::SecondLook look{
          [&](int64_t index) {
            const auto i = static_cast<size_t>(index);
            return comparison::SecondLook::Element{o.r[i], draws::load_element(dtype, o.output, i)};
          },
          [&](const std::vector<double>& allowed) {
            return wrong_on_device(*judge_, o, allowed, {3, 256});
          }};
      const auto decided =
          decide({dtype, DType::f32, o.tiling, {}, "y", where}, errors_on_device(*judge_, o, {3, 256}), {}, look);
      ASSERT_EQ(decided.index(), expected.index());
      ASSERT_EQ(std::holds_alternative<verdicts::Verdict>(decided), wrong) << core::name_of(dtype);
      if (!wrong) {
        expect_close(std::get<comparison::Match>(decided).ratio, std::get<comparison::Match>(expected).ratio, "ratio");
        continue;
      }
      const auto& a = std::get<verdicts::WrongResult>(std::get<verdicts::Verdict>(decided));
      const auto& b = std::get<verdicts::WrongResult>(std::get<verdicts::Verdict>(expected));
      EXPECT_EQ(a.index, b.index);
      EXPECT_EQ(a.got, b.got);
      EXPECT_EQ(a.wrong_elements, b.wrong_elements);
      EXPECT_EQ(a.wrong_elements, 2);
      expect_close(a.ratio, b.ratio, "ratio");
    }
  }
}

TEST_F(JudgeKernels, MismatchesAreTheHostsInEveryDtype) {
  for (int type = 0; type <= static_cast<int>(DType::boolean); ++type) {
    const auto dtype = static_cast<DType>(type);
    const bool floating = core::is_floating(dtype);
    std::vector<double> r(9001), y;
    statistics::Stream stream(3);
    for (double& value : r) value = static_cast<double>(stream.below(core::is_f8(dtype) ? 8 : 100));
    if (floating) r[5] = r[6] = NAN;
    y = r;
    for (const size_t i : {17u, 18u, 5000u, 9000u}) y[i] += 1;
    if (floating) y[6] = 0;
    const Bytes reference = stored(floating ? DType::f64 : dtype, r), output = stored(dtype, y);
    const comparison::Tiling tiling = comparison::tiling_of(9001, 9001);
    const auto expected = comparison::tile_mismatches(dtype, tiling, output, reference);
    const auto tiles = judge_->lend<comparison::TileMismatches>(expected.size());
    judge_->launch("kw_tile_mismatches", {2, 256}, judge_->lend(output).data(), judge_->lend(reference).data(),
                   static_cast<int64_t>(type), tiling, tiles.data());
    int64_t count = 0;
    for (size_t i = 0; i < tiles.size(); ++i) {
      EXPECT_EQ(tiles[i].count, expected[i].count) << core::name_of(dtype);
      if (tiles[i].count > 0) {
        EXPECT_EQ(tiles[i].first, expected[i].first);
      }
      count += tiles[i].count;
    }
    EXPECT_EQ(count, floating ? 5 : 4) << core::name_of(dtype);
  }
}

TEST_F(JudgeKernels, GathersWhatTheHostDoes) {
  const Output o(DType::f32, 200001, 1000, false);
  const std::vector<int64_t> places{0, 200000, -1, 7, 7, 131072, -5};
  for (const size_t element_bytes : {size_t{1}, size_t{2}, size_t{4}}) {
    const std::vector<std::byte> expected = comparison::gathered(o.output, element_bytes, places);
    for (const Shape shape : kShapes) {
      const auto elements = judge_->lend<std::byte>(expected.size());
      judge_->launch("kw_gather", shape, judge_->lend(o.output).data(), static_cast<int64_t>(element_bytes),
                     judge_->lend(places).data(), static_cast<int64_t>(places.size()), elements.data());
      EXPECT_TRUE(std::ranges::equal(elements, expected));
    }
  }
}

TEST_F(JudgeKernels, MomentsAreTheHosts) {
  for (const DType dtype : kFloatTypes) {
    const Output o(dtype, 200001, 1000, false);
    const int64_t step = comparison::sample_step(200001);
    const comparison::Moments expected = comparison::moments_of(dtype, o.output);
    for (const Shape shape : kShapes) {
      const auto partials = judge_->lend<comparison::Moments>(static_cast<size_t>(shape.grid));
      judge_->launch("kw_moments", shape, judge_->lend(o.output).data(), static_cast<int64_t>(dtype), int64_t{200001},
                     step, partials.data());
      const comparison::Moments found = joined(std::span<const comparison::Moments>(partials));
      EXPECT_EQ(found.count, expected.count);
      expect_close(found.squares, expected.squares, "squares");
    }
  }
}

double difference_on_device(JudgeOnCpu& judge, DType dtype, const Bytes& a, const Bytes& b) {
  const auto elements = static_cast<int64_t>(a.size() / core::size_bytes(dtype));
  const auto partials = judge.lend<comparison::Difference>(3);
  judge.launch("kw_difference", {3, 256}, judge.lend(a).data(), judge.lend(b).data(), static_cast<int64_t>(dtype),
               elements, partials.data());
  return comparison::relative_difference(joined(std::span<const comparison::Difference>(partials)), elements);
}

TEST_F(JudgeKernels, DifferencesOfTwoSidesAreTheHosts) {
  for (const DType dtype : kFloatTypes) {
    Output o(dtype, 3000, 100, true);
    const auto both = [&] {
      const double found = difference_on_device(*judge_, dtype, o.output, o.naive);
      expect_close(found, comparison::largest_difference(dtype, o.output, o.naive), "difference");
      return found;
    };
    EXPECT_GT(both(), 0);
    o.y[7] = o.b[7] = NAN;
    o.y[8] = o.b[8] = INFINITY;
    o.encode();
    EXPECT_TRUE(std::isfinite(both()));
    o.y[9] = NAN;
    o.encode();
    EXPECT_EQ(both(), INFINITY);
    EXPECT_EQ(difference_on_device(*judge_, dtype, o.output, o.output), 0);
  }
  for (const DType dtype : {DType::i8, DType::u8, DType::i32, DType::u32, DType::i64, DType::boolean}) {
    const Bytes a = stored(dtype, std::vector<double>(700, 3)), b = stored(dtype, std::vector<double>(700, 3));
    Bytes c = b;
    c.back() = std::byte{1};
    EXPECT_EQ(difference_on_device(*judge_, dtype, a, b), 0);
    EXPECT_EQ(difference_on_device(*judge_, dtype, a, c), INFINITY) << core::name_of(dtype);
  }
}

// The checking build sees races between threads of a block, and every access outside the buffers.
TEST(JudgeKernelsChecked, NoKernelRacesOrLeavesItsBuffers) {
  JudgeOnCpu judge(Build::check);
  for (const DType dtype : kFloatTypes) {
    const Output o(dtype, 333, 111, false);
    const Shape shape{2, 64};
    EXPECT_EQ(errors_on_device(judge, o, shape).size(), 3u);
    wrong_on_device(judge, o, std::vector<double>(3, 0.5), shape);
    difference_on_device(judge, dtype, o.output, o.naive);
    const auto type = static_cast<int64_t>(dtype);
    const auto buffer = judge.lend(o.output);
    const auto bytes = static_cast<int64_t>(buffer.size());
    judge.launch("kw_tile_mismatches", shape, buffer.data(), judge.lend(o.reference).data(), type, o.tiling,
                 judge.lend<comparison::TileMismatches>(3).data());
    judge.launch("kw_moments", shape, buffer.data(), type, int64_t{333}, int64_t{3},
                 judge.lend<comparison::Moments>(2).data());
    judge.launch("kw_poison", shape, buffer.data(), bytes, uint64_t{9});
    judge.launch("kw_untouched", shape, buffer.data(), bytes, uint64_t{9}, judge.lend<int64_t>(2).data());
    judge.launch("kw_find_poison", shape, buffer.data(), bytes / 333, int64_t{333}, uint64_t{9}, int64_t{2},
                 judge.lend<draws::Survivors>(2).data());
    benchsuite::Tensor tensor{"x", dtype, {core::Expr::constant(3), core::Expr::constant(111)}, {}};
    tensor.init.most = core::Expr::constant(1);
    for (const draws::Distribution distribution : draws::all_distributions()) {
      const formulas::FillArgs args = draws::fill_args(tensor, {}, distribution, 5);
      judge.launch(fill_kernel(args), shape, buffer.data(), args);
      judge.launch("kw_patch", shape, buffer.data(), args);
    }
  }
}

#ifdef KW_HAVE_NVRTC
// Without spills, and as many kernels as there are.
void expect_compiled(const std::string& source, size_t kernels) {
  const auto nvrtc = sandbox::cuda::compiler::Nvrtc::open(KW_CUDA_HOME);
  const core::Paths paths = core::installed_paths();
  for (const char* architecture : {"sm_80", "sm_90", "sm_100"}) {
    sandbox::cuda::compiler::CompilerSettings settings;
    settings.architecture = architecture;
    settings.prelude = core::read_file(paths.device_headers() / "kw_prelude.h");
    const auto compilation = sandbox::cuda::compiler::compile({"kernels.cu", source, {}, Build::fast}, settings, nvrtc);
    const auto* built = std::get_if<sandbox::Built>(&compilation);
    ASSERT_NE(built, nullptr) << std::get<sandbox::Rejected>(compilation).log;
    EXPECT_EQ(built->kernels.size(), kernels);
    EXPECT_EQ(built->spill_bytes, 0);
    EXPECT_EQ(built->log, "");
  }
}
TEST(JudgeKernelsNvrtc, Compile) { expect_compiled(judge_kernels_source(core::installed_paths().gpu_kernels()), 13); }
TEST(RunKernelsNvrtc, Compile) {
  expect_compiled(core::read_file(core::installed_paths().gpu_kernels() / "run_kernels.cu"), 7);
}
#endif

}  // namespace
}  // namespace verifier::devices::gpu
