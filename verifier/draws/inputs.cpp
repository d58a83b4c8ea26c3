#include "verifier/draws/inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <tuple>
#include <utility>

#include "verifier/draws/elements.h"
#include "verifier/draws/patches.h"
#include "verifier/formulas/structures.h"
#include "verifier/statistics/random.h"

namespace verifier::draws {
namespace {
using benchsuite::Init;
using benchsuite::InputInit;
using core::DType;

using formulas::FillArgs;
using formulas::Patch;
using formulas::Purpose;
using formulas::Quad;

constexpr std::pair<Distribution, std::string_view> kDistributions[] = {
    {Distribution::ordinary, "ordinary"},
    {Distribution::row_scales, "row_scales"},
    {Distribution::offset, "offset"},
    {Distribution::spikes, "spikes"},
    {Distribution::one_hot, "one_hot"},
    {Distribution::ties, "ties"},
    {Distribution::denormals, "denormals"},
    {Distribution::one_scale, "one_scale"},
    {Distribution::exact, "exact"},
    {Distribution::exact_products, "exact_products"},
    {Distribution::one_value, "one_value"},
    {Distribution::non_finite, "non_finite"},
    {Distribution::patchwork, "patchwork"},
    {Distribution::stray, "stray"},
    {Distribution::dominant, "dominant"},
    {Distribution::few, "few"},
    {Distribution::extremes, "extremes"},
    {Distribution::regular, "regular"},
    {Distribution::tiny, "tiny"},
    {Distribution::alike, "alike"},
    {Distribution::ordered, "ordered"},
    {Distribution::named, "named"},
    {Distribution::far_elements, "far_elements"},
    {Distribution::far_rows, "far_rows"},
    {Distribution::simple, "simple"},
};

constexpr unsigned kKindShift = 62, kInputShift = 56;  // bits of a key
constexpr uint64_t kMostInputs = 64;
uint64_t without_input(uint64_t key) { return key << 8 >> 8; }  // nor kind
constexpr unsigned kFullSignificand = 2;                        // of exact_products, see formulas::exact_factor

bool draws_integers(const benchsuite::Tensor& tensor) {
  return tensor.init.kind == Init::integers || !core::is_floating(tensor.dtype);
}

// Whole numbers, and sorted ones, which are mostly places or lengths.
bool is_counted(const benchsuite::Tensor& tensor) {
  return draws_integers(tensor) || tensor.init.has_structured_rows();
}

bool takes_any_number(const benchsuite::Tensor& tensor) {
  return !core::is_floating(tensor.dtype) || tensor.init.kind == Init::normal || tensor.init.is_triangular();
}

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
  const bool integers = draws_integers(tensor), between_bounds = tensor.init.kind == Init::uniform;
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
}  // namespace

std::vector<Distribution> all_distributions() {
  std::vector<Distribution> all;
  for (const auto& [distribution, name] : kDistributions) all.push_back(distribution);
  return all;
}

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
         distribution == Distribution::row_scales || distribution == Distribution::regular ||
         distribution == Distribution::simple || distribution == Distribution::ordered ||
         distribution == Distribution::offset || may_overflow(distribution);
}

bool may_overflow(Distribution distribution) {
  return distribution == Distribution::patchwork || distribution == Distribution::extremes ||
         distribution == Distribution::tiny || distribution == Distribution::named;
}

namespace {
// Two inputs that the same key draws alike where they have the same shape.
bool has_inputs_of_one_form(const benchsuite::Problem& problem) {
  const auto form = [](const benchsuite::Tensor& tensor) {
    return std::tuple(tensor.dtype, tensor.init.kind, tensor.shape.size());
  };
  for (auto one = problem.inputs.begin(); one != problem.inputs.end(); ++one) {
    const auto is_like_it = [&](const benchsuite::Tensor& other) { return form(other) == form(*one); };
    if (one->init.kind != Init::given && std::any_of(one + 1, problem.inputs.end(), is_like_it)) return true;
  }
  return false;
}
}  // namespace

namespace {
// Does it take exponentials, as softmax does? Its description or its call of PyTorch says so.
bool takes_exponentials(const benchsuite::Problem& problem) {
  return std::ranges::any_of(std::array{"exp(", "softmax", "_attention("},
                             [&](const char* name) { return problem.json_text.find(name) != std::string::npos; });
}
bool is_unbounded(const benchsuite::Tensor& tensor) {
  return core::is_floating(tensor.dtype) && tensor.init.kind == Init::normal;
}
}  // namespace

std::optional<Distribution> far_for(const benchsuite::Problem& problem) {
  if (!takes_exponentials(problem) || std::ranges::none_of(problem.inputs, is_unbounded)) return std::nullopt;
  const auto floats = std::ranges::count_if(problem.inputs, [](const benchsuite::Tensor& tensor) {
    return core::is_floating(tensor.dtype) && !draws_integers(tensor);
  });
  return floats > 1 ? Distribution::far_rows : Distribution::far_elements;
}

std::vector<Distribution> adversarial_for(const benchsuite::Problem& problem) {
  const auto is_given = [](const benchsuite::Tensor& tensor) { return tensor.init.kind == Init::given; };
  const auto drawn_as = [&](bool integers) {
    return std::ranges::any_of(problem.inputs, [&](const benchsuite::Tensor& tensor) {
      return !is_given(tensor) && draws_integers(tensor) == integers;
    });
  };
  if (std::ranges::all_of(problem.inputs, is_given)) return {Distribution::ordinary};
  if (!drawn_as(false))
    return {Distribution::patchwork, Distribution::one_value, Distribution::regular,
            Distribution::ties,      Distribution::simple,    Distribution::ordered};
  std::vector<Distribution> chosen{Distribution::patchwork, Distribution::row_scales, Distribution::offset,
                                   Distribution::spikes,    Distribution::one_hot,    Distribution::ties,
                                   Distribution::denormals, Distribution::one_scale,  Distribution::tiny,
                                   Distribution::regular,   Distribution::simple,     Distribution::ordered};
  // Their tolerance rests on the few elements that count.
  if (std::all_of(problem.inputs.begin(), problem.inputs.end(), takes_any_number)) {
    chosen.insert(chosen.begin() + 1, Distribution::extremes);
    chosen.insert(chosen.begin() + 5, {Distribution::dominant, Distribution::few});
  }
  if (has_inputs_of_one_form(problem)) chosen.push_back(Distribution::alike);
  if (problem.contract.nan) chosen.insert(chosen.begin(), Distribution::non_finite);
  if (drawn_as(true)) chosen.insert(chosen.begin(), Distribution::one_value);
  const bool whole_numbers = std::ranges::none_of(problem.inputs, [&](const benchsuite::Tensor& tensor) {
    return is_given(tensor) && core::is_floating(tensor.dtype);
  });
  if (problem.contract.exact_integers && whole_numbers) {
    chosen.insert(chosen.end(), {Distribution::exact, Distribution::exact_products});
  }
  if (const auto far = far_for(problem)) chosen.push_back(*far);
  return chosen;
}

uint64_t with_kind(uint64_t key, unsigned kind) {
  return (key & ~(uint64_t{kKinds - 1} << kKindShift)) | uint64_t{kind % kKinds} << kKindShift;
}

uint64_t key_of_one_input(uint64_t key, uint64_t turn) {
  return with_kind(without_input(key) | (turn / kKinds % kMostInputs) << kInputShift,
                   static_cast<unsigned>(turn % kKinds));
}

uint64_t tensor_key(statistics::Keys& keys, uint64_t draw_key, Distribution distribution, size_t index, size_t inputs) {
  const auto kind = static_cast<unsigned>(draw_key >> kKindShift);
  const uint64_t key = keys.next();
  if (distribution == Distribution::alike) {  // the number of the input draws its exception
    return without_input(statistics::one_way(draw_key)) | (index % kMostInputs) << kInputShift;
  }
  if (distribution != Distribution::exact_products) return with_kind(key, kind);
  if (inputs == 1) return with_kind(key, kFullSignificand);
  // Two halves multiply exactly, too, and show whether the product of the lowest bits is there.
  if (inputs > 2 || kind % 2 == 1) return with_kind(key, 0);
  return with_kind(key, kFullSignificand + (kind / 2 + static_cast<unsigned>(index)) % 2);
}

namespace {
// The input that the key of a regular or simple draw names.
size_t input_of(const benchsuite::Problem& problem, uint64_t draw_key) {
  return (draw_key >> kInputShift) % kMostInputs % problem.inputs.size();
}
}  // namespace

Distribution distribution_of(const benchsuite::Problem& problem, const core::Bindings& axes, Distribution distribution,
                             uint64_t draw_key, size_t index) {
  if (distribution == Distribution::regular) {
    // A batch of equal rows has no variance, by which modules that normalise a batch divide.
    const bool equal_rows = draw_key >> kKindShift == static_cast<uint64_t>(formulas::Regular::equal_rows);
    if (problem.pytorch() && equal_rows) return Distribution::ordinary;
    return index == input_of(problem, draw_key) ? distribution : Distribution::ordinary;
  }
  if (distribution == Distribution::far_rows) {  // by the kind of the key, a normal input after the other
    if (!is_unbounded(problem.inputs[index])) return distribution;
    const auto end = problem.inputs.begin() + static_cast<std::ptrdiff_t>(index);
    const auto before = static_cast<uint64_t>(std::count_if(problem.inputs.begin(), end, is_unbounded));
    const auto all = static_cast<uint64_t>(std::ranges::count_if(problem.inputs, is_unbounded));
    return (draw_key >> kKindShift) % all == before ? distribution : Distribution::ordinary;
  }
  if (distribution == Distribution::simple) {
    if (index != input_of(problem, draw_key)) {
      statistics::Keys keys(statistics::one_way(draw_key));
      return keys.coin() ? Distribution::ordinary : Distribution::spikes;
    }
    // What a problem normalises is the largest input, or the only one; a row of one number has no variance.
    const auto is_larger = [&](const benchsuite::Tensor& other) {
      return other.elements(axes) > problem.inputs[index].elements(axes);
    };
    const bool one_number = draw_key >> kKindShift == static_cast<uint64_t>(formulas::Simple::one_number);
    const bool may_be = draws_integers(problem.inputs[index]) || std::ranges::any_of(problem.inputs, is_larger);
    return one_number && !may_be ? Distribution::ordinary : distribution;
  }
  const bool far_f16 = distribution == Distribution::offset && formulas::is_far_offset(draw_key) &&
                       std::ranges::count(problem.inputs, DType::f16, &benchsuite::Tensor::dtype) > 0;
  const bool is_of_one = distribution == Distribution::extremes || distribution == Distribution::tiny || far_f16 ||
                         (distribution == Distribution::named && !is_counted(problem.inputs[index]));
  if (!is_of_one) return distribution;
  statistics::Keys keys(statistics::one_way(draw_key));
  if (distribution == Distribution::tiny && draw_key >> kKindShift == 0) return distribution;
  // A length or an index that has the number shows little where other inputs are far from ordinary.
  const bool is_for_counts = distribution == Distribution::named && std::ranges::any_of(problem.inputs, is_counted);
  if (is_for_counts && keys.coin()) return Distribution::ordinary;
  const auto elements = [&](const benchsuite::Tensor& tensor) { return tensor.elements(axes); };
  const auto largest = std::ranges::max_element(problem.inputs, {}, elements) - problem.inputs.begin();
  const size_t chosen = keys.coin() ? static_cast<size_t>(largest) : keys.below(problem.inputs.size());
  return index == chosen ? distribution : Distribution::ordinary;
}

Distribution draw_disguise(const benchsuite::Problem& problem, statistics::Keys& keys) {
  if (keys.coin()) return Distribution::ordinary;
  return problem.contract.nan && keys.below(4) == 0 ? Distribution::stray : Distribution::patchwork;
}
bool is_disguise(Distribution distribution) {
  return distribution == Distribution::ordinary || distribution == Distribution::patchwork ||
         distribution == Distribution::stray;
}

int64_t ways_of_one_input(const benchsuite::Problem& problem) {
  return static_cast<int64_t>(kKinds * problem.inputs.size());
}

int draws_for(const benchsuite::Problem& problem, const core::Bindings& axes, Distribution distribution) {
  if (distribution == Distribution::patchwork || distribution == Distribution::ordered) return 2;
  if (distribution == Distribution::tiny) return problem.inputs.size() > 1 ? 2 : 1;
  if (distribution == Distribution::regular || distribution == Distribution::simple) {
    const auto shapes = std::ranges::count(problem.workloads, benchsuite::Role::test, &benchsuite::Workload::role);
    return static_cast<int>(std::clamp<int64_t>(ways_of_one_input(problem) / std::max<int64_t>(shapes, 1) + 1, 2, 4));
  }
  if (distribution != Distribution::non_finite) return 1;
  const bool short_of_rows = std::any_of(problem.inputs.begin(), problem.inputs.end(), [&](const auto& tensor) {
    return core::is_floating(tensor.dtype) && tensor.elements(axes) < int64_t{kKinds} * tensor.shape.back().eval(axes);
  });
  return short_of_rows ? int{kKinds} : 1;
}

double number_for(const benchsuite::Problem& problem, const core::Bindings& axes, size_t index, double number) {
  constexpr double kFewTerms = 16;
  const benchsuite::Tensor& tensor = problem.inputs[index];
  const double terms = problem.contract.sums ? static_cast<double>(problem.contract.sums->eval(axes)) : 1;
  const auto floats = std::ranges::count_if(
      problem.inputs, [](const benchsuite::Tensor& input) { return core::is_floating(input.dtype); });
  if (draws_integers(tensor) || floats < 2 || terms <= kFewTerms) return number;
  const double most = largest_of(DType::f32) / 16 / terms;  // twice the number is drawn, too
  return std::clamp(number, -most, most);
}

bool counts_to(const benchsuite::Problem& problem, const core::Bindings& axes, double number) {
  return std::ranges::any_of(problem.inputs, [&](const benchsuite::Tensor& tensor) {
    return is_counted(tensor) && number <= static_cast<double>(tensor.init.most.eval(axes));
  });
}
namespace {
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
  if (draws_integers(tensor)) args.number = number;
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
  const bool takes_stray = floating && !draws_integers(tensor);
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
  } else if (draws_integers(tensor)) {
    fill_integers(bytes, tensor.dtype, args);
  } else if (plain && tensor.dtype == DType::f32) {
    fill_ordinary_f32(bytes, args);
  } else {
    fill_floats(bytes, tensor.dtype, args);
  }
  patch(bytes, tensor, args);
}

void jitter_input(std::span<std::byte> bytes, const benchsuite::Tensor& tensor, uint64_t neighbour, uint64_t key) {
  if (draws_integers(tensor) || tensor.init.has_structured_rows()) return;
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
