// For tests of problem.json: a problem, and the errors for changes of it.
#pragma once

#include <string>

#include "benchsuite/problem.h"
#include "core/error.h"
#include "core/strict_json.h"

namespace benchsuite::test {
using core::Json;

inline const char* const kProblem = R"({
  "name": "scale", "title": "Scaling", "description": "y[m, n] = x[m, n] * w[i[m]]",
  "axes": {"M": {"description": "rows", "min": 1, "max": 4096},
           "N": {"description": "columns", "min": 4, "max": 1024, "multiple_of": 4}},
  "inputs": {"x": {"dtype": "f32", "shape": ["M", "N"], "init": {"kind": "normal", "scale": 1}},
             "w": {"dtype": "f16", "shape": ["N"], "init": {"kind": "uniform", "low": -1, "high": 1}},
             "i": {"dtype": "i32", "shape": ["M"], "init": {"kind": "integers", "low": 0, "high": "N - 1"}}},
  "outputs": {"y": {"dtype": "f32", "shape": ["M", "N"]}, "s": {"dtype": "i32", "shape": [1, "2 * M"]}},
  "contract": {"accumulate": "f32", "nan": true},
  "cost": {"flops": "M * N", "bytes_read": "4 * M * N", "bytes_written": "4 * M * N"},
  "workloads": [{"name": "small", "role": "test", "axes": {"M": 3, "N": 8}},
                {"name": "gpu", "role": "bench", "axes": {"M": 4096, "N": 1024}, "devices": ["cuda", "hip"]},
                {"name": "cpu", "role": "bench", "axes": {"M": 64, "N": 64}, "devices": ["cpu"]}]
})";

inline std::string problem_refusal(const Json& json) {
  try {
    parse_problem(json.dump(), "p.json");
  } catch (const core::InputError& error) {
    return error.what();
  }
  return "accepted";
}

// The error for kProblem after replacing (or adding) the value at `pointer`.
inline std::string refusal_with(const std::string& pointer, const Json& value) {
  Json json = Json::parse(kProblem);
  json[Json::json_pointer(pointer)] = value;
  return problem_refusal(json);
}

}  // namespace benchsuite::test
