// For tests of exports: packages of shipped and hand-written kernels with made-up results.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "benchsuite/catalogue.h"
#include "core/paths.h"
#include "core/text.h"
#include "results/archive/archive_fixture.h"
#include "results/exporting/choosing.h"
#include "results/exporting/projects.h"
#include "sandbox/naive_solution.h"

namespace results::exporting::test {
using namespace archive;
using namespace archive::test;

inline const std::map<std::string, benchsuite::Problem>& shipped_problems() {
  static const auto problems = benchsuite::load_problems(core::installed_paths().problems());
  return problems;
}

inline ExportData export_data() {
  const core::Paths paths = core::installed_paths();
  return {paths.exports(), paths.licence(), paths.device_headers() / "kw_prelude.h"};
}

// The outcome of a made-up attempt.
struct Made {
  std::string device = "cuda NVIDIA H200", architecture = "sm_90a";
  verifier::verdicts::Effort effort = verifier::verdicts::Effort::confirm;
  verifier::verdicts::Verdict verdict = verifier::verdicts::Correct{12, 0.25, true};
  std::map<std::string, double> speed_ups = {};  // by bench workload; empty: 2 at each one of the device
  std::string name = "written";
  std::string origin = "seed";
  sandbox::TunableBinding binding = {};  // empty: the default point
};

// The message of the InputError that `run` throws; "" if none.
template <typename Run>
std::string refusal(Run run) {
  try {
    run();
  } catch (const core::InputError& error) {
    return error.what();
  }
  return "";
}

// An archive in its own folder, and functions to fill it.
class ExportArchive {
 public:
  explicit ExportArchive(std::map<std::string, benchsuite::Problem> problems = shipped_problems())
      : problems_(std::move(problems)) {}

  // Adds an attempt and returns its number.
  int64_t add(const std::string& source, const Made& made = {}) {
    const sandbox::Solution solution = sandbox::parse_solution(source, made.name + ".cu");
    const benchsuite::Problem& problem = problems_.at(solution.problem);
    const sandbox::Solution naive = sandbox::naive_solution(problem);
    const int64_t against =
        archive_.add_candidate(archive_.add_solution({&naive, "naive", "naive", {}}), sandbox::default_binding(naive));
    const int64_t id = archive_.add_solution({&solution, made.name, made.origin, {}});
    NewAttempt attempt;
    attempt.problem = archive_.add_problem(problem, benchsuite::content_hash(problem));
    core::Json facts{{"device", made.device}};
    if (!made.architecture.empty()) facts["architecture"] = made.architecture;
    attempt.environment = archive_.add_environment(facts);
    attempt.candidate =
        archive_.add_candidate(id, made.binding.empty() ? sandbox::default_binding(solution) : made.binding);
    attempt.device = made.device;
    attempt.effort = made.effort;
    attempt.judgement = judgement_of(problem, made);
    if (attempt.judgement.measurement) attempt.against = against;
    return archive_.add_attempt(attempt);
  }
  int64_t add_shipped(const std::string& file, Made made = {}) {
    made.name = std::filesystem::path(file).stem().string();
    return add(core::read_file(core::installed_paths().kernels() / file), made);
  }

  Package choose(const ExportChoice& choice) const { return choose_kernels(archive_, problems_, choice); }
  Package choose(int64_t attempt) const { return choose(ExportChoice{{std::to_string(attempt)}}); }
  const archive::Reader& archive() const { return archive_; }

 private:
  static verifier::verdicts::Judgement judgement_of(const benchsuite::Problem& problem, const Made& made) {
    verifier::verdicts::Judgement judgement;
    judgement.verdict = made.verdict;
    if (!verifier::verdicts::is_correct(made.verdict)) return judgement;
    verifier::verdicts::Measurement measurement;
    measurement.clock = "gpu";
    measurement.outcome = verifier::statistics::Outcome::win;
    for (const benchsuite::Workload& workload : problem.workloads) {
      const std::string backend = made.architecture.empty() ? "cpu" : "cuda";
      if (workload.role != benchsuite::Role::bench || !workload.runs_on(backend)) continue;
      const auto found = made.speed_ups.find(workload.name);
      const double speed_up = found == made.speed_ups.end() ? 2 : found->second;
      measurement.workloads.push_back(
          {workload.name, {}, 100 / speed_up, 100, {speed_up, speed_up * 0.98, speed_up * 1.02}});
    }
    measurement.speed_up = {2, 1.9, 2.1};
    judgement.measurement = measurement;
    return judgement;
  }

  std::map<std::string, benchsuite::Problem> problems_;
  TemporaryArchive folder_;
  archive::Recorder archive_{folder_.file()};
};

// A problem whose truth is reference.py, with what such problems may have; its name is a name in PyTorch, too.
inline benchsuite::Problem reference_problem(const std::string& reference) {
  benchsuite::Problem problem = benchsuite::parse_problem(R"json({
    "name": "gated_f32", "title": "Gated rows", "description": "a \"gate\"",
    "axes": {"K": {"description": "pairs", "min": 2, "max": 8, "multiple_of": 2},
             "M": {"description": "rows", "min": 1, "max": 64}, "D": {"description": "size", "values": [64, 128]}},
    "inputs": {"keep": {"dtype": "bool", "shape": ["M", "D"], "init": {"kind": "integers", "low": 0, "high": 1}},
               "lambda": {"dtype": "f16", "shape": ["M", "D"], "init": {"kind": "normal", "scale": 1}},
               "pairs": {"dtype": "f32", "shape": ["2 * K"], "init": {"kind": "uniform", "low": 0, "high": 1}}},
    "scalars": {"eps": {"dtype": "f32", "value": 0.5}},
    "outputs": {"y": {"dtype": "f32", "shape": ["M + 1", "D"]}, "z": {"dtype": "bool", "shape": ["M"]}},
    "contract": {"accumulate": "f32", "sums": "D * K"},
    "cost": {"flops": "M * D", "bytes_read": "4 * M * D", "bytes_written": "4 * M * D"},
    "workloads": [{"name": "test_3", "role": "test", "axes": {"K": 2, "M": 3, "D": 64}},
                  {"name": "bench_64", "role": "bench", "axes": {"K": 8, "M": 64, "D": 128}}]})json",
                                                          "gated_f32/problem.json");
  problem.files.emplace(benchsuite::kPytorchFile, reference);
  return problem;
}

inline constexpr const char* kGatedKernel = R"cu(/* kernelwright
{"problem": "gated_f32", "launches": [{"kernel": "gated", "grid": ["M"], "block": ["D"],
  "args": ["keep", "lambda", "pairs", "y", "z", "K", "M", "eps"]}]}
*/
#include <cuda_fp16.h>
extern "C" __global__ void gated(const bool* keep, const __half* lambda, const float* pairs, float* y, bool* z, int K, int M,
                                 float eps) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = keep[i] ? __half2float(lambda[i]) * pairs[i % (2 * K)] : eps;
  if (blockIdx.x == 0) y[(int64_t)M * blockDim.x + threadIdx.x] = 0;
  if (threadIdx.x == 0) z[blockIdx.x] = keep[i];
}
)cu";

// A problem with numbers of 8 bits on both sides.
inline benchsuite::Problem requantised_problem() {
  benchsuite::Problem problem = benchsuite::parse_problem(R"json({
    "name": "requantise_f8", "title": "Other 8 bits", "description": "y = scale x in another format",
    "axes": {"N": {"description": "elements", "min": 1, "max": 65536}},
    "inputs": {"x": {"dtype": "f8e5m2", "shape": ["N"], "init": {"kind": "normal", "scale": 1}}},
    "scalars": {"scale": {"dtype": "f32", "value": 0.5}},
    "outputs": {"y": {"dtype": "f8e4m3", "shape": ["N"]}},
    "contract": {"accumulate": "f32"},
    "cost": {"flops": "N", "bytes_read": "N", "bytes_written": "N"},
    "workloads": [{"name": "test_77", "role": "test", "axes": {"N": 77}},
                  {"name": "bench_4096", "role": "bench", "axes": {"N": 4096}}],
    "equivalents": {"pytorch": "(x.float() * scale).to(torch.float8_e4m3fn)"}})json",
                                                          "requantise_f8/problem.json");
  const auto source = [](const std::string& type, const std::string& value) {
    return R"cu(/* kernelwright
{"problem": "requantise_f8", "launches": [{"kernel": "requantise", "grid": ["ceil_div(N, 256)"], "block": [256],
  "args": ["x", "y", "scale", "N"]}]}
*/
#include <cuda_fp8.h>
extern "C" __global__ void requantise(const __nv_fp8_e5m2* x, )cu" +
           type +
           "* y, float scale, int N) {\n  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < N) y[i] = " +
           value + ";\n}\n";
  };
  problem.files = {
      {std::string(benchsuite::kReferenceFile), source("double", "(double)x[i] * (double)scale")},
      {std::string(benchsuite::kNaiveFile), source("__nv_fp8_e4m3", "__nv_fp8_e4m3((float)x[i] * scale)")}};
  return problem;
}

// A solution that uses every field of a launch plan.
inline std::string rich_solution() {
  return R"cu(/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "everything that a plan can say",
  "tunables": {"BLOCK": [128, 256], "BLOCKS": [64, 128]},
  "workspace": {"partial": {"bytes": "4 * max(BLOCKS, 64)"}, "arrived": {"bytes": 4, "zeroed": true}},
  "tensor_maps": {
    "x_map": {"tensor": "x", "box": [64], "when": "N % 64 == 0", "l2_promotion": 128, "fill": "nan"},
    "part_map": {"tensor": "partial", "dtype": "f32", "shape": [32, 2], "box": [32, 1], "swizzle": 128}
  },
  "launches": [
    {"kernel": "parts", "grid": ["BLOCKS", 1, 1], "block": ["BLOCK", 1, 1], "cluster": [2, 1, 1],
     "shared_bytes": "4 * BLOCK", "args": ["x_map", "x", "partial", "arrived", "N", "N % 64 == 0"]},
    {"kernel": "total", "grid": [1], "block": [32], "cooperative": true, "overlaps_previous": true, "when": "N > 64",
     "args": ["partial", "y", "part_map", "-N + ceil_div(N, 2)"]}
  ]
}
*/
#include <cooperative_groups.h>
#include <cuda.h>
#define LANES 32
#define N_OF(i) (i)
namespace { __constant__ float table[2] = {0, 1}; }
struct Launch { int plan; };  // names that also occur in the launch code
__device__ int kernels = 0;
extern "C" {
__global__ void parts(const __grid_constant__ CUtensorMap x_map, const float* x, float* partial, unsigned* arrived, int N,
                      int mapped) {
  extern __shared__ float room[];
  float sum = 0;
  for (int64_t i = blockIdx.x * BLOCK + threadIdx.x; i < N_OF(N); i += BLOCKS * BLOCK) sum += x[i];
  room[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < BLOCK; ++i) sum += room[i];
    partial[blockIdx.x] = sum * table[1];
    atomicAdd(arrived, mapped >= 0 ? 1u : 0u);
  }
  cooperative_groups::this_cluster().sync();
}
}
extern "C" __global__ void total(const float* partial, float* y, const __grid_constant__ CUtensorMap part_map, int unused) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  Launch launch{0};
  float sum = launch.plan;
  for (int i = threadIdx.x; i < BLOCKS; i += LANES) sum += partial[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0 && unused != INT_MAX) y[0] = sum;
}
)cu";
}

}  // namespace results::exporting::test
