// The judge's kernels on a real GPU, through DeviceWork, say what the host's functions say. In one process and without
// a jail, so that compute-sanitizer can watch it. Needs a GPU and NVRTC.
#include "verifier/devices/gpu/device_work.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>

#include "core/paths.h"
#include "core/text.h"
#include "sandbox/cuda/compiler/compiler.h"
#include "sandbox/cuda/driver/driver.h"
#include "sandbox/process/sealed_memory.h"
#include "verifier/comparison/difference.h"
#include "verifier/comparison/output_rules.h"
#include "verifier/devices/gpu/judge_kernels.h"
#include "verifier/draws/elements.h"
#include "verifier/statistics/keys.h"
#include "verifier/statistics/random.h"

namespace verifier::devices::gpu {
namespace {
using core::DType;
using sandbox::gpu::driver::Context;
using sandbox::gpu::driver::PrivateMemory;
using Bytes = std::vector<std::byte>;
constexpr DType kFloats[] = {DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2, DType::f32, DType::f64};

std::string compiled_judge_kernels(const Context& context) {
  const char* home = std::getenv("CUDA_HOME");
  const auto nvrtc = sandbox::cuda::compiler::Nvrtc::open(home != nullptr ? home : "");
  const sandbox::cuda::compiler::CompilerSettings settings{
      context.facts().architecture, core::read_file(core::installed_paths().device_headers() / "kw_prelude.h")};
  const auto compilation = sandbox::cuda::compiler::compile(
      {"judge_kernels.cu", judge_kernels_source(core::installed_paths().gpu_kernels()), {}, sandbox::Build::fast},
      settings, nvrtc);
  return sandbox::process::read_memory(std::get<sandbox::Built>(compilation).binary.get());
}

Bytes stored(DType dtype, const std::vector<double>& values) {
  Bytes bytes(values.size() * core::size_bytes(dtype));
  for (size_t i = 0; i < values.size(); ++i) draws::store_element(dtype, bytes, i, values[i]);
  return bytes;
}

class DeviceWorkOnGpu : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    driver_ = std::make_unique<sandbox::gpu::driver::Driver>(sandbox::cuda::driver::open_driver());
    context_ = std::make_unique<Context>(*driver_, 0);
    work_ = std::make_unique<DeviceWork>(*context_, compiled_judge_kernels(*context_));
  }
  static void TearDownTestSuite() {
    work_.reset();
    context_.reset();
    driver_.reset();
  }

  static PrivateMemory upload(const Bytes& bytes) {
    PrivateMemory memory(*context_, bytes.size());
    context_->copy_to_device(memory.address(), bytes.data(), bytes.size());
    return memory;
  }
  static Bytes download(const PrivateMemory& memory) {
    Bytes bytes(memory.bytes());
    context_->copy_to_host(bytes.data(), memory.address(), bytes.size());
    return bytes;
  }

  static std::unique_ptr<sandbox::gpu::driver::Driver> driver_;
  static std::unique_ptr<Context> context_;
  static std::unique_ptr<DeviceWork> work_;
};
std::unique_ptr<sandbox::gpu::driver::Driver> DeviceWorkOnGpu::driver_;
std::unique_ptr<Context> DeviceWorkOnGpu::context_;
std::unique_ptr<DeviceWork> DeviceWorkOnGpu::work_;

TEST_F(DeviceWorkOnGpu, PoisonIsTheHostsAndAChangedByteIsSeen) {
  for (const size_t size : {1, 7, 9, 1000, 4099, 3000001}) {
    PrivateMemory memory = upload(Bytes(size));
    work_->poison(memory.address(), size, 77);
    Bytes expected(size);
    draws::fill_poison(expected, 77);
    Bytes found = download(memory);
    ASSERT_EQ(found, expected) << size;
    EXPECT_TRUE(work_->untouched(memory.address(), size, 77));
    EXPECT_FALSE(work_->untouched(memory.address(), size, 78));
    found[size / 2] ^= std::byte{4};
    context_->copy_to_device(memory.address(), found.data(), size);
    EXPECT_FALSE(work_->untouched(memory.address(), size, 77)) << size;
  }
}

TEST_F(DeviceWorkOnGpu, SurvivingPoisonIsFoundAsOnTheHost) {
  constexpr size_t kElements = 200003;
  for (const size_t element : {1, 2, 4, 8}) {
    for (const auto& [begin, end] :
         std::vector<std::pair<size_t, size_t>>{{0, 0}, {0, kElements}, {0, 120000}, {999, kElements}, {7, 199000}}) {
      Bytes bytes(kElements * element);
      draws::fill_poison(bytes, 5);
      statistics::Keys keys(begin + end);
      for (size_t i = begin * element; i < end * element; ++i) bytes[i] = static_cast<std::byte>(keys.next());
      const draws::Survivors expected = draws::find_poison(bytes, element, 5);
      const PrivateMemory memory = upload(bytes);
      const draws::Survivors found = work_->find_poison(memory.address(), bytes.size(), element, 5);
      EXPECT_EQ(found.count, expected.count) << element << " " << begin;
      EXPECT_EQ(found.first, expected.first) << element << " " << begin;
    }
  }
}

benchsuite::Tensor matrix(DType dtype, benchsuite::Init kind) {
  benchsuite::InputInit init;
  init.kind = kind;
  init.most = core::Expr::constant(9);
  return {"x", dtype, {core::Expr::parse("M"), core::Expr::parse("N")}, init};
}

TEST_F(DeviceWorkOnGpu, InputsAreOfTheirKindAndDependOnTheirKeyAlone) {
  const core::Bindings axes{{"M", 301}, {"N", 997}};
  const auto filled = [&](const benchsuite::Tensor& tensor, draws::Distribution distribution, uint64_t key) {
    const PrivateMemory memory(*context_, static_cast<size_t>(tensor.bytes(axes)));
    work_->fill(memory.address(), tensor, axes, distribution, key);
    context_->synchronize();
    return download(memory);
  };
  for (const DType dtype : kFloats) {
    const benchsuite::Tensor normal = matrix(dtype, benchsuite::Init::normal);
    const Bytes content = filled(normal, draws::Distribution::ordinary, 3);
    EXPECT_EQ(content, filled(normal, draws::Distribution::ordinary, 3));
    EXPECT_NE(content, filled(normal, draws::Distribution::ordinary, 4));
    double sum = 0, squares = 0;
    const std::vector<double> values = draws::load_elements(dtype, content);
    for (const double value : values) sum += value, squares += value * value;
    const auto count = static_cast<double>(values.size());
    EXPECT_NEAR(sum / count, 0, 0.02) << core::name_of(dtype);
    EXPECT_NEAR(squares / count, 1, 0.02) << core::name_of(dtype);
    for (const double value : draws::load_elements(dtype, filled(normal, draws::Distribution::exact, 5))) {
      ASSERT_EQ(value * 32, std::round(value * 32));
    }
    // Every distribution, for who watches memory.
    for (const draws::Distribution distribution : draws::all_distributions()) {
      EXPECT_FALSE(filled(normal, distribution, 6).empty());
    }
  }
  for (const DType dtype : {DType::i8, DType::u8, DType::i32, DType::u32, DType::i64, DType::boolean}) {
    const std::vector<double> values = draws::load_elements(
        dtype, filled(matrix(dtype, benchsuite::Init::integers), draws::Distribution::ordinary, 3));
    std::vector<int> seen(10);
    for (const double value : values) {
      ASSERT_TRUE(value >= 0 && value <= 9) << value;
      ++seen[static_cast<size_t>(value)];
    }
    for (const int times : seen) EXPECT_NEAR(times, static_cast<double>(values.size()) / 10, 2000);
  }
}

TEST_F(DeviceWorkOnGpu, MomentsAndDifferencesAreTheHosts) {
  for (const DType dtype : kFloats) {
    std::vector<double> a(250007), b(a.size());
    statistics::Stream stream(static_cast<uint64_t>(dtype) + 1);
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = stream.normal();
      b[i] = a[i] * (1 + 1e-2 * stream.normal());
    }
    const Bytes left = stored(dtype, a), right = stored(dtype, b);
    const PrivateMemory x = upload(left), y = upload(right);
    const auto elements = static_cast<int64_t>(a.size());
    const comparison::Moments moments = work_->moments(x.address(), dtype, elements),
                              expected = comparison::moments_of(dtype, left);
    EXPECT_EQ(moments.count, expected.count);
    EXPECT_NEAR(moments.squares, expected.squares, 1e-9 * expected.squares);
    const double difference = comparison::largest_difference(dtype, left, right);
    EXPECT_GT(difference, 0);
    EXPECT_NEAR(work_->difference(x.address(), y.address(), dtype, elements), difference, 1e-9 * difference);
    EXPECT_EQ(work_->difference(x.address(), x.address(), dtype, elements), 0);
    const std::vector<int64_t> places{elements - 1, -1, 0, 77};
    EXPECT_EQ(work_->gather(x.address(), core::size_bytes(dtype), places),
              comparison::gathered(left, core::size_bytes(dtype), places));
  }
}

TEST_F(DeviceWorkOnGpu, QuantaAreTheHosts) {
  for (const DType dtype : {DType::i8, DType::u8, DType::i32}) {
    std::vector<double> y(250007), r(y.size());
    statistics::Stream stream(5);
    for (size_t i = 0; i < y.size(); ++i) {
      r[i] = 100 * stream.unit();
      y[i] = std::rint(r[i]) + static_cast<double>(stream.below(4));
    }
    const Bytes output = stored(dtype, y), reference = stored(DType::f64, r);
    const PrivateMemory on_y = upload(output), on_r = upload(reference);
    const comparison::Quanta expected = comparison::quanta_between(dtype, output, reference),
                             found =
                                 work_->quanta(on_y.address(), on_r.address(), dtype, static_cast<int64_t>(y.size()));
    EXPECT_EQ(found.beyond, expected.beyond);
    EXPECT_EQ(found.peak, expected.peak);
    EXPECT_GT(found.beyond, 2.9);
  }
}

// Outputs that a candidate may have left: right, wrong in one place, wrong in all, not a number.
TEST_F(DeviceWorkOnGpu, ComparisonsDecideAsTheHostDoes) {
  const verdicts::Where where{"w", "", "", ""};
  int refused = 0;
  for (const DType dtype : kFloats) {
    for (const auto& [elements, columns] :
         std::vector<std::pair<size_t, size_t>>{{1, 1}, {700, 7}, {9000, 4500}, {1200000, 1000}}) {
      const std::vector<int64_t> shape{static_cast<int64_t>(elements / columns), static_cast<int64_t>(columns)};
      for (int damage = 0; damage < 4; ++damage) {
        statistics::Stream stream(elements + static_cast<uint64_t>(damage));
        std::vector<double> r(elements), b(elements), y(elements);
        const double step = draws::ulp_at(dtype, 1);
        for (size_t i = 0; i < elements; ++i) {
          r[i] = stream.normal();
          b[i] = r[i] * (1 + step * stream.normal());
          y[i] = r[i] * (1 + step * stream.normal()) + (damage == 2 ? 3 : 0);
        }
        if (damage == 1) y[elements / 2] += 5;
        if (damage == 3) y[elements - 1] = NAN;
        const Bytes reference = stored(DType::f64, r), naive = stored(dtype, b), output = stored(dtype, y);
        const auto expected = comparison::compare(
            {dtype, DType::f32, columns, {}, false, output, {reference, naive}, {}, shape}, "y", where);
        const PrivateMemory on_y = upload(output), on_r = upload(reference), on_b = upload(naive);
        const auto decided =
            work_->compare({dtype, DType::f32, comparison::tiling_of(columns, elements), {}, "y", where, shape},
                           {on_y.address(), on_r.address(), on_b.address(), false});
        ASSERT_EQ(decided.index(), expected.index()) << core::name_of(dtype) << " " << elements << " " << damage;
        if (const auto* verdict = std::get_if<verdicts::Verdict>(&decided)) {
          ++refused;
          EXPECT_EQ(name_of(*verdict), name_of(std::get<verdicts::Verdict>(expected)));
          if (const auto* wrong = std::get_if<verdicts::WrongResult>(verdict)) {
            EXPECT_EQ(wrong->index, std::get<verdicts::WrongResult>(std::get<verdicts::Verdict>(expected)).index);
            EXPECT_EQ(wrong->wrong_elements,
                      std::get<verdicts::WrongResult>(std::get<verdicts::Verdict>(expected)).wrong_elements);
            EXPECT_EQ(wrong->pattern, std::get<verdicts::WrongResult>(std::get<verdicts::Verdict>(expected)).pattern);
          }
        } else {
          EXPECT_NEAR(std::get<comparison::Match>(decided).ratio, std::get<comparison::Match>(expected).ratio, 1e-9);
        }
      }
    }
  }
  EXPECT_GE(refused, 3 * 4 * 4 - 4);
}

TEST_F(DeviceWorkOnGpu, ExactComparisonsSeeOneWrongElement) {
  for (int type = 0; type <= static_cast<int>(DType::boolean); ++type) {
    const auto dtype = static_cast<DType>(type);
    std::vector<double> r(90001);
    statistics::Stream stream(3);
    for (double& value : r) value = static_cast<double>(stream.below(core::is_f8(dtype) ? 8 : 100));
    const Bytes reference = stored(core::is_floating(dtype) ? DType::f64 : dtype, r);
    const PrivateMemory on_r = upload(reference);
    for (const bool wrong : {false, true}) {
      std::vector<double> y = r;
      if (wrong) y[70000] += 1;
      const PrivateMemory on_y = upload(stored(dtype, y));
      const auto decided = work_->compare({dtype, DType::f32, comparison::tiling_of(90001, 90001), {}, "y", {}},
                                          {on_y.address(), on_r.address(), 0, true});
      ASSERT_EQ(std::holds_alternative<verdicts::Verdict>(decided), wrong) << core::name_of(dtype);
      if (wrong) {
        EXPECT_EQ(std::get<verdicts::WrongResult>(std::get<verdicts::Verdict>(decided)).index, 70000);
      }
    }
  }
}

}  // namespace
}  // namespace verifier::devices::gpu
