#include "verifier/verdicts/bound.h"

#include <algorithm>
#include <cstdlib>

#include "core/error.h"

namespace verifier::verdicts {
namespace {
using core::DType;

constexpr double kRefusedBelow = 0.95;     // of the floor
constexpr double kSuspiciousBelow = 1.1;   // of the floor
constexpr double kSuspiciousSpeedUp = 10;  // over the incumbent

// Tensor cores multiply 8 bits from sm_89 on, twice as fast as 16; before, kernels widen them.
double f8_flop_s(const Calibration& calibration) {
  const bool has_f8 =
      calibration.architecture.starts_with("sm_") && std::atoi(calibration.architecture.c_str() + 3) >= 89;
  return calibration.tensor_f16_flop_s * (has_f8 ? 2 : 1);
}

// Products of whole numbers of 8 bits: twice as fast as of f16 since sm_80. Other sums of integers have no peak.
std::optional<double> whole_flop_s(const benchsuite::Problem& problem, const Calibration& calibration) {
  const bool has_i8 = std::ranges::count(problem.inputs, DType::i8, &benchsuite::Tensor::dtype) > 0;
  if (!has_i8 || !is_product(problem.kind) || !calibration.architecture.starts_with("sm_")) return std::nullopt;
  return 2 * calibration.tensor_f16_flop_s;
}

// An f32 is the sum of three bf16, and six of the nine products of pieces make one of all 24 bits (kw/pieces.cuh).
constexpr double kProductsOfPieces = 6;
double product_flop_s(const Calibration& calibration) {
  return std::max(calibration.fp32_flop_s, calibration.tensor_bf16_flop_s / kProductsOfPieces);
}

double peak_for(DType input, const benchsuite::Problem& problem, const Calibration& calibration) {
  switch (input) {
    case DType::f16:
      return calibration.tensor_f16_flop_s;
    case DType::bf16:
      return calibration.tensor_bf16_flop_s;
    case DType::f8e4m3:
    case DType::f8e5m2:
      return f8_flop_s(calibration);
    case DType::f64:
      return calibration.fp64_flop_s;
    default:
      if (problem.contract.tf32) return calibration.tensor_tf32_flop_s;
      return is_product(problem.kind) ? product_flop_s(calibration) : calibration.fp32_flop_s;
  }
}

double time_us(double bytes, double gb_s) { return bytes / gb_s * 1e-3; }

double bytes_of(const std::vector<benchsuite::Tensor>& tensors, const core::Bindings& axes) {
  double bytes = 0;
  for (const benchsuite::Tensor& tensor : tensors) bytes += static_cast<double>(tensor.bytes(axes));
  return bytes;
}

const benchsuite::Workload& workload_of(const benchsuite::Problem& problem, const std::string& name) {
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (workload.name == name) return workload;
  }
  throw core::SystemError("a time was measured for the workload " + name + ", which " + problem.name +
                          " does not have");
}
}  // namespace

std::optional<double> peak_flop_s(const benchsuite::Problem& problem, const core::Bindings& axes,
                                  const Calibration& calibration) {
  if (!core::is_floating(problem.contract.accumulate)) return whole_flop_s(problem, calibration);
  if (problem.contract.accumulate == DType::f64) return calibration.fp64_flop_s;
  double peak = calibration.fp32_flop_s;
  int64_t most = 0;
  for (const benchsuite::Tensor& input : problem.inputs) {
    const int64_t elements = input.elements(axes);
    if (!core::is_floating(input.dtype) || elements < most) continue;
    const double own = peak_for(input.dtype, problem, calibration);
    peak = elements == most ? std::min(peak, own) : own;
    most = elements;
  }
  return peak;
}

Bound bound_of(const benchsuite::Problem& problem, const core::Bindings& axes, const Calibration& calibration,
               const Conditions& conditions) {
  const auto flops = static_cast<double>(problem.cost.flops.eval(axes));
  const auto read = static_cast<double>(problem.cost.bytes_read.eval(axes));
  const auto written = static_cast<double>(problem.cost.bytes_written.eval(axes));
  // A copy's own rate would be passed: what is written last is still in L2 when a kernel ends.
  const double memory_us = time_us(read + written, calibration.fastest_gb_s());
  const std::optional<double> peak = peak_flop_s(problem, axes, calibration);
  const double compute_us = peak ? flops / *peak * 1e6 : 0;

  const auto l2 = static_cast<double>(calibration.l2_bytes);
  const double inputs = std::min(read, bytes_of(problem.inputs, axes));
  const double outputs = std::min(written, bytes_of(problem.outputs, axes));
  const double from_memory = conditions.cold ? inputs : std::max(0.0, inputs - l2);
  const double floor_us = time_us(from_memory + std::max(0.0, outputs - l2), calibration.fastest_gb_s());

  Bound bound;
  bound.nominal_us = std::max(memory_us, compute_us);
  bound.floor_us = conditions.absolute ? std::max(floor_us, calibration.launch_floor_us) : floor_us;
  bound.by_compute = compute_us > memory_us;
  return bound;
}

bool too_fast(double time_us, const Bound& bound) { return !(time_us >= kRefusedBelow * bound.floor_us); }

bool suspicious(double time_us, double speed_up, const Bound& bound) {
  return !(time_us >= kSuspiciousBelow * bound.floor_us) || speed_up > kSuspiciousSpeedUp;
}

Plausibility hold_against_floor(Judgement& judgement, const benchsuite::Problem& problem,
                                const Calibration& calibration, const Conditions& conditions) {
  if (!judgement.measurement || !is_correct(judgement.verdict)) return Plausibility::plausible;
  Plausibility seen = Plausibility::plausible;
  for (WorkloadTiming& timing : judgement.measurement->workloads) {
    const Bound bound = bound_of(problem, workload_of(problem, timing.workload).axes, calibration, conditions);
    timing.bound_us = bound.nominal_us;
    if (too_fast(timing.candidate_us, bound)) {
      judgement.verdict = TooFast{timing.workload, timing.candidate_us, bound.floor_us};
      judgement.measurement.reset();
      return Plausibility::too_fast;
    }
    if (suspicious(timing.candidate_us, timing.speed_up.value, bound)) seen = Plausibility::suspicious;
  }
  return seen;
}

}  // namespace verifier::verdicts
