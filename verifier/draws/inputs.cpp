#include "verifier/draws/inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "verifier/draws/elements.h"
#include "verifier/statistics/random.h"

namespace verifier::draws {
namespace {
using benchsuite::Init;
using benchsuite::InputInit;
using core::DType;

constexpr std::pair<Distribution, std::string_view> kDistributions[] = {
    {Distribution::ordinary, "ordinary"},   {Distribution::row_scales, "row_scales"},
    {Distribution::offset, "offset"},       {Distribution::spikes, "spikes"},
    {Distribution::one_hot, "one_hot"},     {Distribution::ties, "ties"},
    {Distribution::denormals, "denormals"}, {Distribution::near_overflow, "near_overflow"},
    {Distribution::exact, "exact"},         {Distribution::exact_products, "exact_products"},
    {Distribution::one_value, "one_value"}, {Distribution::non_finite, "non_finite"},
};

constexpr unsigned kKindShift = 62;
constexpr uint32_t kRare = 64;  // one element in so many is a spike, or not finite

double least_normal(DType dtype) { return dtype == DType::f16 ? 0x1p-14 : dtype == DType::f64 ? 0x1p-1022 : 0x1p-126; }

// What all elements of one row share.
struct Row {
  size_t hot = 0;     // the one that is not 0 in a one-hot or exact_products draw
  double scale = 1;   // of a row_scales draw
  uint32_t kind = 0;  // which non-finite values it gets: NaN, inf, -inf, or all of them
};
Row draw_row(DType dtype, Distribution distribution, size_t columns, uint32_t kind, statistics::Stream& stream) {
  Row row;
  if (distribution == Distribution::one_hot || distribution == Distribution::exact_products) {
    row.hot = stream.below(columns);
  }
  row.kind = kind % kNonFiniteKinds;
  if (distribution == Distribution::row_scales) {
    row.scale = std::pow(10.0, (dtype == DType::f16 ? 3 : 6) * (stream.unit() - 0.5));
  }
  return row;
}

double non_finite(uint32_t kind, statistics::Stream& stream) {
  constexpr std::array<double, 3> kValues{NAN, INFINITY, -INFINITY};
  return kValues[kind < kValues.size() ? kind : stream.below(kValues.size())];
}

constexpr int kMostExact = 32;  // sums of some thousand products of two fit into the 24 bits of f32

// Odd, so that it has all of its bits; with half of the significand's, or all of them where that is short.
double odd_number(DType dtype, statistics::Stream& stream) {
  const unsigned bits = dtype == DType::f16 ? 11 : dtype == DType::bf16 ? 8 : dtype == DType::f32 ? 12 : 26;
  const auto size = static_cast<double>(2 * stream.below(uint64_t{1} << (bits - 1)) + 1);
  return stream.below(2) == 0 ? size : -size;
}

// An element of an input that is N(0, scale) as a rule.
double unbounded(const InputInit& init, DType dtype, Distribution distribution, const Row& row, bool hot,
                 statistics::Stream& stream) {
  const bool narrow = dtype == DType::f16;
  const auto ordinary = [&] { return init.scale * static_cast<double>(stream.normal()); };
  switch (distribution) {
    case Distribution::ordinary:
    case Distribution::one_value:
      return ordinary();
    case Distribution::row_scales:
      return row.scale * ordinary();
    case Distribution::offset:
      return (narrow ? 8 : 100) + ordinary();
    case Distribution::spikes: {
      const double value = ordinary();
      return stream.below(kRare) == 0 ? value * (narrow ? 30 : 1000) : value;
    }
    case Distribution::one_hot:
      return hot ? 1 : 0;
    case Distribution::ties:
      return std::array<double, 3>{-0.5, 0.25, 1.5}[stream.below(3)];
    case Distribution::denormals:
      return least_normal(dtype) * 4 * (stream.unit() - 0.5);
    case Distribution::near_overflow:
      return narrow ? ordinary() : static_cast<double>(stream.normal()) * 1e15;
    case Distribution::exact:
      return static_cast<double>(stream.below(2 * kMostExact + 1)) - kMostExact;
    case Distribution::exact_products:
      return hot ? odd_number(dtype, stream) : 0;
    case Distribution::non_finite: {
      const double value = ordinary();
      return stream.below(kRare) == 0 ? non_finite(row.kind, stream) : value;
    }
  }
  return 0;
}

// An element of an input that is U[low, high): the same ideas between the bounds.
double bounded(const InputInit& init, DType dtype, Distribution distribution, const Row& row, bool hot,
               statistics::Stream& stream) {
  const double width = init.high - init.low, unit = stream.unit();
  switch (distribution) {
    case Distribution::row_scales:
      return init.low + width * unit * std::min(row.scale, 1.0);
    case Distribution::offset:
      return init.high - width * (1 - unit) / 128;
    case Distribution::spikes:
      return init.low + width * unit * (stream.below(kRare) == 0 ? 1 : 1e-3);
    case Distribution::one_hot:
      return init.low + (hot ? width * 0.75 : 0);
    case Distribution::ties:
      return init.low + width * std::floor(unit * 3) / 4;
    case Distribution::denormals:
      if (init.low > 0 || init.high <= 0) break;
      return least_normal(dtype) * 2 * unit;
    case Distribution::exact:
    case Distribution::exact_products: {
      const double least = std::ceil(std::max<double>(init.low, -kMostExact));
      const double most = std::min<double>(std::ceil(init.high) - 1, kMostExact);
      return std::max(least, std::floor(least + (most - least + 1) * unit));
    }
    case Distribution::non_finite:
      if (stream.below(kRare) == 0) return non_finite(row.kind, stream);
      break;
    default:
      break;
  }
  return init.low + width * unit;
}

// Stores an integer in any dtype, without the way through double.
void store_integer(DType dtype, std::span<std::byte> bytes, size_t index, int64_t value) {
  if (dtype == DType::i64) {
    std::memcpy(bytes.data() + index * sizeof value, &value, sizeof value);
  } else {
    store_element(dtype, bytes, index, static_cast<double>(value));
  }
}

void fill_integers(std::span<std::byte> bytes, const benchsuite::Tensor& tensor, const core::Bindings& axes,
                   Distribution distribution, size_t elements, statistics::Stream& stream) {
  const int64_t least = tensor.init.least.eval(axes), most = tensor.init.most.eval(axes);
  const uint64_t count = static_cast<uint64_t>(most) - static_cast<uint64_t>(least) + 1;
  const auto draw = [&] { return static_cast<int64_t>(static_cast<uint64_t>(least) + stream.below(count)); };
  const std::array<int64_t, 3> few{draw(), draw(), draw()};
  for (size_t i = 0; i < elements; ++i) {
    int64_t value = 0;
    switch (distribution) {
      case Distribution::one_value:
        value = few[0];
        break;
      case Distribution::ties:
        value = few[stream.below(few.size())];
        break;
      case Distribution::exact:
      case Distribution::exact_products:
        value = std::clamp<int64_t>(static_cast<int64_t>(stream.below(2 * kMostExact + 1)) - kMostExact, least, most);
        break;
      default:
        value = draw();
    }
    store_integer(tensor.dtype, bytes, i, value);
  }
}

// The common case in a tight loop: timing draws megabytes of these for every launch.
void fill_ordinary_f32(std::span<std::byte> bytes, const InputInit& init, size_t elements, statistics::Stream stream) {
  for (size_t i = 0; i < elements; ++i) {
    const float value = init.kind == Init::uniform
                            ? static_cast<float>(init.low + (init.high - init.low) * stream.unit())
                            : static_cast<float>(init.scale) * stream.normal();
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
}

// Draws the lowest quarters of the significand anew. T: the bits of one element.
template <typename T>
void draw_lowest_bits(std::span<std::byte> bytes, DType dtype, unsigned quarters, statistics::Stream& stream) {
  const uint32_t mask = (1u << (sizeof(T) == 2 ? 2 : sizeof(T) == 4 ? 7 : 14) * quarters) - 1;
  for (size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    const double value = load_element(dtype, bytes, i);
    const uint32_t drawn = stream.next();
    if (value == 0 || !std::isfinite(value)) continue;
    T bits;
    std::memcpy(&bits, bytes.data() + i * sizeof bits, sizeof bits);
    bits ^= static_cast<T>(drawn & mask);
    std::memcpy(bytes.data() + i * sizeof bits, &bits, sizeof bits);
  }
}
}  // namespace

std::string_view name_of(Distribution distribution) {
  for (const auto& [d, name] : kDistributions) {
    if (d == distribution) return name;
  }
  return "";
}

bool is_exact(Distribution distribution) {
  return distribution == Distribution::exact || distribution == Distribution::exact_products;
}

bool rounds_alike(Distribution distribution) {
  return distribution == Distribution::ties || distribution == Distribution::one_value ||
         distribution == Distribution::one_hot || distribution == Distribution::spikes ||
         distribution == Distribution::row_scales;
}

std::vector<Distribution> adversarial_for(const benchsuite::Problem& problem) {
  const auto drawn_as = [&](bool integers) {
    return std::any_of(problem.inputs.begin(), problem.inputs.end(), [&](const benchsuite::Tensor& tensor) {
      return (tensor.init.kind == Init::integers || !core::is_floating(tensor.dtype)) == integers;
    });
  };
  if (!drawn_as(false)) return {Distribution::one_value, Distribution::ties};
  std::vector<Distribution> chosen{Distribution::row_scales, Distribution::offset, Distribution::spikes,
                                   Distribution::one_hot,    Distribution::ties,   Distribution::denormals};
  if (problem.contract.nan) chosen.insert(chosen.begin(), Distribution::non_finite);
  if (drawn_as(true)) chosen.insert(chosen.begin(), Distribution::one_value);
  const bool wide = std::none_of(problem.inputs.begin(), problem.inputs.end(),
                                 [](const benchsuite::Tensor& tensor) { return tensor.dtype == DType::f16; });
  if (wide) chosen.push_back(Distribution::near_overflow);
  if (problem.contract.exact_integers) {
    chosen.insert(chosen.end(), {Distribution::exact, Distribution::exact_products});
  }
  return chosen;
}

uint64_t with_kind(uint64_t key, unsigned kind) {
  return (key & ~(uint64_t{kNonFiniteKinds - 1} << kKindShift)) | uint64_t{kind % kNonFiniteKinds} << kKindShift;
}

uint64_t tensor_key(statistics::Keys& keys, uint64_t draw_key) {
  return with_kind(keys.next(), static_cast<unsigned>(draw_key >> kKindShift));
}

int draws_for(const benchsuite::Problem& problem, const core::Bindings& axes, Distribution distribution) {
  if (distribution != Distribution::non_finite) return 1;
  const bool short_of_rows = std::any_of(problem.inputs.begin(), problem.inputs.end(), [&](const auto& tensor) {
    return core::is_floating(tensor.dtype) &&
           tensor.elements(axes) < int64_t{kNonFiniteKinds} * tensor.shape.back().eval(axes);
  });
  return short_of_rows ? int{kNonFiniteKinds} : 1;
}

void fill_input(std::span<std::byte> bytes, const benchsuite::Tensor& tensor, const core::Bindings& axes,
                Distribution distribution, uint64_t key) {
  const auto elements = static_cast<size_t>(tensor.elements(axes));
  statistics::Stream stream(key);
  if (tensor.init.kind == Init::integers || !core::is_floating(tensor.dtype)) {
    return fill_integers(bytes, tensor, axes, distribution, elements, stream);
  }
  if (distribution == Distribution::ordinary && tensor.dtype == DType::f32) {
    return fill_ordinary_f32(bytes, tensor.init, elements, stream);
  }
  const auto columns = static_cast<size_t>(tensor.shape.back().eval(axes));
  const auto draw = tensor.init.kind == Init::uniform ? bounded : unbounded;
  auto kind = static_cast<uint32_t>(key >> kKindShift);
  for (size_t begin = 0; begin < elements; begin += columns) {
    const Row row = draw_row(tensor.dtype, distribution, columns, kind++, stream);
    for (size_t column = 0; column < columns; ++column) {
      const double value = draw(tensor.init, tensor.dtype, distribution, row, column == row.hot, stream);
      store_element(tensor.dtype, bytes, begin + column, value);
    }
  }
}

void jitter_input(std::span<std::byte> bytes, const benchsuite::Tensor& tensor, uint64_t neighbour, uint64_t key) {
  if (tensor.init.kind == Init::integers || !core::is_floating(tensor.dtype)) return;
  statistics::Stream stream(key);
  const unsigned quarters = neighbour % 2 == 0 ? 1 : 2;
  switch (core::size_bytes(tensor.dtype)) {
    case 2:
      return draw_lowest_bits<uint16_t>(bytes, tensor.dtype, quarters, stream);
    case 4:
      return draw_lowest_bits<uint32_t>(bytes, tensor.dtype, quarters, stream);
    default:
      return draw_lowest_bits<uint64_t>(bytes, tensor.dtype, quarters, stream);
  }
}

}  // namespace verifier::draws
