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
  bool tensor_cores = false, wgmma = false, ldmatrix = false;
  bool async_copies = false, tma = false, mbarriers = false, inline_ptx = false;
  bool streaming = false;           // loads or stores marked as used once
  bool walks_grid = false;          // reads gridDim, or its grid depends on no axis: blocks take several tiles or rows
  bool padded = false;              // arrays with an extent such as [32 + 1], swizzled tensor maps, or exclusive or
  bool vector_arrays = false;       // local arrays of vectors: a thread has several loads in flight
  bool register_tiles = false;      // the same, or arrays of two and more dimensions
  int stages = 0;                   // of copies in flight, where a constant or tunable names them; 0: unknown
  bool splits_work = false;         // blocks share an output: by clusters, or parts in a workspace
  bool dependent_launches = false;  // programmatic dependent launches

  // The launches at one shape; empty if the plan does not fit it.
  struct Launch {
    std::string kernel;
    std::array<int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    int64_t shared_bytes = 0;

    double blocks() const {
      return static_cast<double>(grid[0]) * static_cast<double>(grid[1]) * static_cast<double>(grid[2]);
    }
    double threads() const {
      double product = blocks();
      for (const int64_t size : block) product *= static_cast<double>(size);
      return product;
    }
  };
  std::vector<Launch> launches;
  int64_t workspace_bytes = 0;

  int64_t threads() const;  // of all launches
  // The launch with the most threads, which does the work; null if the plan does not fit the shape.
  const Launch* main_launch() const;
};

CodeFacts facts_of(const sandbox::Solution& solution, const sandbox::TunableBinding& binding,
                   const core::Bindings& axes, const benchsuite::Problem& problem);

// The launches at one shape; empty if the plan does not fit it.
std::vector<CodeFacts::Launch> launches_at(const sandbox::Solution& solution, const sandbox::TunableBinding& binding,
                                           const core::Bindings& axes, const benchsuite::Problem& problem);

// "block 256, grid 8192; 16-byte vectors, shuffles, 2 barriers". Quotes no names of the candidate's except kernels'.
std::string distinguishing_line(const CodeFacts& facts);

// The first bench workload of the backend; null if there is none.
const benchsuite::Workload* first_bench(const benchsuite::Problem& problem, const std::string& backend);

}  // namespace agent::prompting
