#include "verifier/draws/distributions.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <tuple>
#include <utility>

#include "verifier/draws/elements.h"
#include "verifier/formulas/content.h"

namespace verifier::draws {
namespace {
using benchsuite::Init;

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
    {Distribution::moderate, "moderate"},
    {Distribution::simple, "simple"},
};

constexpr unsigned kKindShift = 62, kInputShift = 56;  // bits of a key
constexpr uint64_t kMostInputs = 64;
constexpr uint64_t kSharedBySimple = uint64_t{15} << 52;  // bits of the keys of a simple draw: see formulas/simple.h
constexpr unsigned kFullSignificand = 2;                  // of exact_products, see formulas::exact_factor

// Whole numbers, and sorted ones, which are mostly places or lengths.
bool is_counted(const benchsuite::Tensor& tensor) {
  return tensor.holds_integers() || tensor.init.has_structured_rows();
}

bool takes_any_number(const benchsuite::Tensor& tensor) {
  return !core::is_floating(tensor.dtype) || tensor.init.kind == Init::normal || tensor.init.is_triangular();
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
// Does it take exponentials, as softmax does? Its description or its call of PyTorch says so.
bool names_one_of(const benchsuite::Problem& problem, std::initializer_list<const char*> names) {
  return std::ranges::any_of(names,
                             [&](const char* name) { return problem.json_text.find(name) != std::string::npos; });
}
bool takes_exponentials(const benchsuite::Problem& problem) {
  return names_one_of(problem, {"exp(", "softmax", "_attention("});
}
bool is_unbounded(const benchsuite::Tensor& tensor) {
  return core::is_floating(tensor.dtype) && tensor.init.kind == Init::normal;
}
}  // namespace

bool shows_at_few_scales(const benchsuite::Problem& problem) {
  return takes_exponentials(problem) || names_one_of(problem, {"gelu(", "silu(", "tanh(", "erf("});
}

std::optional<Distribution> far_for(const benchsuite::Problem& problem) {
  if (!takes_exponentials(problem) || std::ranges::none_of(problem.inputs, is_unbounded)) return std::nullopt;
  const auto floats = std::ranges::count_if(problem.inputs, [](const benchsuite::Tensor& tensor) {
    return core::is_floating(tensor.dtype) && !tensor.holds_integers();
  });
  return floats > 1 ? Distribution::far_rows : Distribution::far_elements;
}

std::vector<Distribution> adversarial_for(const benchsuite::Problem& problem) {
  const auto is_given = [](const benchsuite::Tensor& tensor) { return tensor.init.kind == Init::given; };
  const auto drawn_as = [&](bool integers) {
    return std::ranges::any_of(problem.inputs, [&](const benchsuite::Tensor& tensor) {
      return !is_given(tensor) && tensor.holds_integers() == integers;
    });
  };
  if (std::ranges::all_of(problem.inputs, is_given)) return {Distribution::ordinary};
  if (!drawn_as(false))
    return {Distribution::patchwork, Distribution::one_value, Distribution::regular,
            Distribution::ties,      Distribution::simple,    Distribution::ordered};
  std::vector<Distribution> chosen{Distribution::patchwork, Distribution::row_scales, Distribution::offset,
                                   Distribution::spikes,    Distribution::one_hot,    Distribution::ties,
                                   Distribution::denormals, Distribution::one_scale,  Distribution::moderate,
                                   Distribution::tiny,      Distribution::regular,    Distribution::simple,
                                   Distribution::ordered};
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

uint64_t without_input(uint64_t key) { return key << 8 >> 8; }

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
  if (distribution == Distribution::simple) {
    return with_kind((key & ~kSharedBySimple) | (draw_key & kSharedBySimple), kind);
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
      const bool one_number = draw_key >> kKindShift == static_cast<uint64_t>(formulas::Simple::one_number);
      const uint64_t of_eight = keys.below(8);
      if (of_eight < 3) return Distribution::ordinary;
      return of_eight < 7 && !one_number ? Distribution::simple : Distribution::spikes;
    }
    // Problems normalise their largest or only input, and a row of one number has no variance.
    const auto is_larger = [&](const benchsuite::Tensor& other) {
      return other.elements(axes) > problem.inputs[index].elements(axes);
    };
    const bool one_number = draw_key >> kKindShift == static_cast<uint64_t>(formulas::Simple::one_number);
    const bool may_be = problem.inputs[index].holds_integers() || std::ranges::any_of(problem.inputs, is_larger);
    return one_number && !may_be ? Distribution::ordinary : distribution;
  }
  const bool far_f16 = distribution == Distribution::offset && formulas::is_far_offset(draw_key) &&
                       std::ranges::count(problem.inputs, core::DType::f16, &benchsuite::Tensor::dtype) > 0;
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
  if (distribution == Distribution::moderate) return shows_at_few_scales(problem) ? 4 : 1;
  const bool twice = distribution == Distribution::patchwork || distribution == Distribution::ordered ||
                     distribution == Distribution::one_scale;
  if (twice) return 2;
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
  if (tensor.holds_integers() || floats < 2 || terms <= kFewTerms) return number;
  const double most = largest_of(core::DType::f32) / 16 / terms;  // twice the number is drawn, too
  return std::clamp(number, -most, most);
}

bool counts_to(const benchsuite::Problem& problem, const core::Bindings& axes, double number) {
  return std::ranges::any_of(problem.inputs, [&](const benchsuite::Tensor& tensor) {
    return is_counted(tensor) && number <= static_cast<double>(tensor.init.most.eval(axes));
  });
}

}  // namespace verifier::draws
