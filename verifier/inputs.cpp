#include "verifier/inputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "verifier/elements.h"

namespace verifier {
namespace {
using core::DType;

constexpr std::pair<Distribution, std::string_view> kDistributions[] = {
    {Distribution::ordinary, "ordinary"},   {Distribution::row_scales, "row_scales"},
    {Distribution::offset, "offset"},       {Distribution::spikes, "spikes"},
    {Distribution::one_hot, "one_hot"},     {Distribution::ties, "ties"},
    {Distribution::denormals, "denormals"}, {Distribution::near_overflow, "near_overflow"},
    {Distribution::exact, "exact"}};

// A sequence of 32-bit numbers out of Philox, four at a time.
class Stream {
 public:
  explicit Stream(uint64_t key) : key_{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)} {}
  uint32_t next() {
    if (at_ == 4) {
      block_ = philox({static_cast<uint32_t>(counter_), static_cast<uint32_t>(counter_ >> 32), 0, 0}, key_);
      ++counter_;
      at_ = 0;
    }
    return block_[at_++];
  }
  double unit() { return next() * 0x1p-32; }

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> block_{};
  uint64_t counter_ = 0;
  size_t at_ = 4;
};

// The quantile function of N(0,1) at 8193 equidistant probabilities, the ends at those of 2^-20.
class NormalTable {
 public:
  NormalTable() {
    for (size_t i = 0; i <= kCells; ++i) {
      const double p = std::clamp(static_cast<double>(i) / kCells, 0x1p-20, 1 - 0x1p-20);
      double low = -6, high = 6;
      for (int step = 0; step < 50; ++step) {
        const double middle = (low + high) / 2;
        (0.5 * std::erfc(-middle / std::sqrt(2.0)) < p ? low : high) = middle;
      }
      knots_[i] = static_cast<float>(low);
    }
  }
  float at(uint32_t uniform) const {
    const size_t cell = uniform >> 19;
    const float fraction = static_cast<float>(uniform & 0x7FFFF) * 0x1p-19f;
    return knots_[cell] + fraction * (knots_[cell + 1] - knots_[cell]);
  }

 private:
  static constexpr size_t kCells = 8192;
  std::array<float, kCells + 1> knots_{};
};

float normal(Stream& stream) {
  static const NormalTable table;
  return table.at(stream.next());
}

double ordinary(const benchsuite::InputInit& init, Stream& stream) {
  if (init.kind == benchsuite::Init::uniform) return init.low + (init.high - init.low) * stream.unit();
  return init.scale * static_cast<double>(normal(stream));
}

double least_normal(DType dtype) { return dtype == DType::f16 ? 0x1p-14 : dtype == DType::f64 ? 0x1p-1022 : 0x1p-126; }

// One element of a draw. `is_hot`: it is the one of its row in a one-hot draw.
double adversarial(const benchsuite::InputInit& init, DType dtype, Distribution distribution, Stream& stream,
                   bool is_hot) {
  switch (distribution) {
    case Distribution::offset:
      return 100 + ordinary(init, stream);
    case Distribution::spikes: {
      const double value = ordinary(init, stream);
      return stream.next() % 64 == 0 ? value * 1000 : value;
    }
    case Distribution::one_hot:
      return is_hot ? 1 : 0;
    case Distribution::ties: {
      constexpr double kValues[] = {-0.5, 0.25, 1.5};
      return kValues[stream.next() % 3];
    }
    case Distribution::denormals:
      return least_normal(dtype) * 2 * (stream.unit() - 0.5) * 2;
    case Distribution::near_overflow:
      return static_cast<double>(normal(stream)) * 1e15;
    case Distribution::exact:
      return static_cast<double>(stream.next() % 3) - 1;
    default:
      return ordinary(init, stream);
  }
}

void fill_integers(std::span<std::byte> bytes, const benchsuite::Tensor& tensor, const core::Bindings& axes,
                   size_t elements, Stream& stream) {
  const int64_t least = tensor.init.least.eval(axes), most = tensor.init.most.eval(axes);
  const auto span = static_cast<uint64_t>(most - least) + 1;
  for (size_t i = 0; i < elements; ++i) {
    const uint64_t wide = (static_cast<uint64_t>(stream.next()) << 32) | stream.next();
    store_element(tensor.dtype, bytes, i,
                  static_cast<double>(least + static_cast<int64_t>(span == 0 ? wide : wide % span)));
  }
}

// The common case in a tight loop: timing draws megabytes of these for every launch.
void fill_ordinary_f32(std::span<std::byte> bytes, const benchsuite::InputInit& init, size_t elements, Stream& stream) {
  for (size_t i = 0; i < elements; ++i) {
    const float value = init.kind == benchsuite::Init::uniform
                            ? static_cast<float>(init.low + (init.high - init.low) * stream.unit())
                            : static_cast<float>(init.scale) * normal(stream);
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
}
}  // namespace

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53u} * counter[0], b = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

std::string_view name_of(Distribution distribution) {
  for (const auto& [d, name] : kDistributions) {
    if (d == distribution) return name;
  }
  return "";
}

std::vector<Distribution> adversarial_for(const benchsuite::Problem& problem) {
  const auto floating = [](const benchsuite::Tensor& tensor) { return core::is_floating(tensor.dtype); };
  if (std::none_of(problem.inputs.begin(), problem.inputs.end(), floating)) return {};
  return {Distribution::row_scales, Distribution::offset, Distribution::spikes,
          Distribution::one_hot,    Distribution::ties,   Distribution::denormals};
}

void fill_input(std::span<std::byte> bytes, const benchsuite::Tensor& tensor, const core::Bindings& axes,
                Distribution distribution, uint64_t key) {
  const auto elements = static_cast<size_t>(tensor.elements(axes));
  Stream stream(key);
  if (!core::is_floating(tensor.dtype)) return fill_integers(bytes, tensor, axes, elements, stream);
  if (distribution == Distribution::ordinary && tensor.dtype == DType::f32) {
    return fill_ordinary_f32(bytes, tensor.init, elements, stream);
  }
  const auto columns = static_cast<size_t>(tensor.shape.back().eval(axes));
  for (size_t row = 0; row < elements / columns; ++row) {
    const size_t hot = stream.next() % columns;
    const double scale = distribution == Distribution::row_scales ? std::pow(10.0, 6 * stream.unit() - 3) : 1;
    // f16 ends at 65504: its rows span less.
    const double kept = tensor.dtype == DType::f16 ? std::sqrt(scale) : scale;
    for (size_t column = 0; column < columns; ++column) {
      const double value = adversarial(tensor.init, tensor.dtype, distribution, stream, column == hot);
      store_element(tensor.dtype, bytes, row * columns + column, kept * value);
    }
  }
}

}  // namespace verifier
