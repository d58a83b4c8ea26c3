// Features of a solution, from its text and launch plan, that tell solutions apart in a line.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/prompting/call_counts.h"
#include "benchsuite/problem.h"
#include "sandbox/solution.h"

namespace agent::prompting {

struct CodeFacts {
  // Counted in the source's tokens.
  int barriers = 0;  // __syncthreads and similar
  int shuffles = 0;  // exchanges between the lanes of a warp
  int atomics = 0;   // atomic operations
  CallCounts atomic_calls;
  CallCounts functions;           // calls of exp, log, erf and similar
  int vector_bytes = 0;           // of the widest vector type it names: 16 for float4; 0: none or unknown
  bool explicit_vectors = false;  // own types with the attribute vector_size
  bool wide_struct = false;       // an own aligned struct for wide accesses
  bool shared = false, cooperative_groups = false;
  bool tensor_cores = false, async_copies = false, tma = false, inline_ptx = false;

  // The launches at one shape; empty if the plan does not fit it.
  struct Launch {
    std::string kernel;
    std::array<int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    int64_t shared_bytes = 0;

    double threads() const {
      double product = 1;
      for (size_t d = 0; d < 3; ++d) product *= static_cast<double>(grid[d]) * static_cast<double>(block[d]);
      return product;
    }
  };
  std::vector<Launch> launches;
  int64_t workspace_bytes = 0;

  int64_t threads() const;  // of all launches
};

CodeFacts facts_of(const sandbox::Solution& solution, const sandbox::TunableBinding& binding,
                   const core::Bindings& axes, const benchsuite::Problem& problem);

// "block 256, grid 8192; 16-byte vectors, shuffles, 2 barriers". Quotes no names of the candidate's except kernels'.
std::string distinguishing_line(const CodeFacts& facts);

// The first bench workload of the backend; null if there is none.
const benchsuite::Workload* first_bench(const benchsuite::Problem& problem, const std::string& backend);

}  // namespace agent::prompting
