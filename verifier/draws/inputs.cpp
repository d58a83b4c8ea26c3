#include "verifier/draws/inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "verifier/draws/elements.h"
#include "verifier/draws/patches.h"
#include "verifier/formulas/structures.h"
#include "verifier/statistics/random.h"

namespace verifier::draws {
namespace {
using benchsuite::Init;
using core::DType;

using formulas::FillArgs;
using formulas::Patch;
using formulas::Purpose;
using formulas::Quad;

// A dtype that ends so soon that draws keep to small numbers.
bool is_narrow(const benchsuite::Tensor& tensor) { return tensor.dtype == DType::f16 || core::is_f8(tensor.dtype); }

// The size of outliers. A sixteenth of the largest number leaves honest kernels room for a factor like
// log2(e).
double most_size(const benchsuite::Tensor& tensor) {
  const double largest = largest_of(tensor.dtype) / (is_narrow(tensor) ? 1 : 16);
  return tensor.init.largest > 0 ? std::min(largest, tensor.init.largest) : largest;
}

// A named draw goes up to twice the number; log2(e) times that may overflow, once it may not.
double most_named(const benchsuite::Tensor& tensor) {
  const double largest = largest_of(tensor.dtype) / 3;
  return tensor.init.largest > 0 ? std::min(largest, tensor.init.largest / 2) : largest;
}

// The size of a draw of extremes. Its rows may all meet in one sum, with factors and both signs: no order of their
// addition overflows. Large sizes are likelier: where a maximum wrongly starts at -1e30, only they show it.
double extreme_size(const benchsuite::Tensor& tensor, int64_t elements, double unit) {
  const double largest_sum = is_narrow(tensor) ? largest_of(DType::f32) : largest_of(tensor.dtype);
  const double most = std::min(most_size(tensor) / 2, largest_sum / (8 * static_cast<double>(elements)));
  return std::pow(most, 1 - unit * unit);
}

// Stores an integer in any dtype, without the way through double.
void store_integer(DType dtype, std::span<std::byte> bytes, size_t index, int64_t value) {
  if (dtype == DType::i64) {
    std::memcpy(bytes.data() + index * sizeof value, &value, sizeof value);
  } else {
    store_element(dtype, bytes, index, static_cast<double>(value));
  }
}

void fill_integers(std::span<std::byte> bytes, DType dtype, const FillArgs& args) {
  for (int64_t quad = 0; quad * 4 < args.elements; ++quad) {
    const Quad first = drawn_for(Purpose::value_of_quad, quad, args.key),
               second = drawn_for(Purpose::more_of_quad, quad, args.key);
    for (int64_t k = 0, i = quad * 4; k < 4 && i < args.elements; ++k, ++i) {
      store_integer(dtype, bytes, static_cast<size_t>(i), integer(args, i, component(first, k), component(second, k)));
    }
  }
}

void fill_structured(std::span<std::byte> bytes, DType dtype, const FillArgs& args) {
  for (int64_t i = 0; i < args.elements; ++i) {
    const auto at = static_cast<size_t>(i);
    if (core::is_floating(dtype)) {
      store_element(dtype, bytes, at, formulas::structured_number(args, i));
    } else {
      store_integer(dtype, bytes, at, formulas::structured_integer(args, i));
    }
  }
}

// The common case in a tight loop: timing draws megabytes of these for every launch.
void fill_ordinary_f32(std::span<std::byte> bytes, const FillArgs& args) {
  const bool uniform = args.kind == static_cast<int64_t>(Init::uniform);
  const auto scale = static_cast<float>(args.scale);
  const statistics::NormalQuantile normal;
  for (int64_t quad = 0; quad * 4 < args.elements; ++quad) {
    const Quad drawn = drawn_for(Purpose::value_of_quad, quad, args.key);
    for (int64_t k = 0, i = quad * 4; k < 4 && i < args.elements; ++k, ++i) {
      const uint32_t number = component(drawn, k);
      const float value = uniform ? static_cast<float>(args.low + (args.high - args.low) * formulas::unit_of(number))
                                  : scale * normal(number);
      std::memcpy(bytes.data() + static_cast<size_t>(i) * sizeof value, &value, sizeof value);
    }
  }
}

void fill_floats(std::span<std::byte> bytes, DType dtype, const FillArgs& args) {
  const auto element = args.kind == static_cast<int64_t>(Init::uniform) ? formulas::bounded : formulas::unbounded;
  const bool by_rows = draws_rows(args), wide = dtype == DType::f64;
  const bool asks_second = wide || formulas::asks_second(static_cast<Distribution>(args.distribution));
  const statistics::NormalQuantile normal;
  formulas::Row row{0, 1, 0, false, 0, 0};
  int64_t column = args.columns, rows = 0;
  for (int64_t quad = 0; quad * 4 < args.elements; ++quad) {
    const Quad first = drawn_for(Purpose::value_of_quad, quad, args.key),
               second = asks_second ? drawn_for(Purpose::more_of_quad, quad, args.key) : Quad{};
    for (int64_t k = 0, i = quad * 4; k < 4 && i < args.elements; ++k, ++i, ++column) {
      if (by_rows && column == args.columns) {
        column = 0;
        row = draw_row(args, rows++);
      }
      const uint32_t number = component(first, k);
      const formulas::Chance chance = formulas::chance_of(wide, normal(number), number, component(second, k));
      const double value = formulas::is_in_empty_triangle(args, i) ? 0 : element(args, row, column, chance);
      store_element(dtype, bytes, static_cast<size_t>(i), within_dtype(args, value));
    }
  }
}

void patch(std::span<std::byte> bytes, const benchsuite::Tensor& tensor, const FillArgs& args) {
  const bool integers = tensor.holds_integers(), between_bounds = tensor.init.kind == Init::uniform;
  for (int64_t p = 0; p < args.patch_count; ++p) {
    const Patch& patch = args.patches[p];
    formulas::Row row{0, 1, 0, false, 0, -1};
    for (int64_t number = 0; number < patch.elements(); ++number) {
      const int64_t index = patched_index(args, p, number), column = index % args.columns;
      if (index < 0 || formulas::is_in_empty_triangle(args, index)) continue;
      const auto at = static_cast<size_t>(index);
      if (needs_row(patch) && row.index != index / args.columns) row = draw_row_of_patch(args, index / args.columns);
      const Quad drawn = drawn_for(Purpose::patch, index, args.key);
      const formulas::Chance chance{0, formulas::unit_of(drawn.x), drawn.x, drawn.y};
      if (integers) {
        store_integer(tensor.dtype, bytes, at, patched_integer(args, patch, row, column, chance));
        continue;
      }
      const double value =
          patched(args, patch, row, between_bounds, load_element(tensor.dtype, bytes, at), column, chance);
      store_element(tensor.dtype, bytes, at, within_dtype(args, value));
    }
  }
}

// Draws the lowest quarters of the significand anew, or the lowest bit of 3 or 2. T: the bits of one element.
template <typename T>
void draw_lowest_bits(std::span<std::byte> bytes, DType dtype, unsigned quarters, statistics::Stream& stream) {
  const uint32_t mask = sizeof(T) == 1 ? 1 : (1u << (sizeof(T) == 2 ? 2 : sizeof(T) == 4 ? 7 : 14) * quarters) - 1;
  for (size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    const double value = load_element(dtype, bytes, i);
    const uint32_t drawn = stream.next();
    if (value == 0 || !std::isfinite(value)) continue;
    T bits;
    std::memcpy(&bits, bytes.data() + i * sizeof bits, sizeof bits);
    bits ^= static_cast<T>(drawn & mask);
    std::memcpy(bytes.data() + i * sizeof bits, &bits, sizeof bits);
    const double moved = load_element(dtype, bytes, i);  // of 8 bits, zero and NaN may be next to it
    if (moved == 0 || !std::isfinite(moved)) store_element(dtype, bytes, i, value);
  }
}

// How many rows of a simple draw are one number: each by itself, those along the last dimension but one, or all.
int64_t rows_alike(const FillArgs& args, const benchsuite::Tensor& tensor, const core::Bindings& axes) {
  const size_t rank = tensor.shape.size();
  const int64_t rows = args.elements / args.columns, inner = rank > 1 ? tensor.shape[rank - 2].eval(axes) : 1;
  statistics::Keys keys(statistics::one_way(args.key));
  return std::array{int64_t{1}, int64_t{1}, inner, rows}[keys.below(4)];
}
// About how many rows meet in one sum: all, or those along the longest dimension.
int64_t rows_of_a_sum(const FillArgs& args, const benchsuite::Tensor& tensor, const core::Bindings& axes) {
  int64_t longest = 1;
  for (size_t i = 0; i + 1 < tensor.shape.size(); ++i) longest = std::max(longest, tensor.shape[i].eval(axes));
  return statistics::Keys(statistics::one_way(args.key)).coin() ? longest : args.elements / args.columns;
}
}  // namespace

FillArgs fill_args(const benchsuite::Tensor& tensor, const core::Bindings& axes, Distribution distribution,
                   uint64_t key, double number) {
  const benchsuite::InputInit& init = tensor.init;
  const bool floating = core::is_floating(tensor.dtype), between_bounds = init.kind == Init::uniform;
  FillArgs args{};
  args.dtype = static_cast<int64_t>(tensor.dtype);
  args.kind = static_cast<int64_t>(init.kind);
  args.distribution = static_cast<int64_t>(distribution);
  args.elements = tensor.elements(axes);
  args.columns = tensor.shape.back().eval(axes);
  args.scale = init.scale;
  args.low = init.low;
  args.high = init.high;
  args.least = init.least.eval(axes);
  args.most = init.most.eval(axes);
  args.key = distribution == Distribution::alike ? without_input(key) : key;
  args.narrow = is_narrow(tensor);
  args.largest = core::is_f8(tensor.dtype) ? largest_of(tensor.dtype) : 0;
  if (floating) {
    args.significand = significand_bits(tensor.dtype);
    args.least_normal = least_normal(tensor.dtype);
    args.most_size = most_size(tensor);
    args.number = std::clamp(number, -most_named(tensor), most_named(tensor));
    args.extreme = extreme_size(tensor, args.elements, formulas::unit_of(drawn_for(Purpose::few, 0, key).x));
  }
  if (init.is_triangular()) args.matrix_rows = tensor.shape[tensor.shape.size() - 2].eval(axes);
  if (tensor.holds_integers()) args.number = number;
  if (distribution == Distribution::simple) args.rows_alike = rows_alike(args, tensor, axes);
  if (distribution == Distribution::far_rows) args.rows_of_a_sum = rows_of_a_sum(args, tensor, axes);
  std::copy_n(std::array<double, 4>{NAN, INFINITY, -INFINITY, -NAN}.begin(), 4, args.special);
  if (tensor.init.has_structured_rows()) return args;
  if (distribution == Distribution::ordered || distribution == Distribution::named) {
    const auto effect =
        distribution == Distribution::ordered ? formulas::Effect::in_order : formulas::Effect::about_number;
    const int64_t rows = (args.elements + args.columns - 1) / args.columns;
    args.patches[args.patch_count++] = {static_cast<int64_t>(effect), 0, rows, 1, 0, args.columns, 0};
  }
  const bool takes_stray = floating && !tensor.holds_integers();
  if (distribution == Distribution::patchwork || distribution == Distribution::alike ||
      (distribution == Distribution::stray && takes_stray)) {
    draw_patches(args, between_bounds, statistics::Keys(statistics::one_way(key)));
  }
  return args;
}

void fill_input(std::span<std::byte> bytes, const benchsuite::Tensor& tensor, const core::Bindings& axes,
                Distribution distribution, uint64_t key, double number) {
  const FillArgs args = fill_args(tensor, axes, distribution, key, number);
  const bool plain = is_disguise(distribution) && args.grain == 0 && !tensor.init.is_triangular();
  if (tensor.init.has_structured_rows()) {
    fill_structured(bytes, tensor.dtype, args);
  } else if (tensor.holds_integers()) {
    fill_integers(bytes, tensor.dtype, args);
  } else if (plain && tensor.dtype == DType::f32) {
    fill_ordinary_f32(bytes, args);
  } else {
    fill_floats(bytes, tensor.dtype, args);
  }
  patch(bytes, tensor, args);
}

void jitter_input(std::span<std::byte> bytes, const benchsuite::Tensor& tensor, uint64_t neighbour, uint64_t key) {
  if (tensor.holds_integers() || tensor.init.has_structured_rows()) return;
  statistics::Stream stream(key);
  const unsigned quarters = neighbour % 2 == 0 ? 1 : 2;
  switch (core::size_bytes(tensor.dtype)) {
    case 1:
      return draw_lowest_bits<uint8_t>(bytes, tensor.dtype, quarters, stream);
    case 2:
      return draw_lowest_bits<uint16_t>(bytes, tensor.dtype, quarters, stream);
    case 4:
      return draw_lowest_bits<uint32_t>(bytes, tensor.dtype, quarters, stream);
    default:
      return draw_lowest_bits<uint64_t>(bytes, tensor.dtype, quarters, stream);
  }
}

}  // namespace verifier::draws
