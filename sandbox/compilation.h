// Compiling a candidate: the request, and its result.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/enum_names.h"
#include "core/unique_fd.h"
#include "sandbox/solution.h"

namespace sandbox {

// The cpu device has three builds of every candidate; a GPU has only `fast`.
enum class Build {
  fast,   // optimised
  check,  // instrumented: bounds, races, uninitialised shared memory, alignment
  cover,  // tells which of its lines have run
};
KW_ENUM_NAMES(Build, fast, check, cover)

// The language that the cpu device takes a source for. In all of them, one source may serve CUDA and HIP.
enum class Dialect {
  cuda,   // warps of 32 lanes
  hip,    // wavefronts of 64 lanes, as on CDNA
  hip32,  // wavefronts of 32 lanes, as on RDNA
};
KW_ENUM_NAMES(Dialect, cuda, hip, hip32)

using Macros = std::vector<std::pair<std::string, int64_t>>;  // tunables, as -DNAME=value

struct CompileRequest {
  std::string file;    // the name used in diagnostics
  std::string source;  // CUDA C++
  Macros macros;
  Build build = Build::fast;
};

struct Built {
  core::UniqueFd binary;  // a sealed memory file
  uint64_t binary_bytes = 0;
  std::string binary_hash;  // covers everything that determines the binary's behaviour
  core::UniqueFd ptx;       // a sealed memory file with the PTX text; empty if the device has none
  uint64_t ptx_bytes = 0;
  std::string log;  // warnings, cleaned and cut
  double compile_ms = 0;
  std::map<std::string, int64_t> kernels;  // number of parameters by name
  std::optional<int64_t> registers, shared_bytes, local_bytes,
      spill_bytes;                                // absent if the compiler does not report them
  std::optional<int64_t> scalar_registers, wave;  // on AMD GPUs: of a wavefront, and its lanes
};

// The reason why there is no binary.
enum class Rejection {
  compile_error,  // the source is not valid CUDA C++
  unsupported,    // valid, but this device cannot execute it
  forbidden,      // uses a construct that no honest kernel needs
  limit,          // too large or too slow to compile
};
KW_ENUM_NAMES(Rejection, compile_error, unsupported, forbidden, limit)

struct Rejected {
  Rejection reason;
  std::string message;          // one sentence
  std::optional<int64_t> line;  // in the solution file, 1-based
  std::string log;              // compiler diagnostics, cleaned and cut to 8 KiB
};

using Compilation = std::variant<Built, Rejected>;

// Parses the solution in a request's source; nullopt for our own sources, which have no launch plan.
std::optional<Solution> solution_of(const CompileRequest& request);

// Rejects a kernel that no launch of the plan names, so that every kernel has been inspected. Missing kernels and wrong
// arguments are reported later, when the plan is prepared.
std::optional<Rejected> refuse_stray_kernel(const Solution& solution, const std::map<std::string, int64_t>& kernels);

}  // namespace sandbox
