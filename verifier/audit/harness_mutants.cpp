#include <algorithm>
#include <set>

#include "core/error.h"
#include "verifier/audit/damage.h"
#include "verifier/audit/mutants.h"

namespace verifier::audit {
namespace {
using benchsuite::Problem;
using benchsuite::Tensor;
using core::DType;
using core::Json;

std::string text_of(const std::string& expression) { return "(" + expression + ")"; }
std::string rows_of(const Tensor& tensor) {
  std::string rows = "1";
  for (size_t i = 0; i + 1 < tensor.shape.size(); ++i) rows += " * " + text_of(tensor.shape[i].text());
  return rows;
}
std::string columns_of(const Tensor& tensor) { return tensor.shape.back().text(); }
std::string elements_of(const Tensor& tensor) { return rows_of(tensor) + " * " + text_of(columns_of(tensor)); }
std::string as_int(const std::string& expression) { return "min(max(" + expression + ", 0 - 2147483647), 2147483647)"; }

bool is_floating(const Tensor& tensor) { return core::is_floating(tensor.dtype); }

// Whether y may be x itself: one input, of the output's type and shape, bit for bit, without arithmetic.
bool may_be_copy(const Problem& problem, const Tensor& x, const Tensor& y) {
  const auto same = [](const core::Expr& a, const core::Expr& b) { return a.text() == b.text(); };
  return problem.inputs.size() == 1 && problem.cost.flops.text() == "0" &&
         y.comparison.rule == benchsuite::OutputRule::equal && std::ranges::equal(x.shape, y.shape, same);
}

// Damage to one tensor.
struct Step {
  const Tensor* tensor;
  bool input;
  Damage damage = Damage::none;
  int amount = 0;
  const Tensor* other = nullptr;
};

class Harness {
 public:
  Harness(const Problem& problem, const sandbox::Solution& naive)
      : header_(core::parse_json(naive.header, naive.file)), body_(body_of(naive)) {
    if (!naive.tensor_maps.empty()) {
      throw core::InputError(naive.file, "has tensor maps, which the audit cannot point at a copy",
                             "keep naive.cu plain: pass tensors by name");
    }
    std::set<size_t> sizes;
    for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
      for (const Tensor& tensor : *tensors) sizes.insert(core::size_bytes(tensor.dtype));
    }
    body_ += damage_source({sizes.begin(), sizes.end()});
  }

  Variant variant(const std::string& name, const std::string& what, const std::vector<Step>& steps) const {
    Json header = header_, before = Json::array(), after = Json::array();
    for (const Step& step : steps) {
      const std::string copy = "audit_" + step.tensor->name;
      header["workspace"][copy] = {
          {"bytes", elements_of(*step.tensor) + " * " + std::to_string(core::size_bytes(step.tensor->dtype))}};
      for (Json& launch : header.at("launches")) {
        for (Json& arg : launch.at("args")) {
          if (arg == step.tensor->name) arg = copy;
        }
      }
      (step.input ? before : after).push_back(copy_launch(step, copy));
    }
    for (Json& launch : header.at("launches")) before.push_back(std::move(launch));
    for (Json& launch : after) before.push_back(std::move(launch));
    header["launches"] = std::move(before);
    header["description"] = "made by the problem audit: " + what;
    return {name, what, Must::be_refused, Equality::never, false, "", body_, make_solution(header, body_, name)};
  }

 private:
  static Json copy_launch(const Step& step, const std::string& copy) {
    const Tensor& tensor = *step.tensor;
    const Tensor& other = step.other != nullptr ? *step.other : tensor;
    const bool drawn_integers = step.input && !is_floating(tensor);
    const auto number = [](int value) { return std::to_string(value); };
    return {{"kernel", "audit_copy_" + std::to_string(core::size_bytes(tensor.dtype))},
            {"grid", {"min(ceil_div(" + elements_of(tensor) + ", 256), 1024)", 1, 1}},
            {"block", {256, 1, 1}},
            {"args",
             {step.input ? tensor.name : copy,
              step.other != nullptr ? other.name
              : step.input          ? tensor.name
                                    : copy,
              step.input ? copy : tensor.name, rows_of(tensor), columns_of(tensor), as_int(elements_of(other)),
              number(static_cast<int>(step.damage)), number(step.amount), number(damage_format(tensor.dtype)),
              drawn_integers ? as_int(tensor.init.least.text()) : "0"}}};
  }

  Json header_;
  std::string body_;
};

// A lower precision, by the bits of its significand.
struct Precision {
  int bits;
  const char* name;
};
std::vector<Precision> lower_precisions(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return {{23, "fp32"}, {10, "TF32"}};
    case DType::f32:
      return {{10, "TF32"}, {7, "bf16"}};
    case DType::f16:
      return {{7, "bf16"}, {3, "fp8"}};
    case DType::bf16:
      return {{3, "fp8"}};
    case DType::f8e4m3:
      return {{2, "f8e5m2"}};
    case DType::f8e5m2:
      return {{1, "fp4"}};
    default:
      return {};
  }
}

// Advice for a problem that lets a mutant pass.
std::string advice_against(Damage damage) {
  switch (damage) {
    case Damage::rounded:
      return "this precision passes: naive errs too much, or little of it reaches the outputs; make naive.cu more "
             "precise, "
             "or allow this in the contract";
    case Damage::nothing_written:
    case Damage::end_not_written:
    case Damage::nan_in_one:
    case Damage::one_doubled:
    case Damage::some_off:
      return "naive.cu is so far from reference.cu that anything passes: one of the two is wrong";
    case Damage::zeros:
    case Damage::typical:
    case Damage::other:
      return "draw inputs (\"init\") for which outputs differ by far more than their tolerance, and check that "
             "naive.cu "
             "is near reference.cu";
    case Damage::finite_only:
      return "set \"nan\": false in the contract if NaN and infinity have no meaning";
    default:
      return "add a test shape or inputs that reveal it: several rows, odd lengths, no part zero";
  }
}

class Maker {
 public:
  Maker(const Problem& problem, const sandbox::Solution& naive) : problem_(problem), harness_(problem, naive) {}

  std::vector<Variant> make() {
    control();
    for (const Tensor& output : problem_.outputs) of_output(output);
    for (const Tensor& input : problem_.inputs) of_input(input);
    return std::move(variants_);
  }

 private:
  Variant& add(const Tensor& tensor, bool input, const std::string& name, const std::string& what, Damage damage,
               int amount = 0, const Tensor* other = nullptr) {
    variants_.push_back(harness_.variant(tensor.name + ": " + name, what, {{&tensor, input, damage, amount, other}}));
    variants_.back().advice = advice_against(damage);
    return variants_.back();
  }

  void control() {
    std::vector<Step> steps;
    for (const Tensor& tensor : problem_.inputs) steps.push_back({&tensor, true});
    for (const Tensor& tensor : problem_.outputs) steps.push_back({&tensor, false});
    variants_.push_back(harness_.variant("control", "naive between copies that damage nothing", steps));
    variants_.back().must = Must::be_accepted;
    variants_.back().advice = "naive.cu is not right at some shape or draw: compare it with reference.cu there";
  }

  void of_output(const Tensor& y) {
    const std::string& n = y.name;
    add(y, false, "nothing written", n + " is never written", Damage::nothing_written);
    add(y, false, "zeros", n + " is zero everywhere", Damage::zeros);
    add(y, false, "one off", "one element of " + n + " is doubled or one more", Damage::one_doubled);
    add(y, false, "1 % off", "one element of " + n + " in 97 is off by a little", Damage::some_off,
        bit_of_one_percent(y));
    if (is_floating(y)) add(y, false, "one NaN", "one element of " + n + " is NaN", Damage::nan_in_one);
    for (const Tensor& x : problem_.inputs) {
      if (x.dtype != y.dtype || may_be_copy(problem_, x, y)) continue;
      add(y, false, "copy of " + x.name, n + " is " + x.name + ", from the beginning again where it is shorter",
          Damage::other, 0, &x);
    }
    rounded(y, false);
    const auto single = [&](const benchsuite::Workload& workload) { return y.elements(workload.axes) == 1; };
    if (std::all_of(problem_.workloads.begin(), problem_.workloads.end(), single)) return;
    add(y, false, "end not written", "the last sixteenth of " + n + " is not written", Damage::end_not_written);
    add(y, false, "constant", n + " is everywhere the median of its first elements", Damage::typical);
    add(y, false, "end zeros", "the last sixteenth of " + n + " is zero", Damage::end_zeros).equality = Equality::bits;
    add(y, false, "end repeated", "the last sixteenth of " + n + " is the one before it", Damage::end_repeated)
        .equality = Equality::bits;
    add(y, false, "shifted", "each element of " + n + " is the next one", Damage::shifted).equality = Equality::nearly;
    if (y.shape.size() < 2) return;
    add(y, false, "rows swapped", "rows of " + n + " are swapped in pairs", Damage::rows_swapped).equality =
        Equality::nearly;
    add(y, false, "transposed", n + " is written in the other order of its dimensions", Damage::transposed).equality =
        Equality::nearly;
    add(y, false, "first row", "the first row of " + n + " is repeated in all rows", Damage::first_row).equality =
        Equality::nearly;
  }

  void of_input(const Tensor& x) {
    const std::string& n = x.name;
    add(x, true, "ignored", "zeros, or the least value, are used for " + n, Damage::zeros);
    add(x, true, "row ends skipped", "the last 1 % of each row of " + n + " counts as zeros", Damage::row_ends_zeros)
        .equality = Equality::bits;
    if (x.shape.size() > 1) {
      add(x, true, "last row skipped", "the last row of " + n + " counts as zeros", Damage::last_row_zeros).equality =
          Equality::bits;
    }
    for (const Tensor& other : problem_.inputs) {
      if (&other == &x || other.dtype != x.dtype) continue;
      add(x, true, other.name + " instead", other.name + " is read where " + n + " should be", Damage::other, 0,
          &other);
    }
    rounded(x, true);
    if (is_floating(x) && problem_.contract.nan) {
      add(x, true, "finite only", "NaN and infinity in " + n + " count as zeros", Damage::finite_only).equality =
          Equality::bits;
    }
  }

  void rounded(const Tensor& tensor, bool input) {
    const std::string what = input ? " is rounded to " : " is computed, then rounded to ";
    if (!is_floating(tensor)) {
      if (!input) return;
      add(tensor, true, "lowest bit lost", "the lowest bit of " + tensor.name + " is lost", Damage::rounded).equality =
          Equality::bits;
      return;
    }
    const int kept_in_sums = significand_bits(problem_.contract.accumulate);
    const bool tf32 = input && problem_.contract.tf32;
    for (const Precision& precision : lower_precisions(tensor.dtype)) {
      if (precision.bits > finest_bits_shown(problem_)) continue;
      if ((kept_in_sums > 0 && precision.bits >= kept_in_sums) || (tf32 && precision.bits >= 10)) continue;
      add(tensor, input, std::string("in ") + precision.name,
          tensor.name + what + std::to_string(precision.bits) + " bits of significand", Damage::rounded,
          significand_bits(tensor.dtype) - precision.bits)
          .equality = Equality::bits;
    }
  }

  static int bit_of_one_percent(const Tensor& tensor) {
    const int bits = significand_bits(tensor.dtype);
    return bits > 20 ? bits - 7 : std::max(bits - 5, 1);
  }

  const Problem& problem_;
  Harness harness_;
  std::vector<Variant> variants_;
};
}  // namespace

int finest_bits_shown(const Problem& problem) {
  constexpr int kBeyondTheOutputs = 4;
  int most = 0;
  for (const Tensor& output : problem.outputs) {
    if (!core::is_f8(output.dtype)) return significand_bits(DType::f64);
    most = std::max(most, significand_bits(output.dtype));
  }
  return most + kBeyondTheOutputs;
}

std::vector<Variant> harness_mutants(const Problem& problem, const sandbox::Solution& naive) {
  return Maker(problem, naive).make();
}

}  // namespace verifier::audit
