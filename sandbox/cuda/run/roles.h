// Worker roles that the cuda device has beside "run" (sandbox/gpu/run/run_role.h): each opens the device, greets, and
// serves until its owner hangs up.
#pragma once

#include <filesystem>

#include "sandbox/process/channel.h"

namespace sandbox::cuda::run {

// A library worker of a GPU: computes matrix products with cuBLAS or cuBLASLt instead of launching a candidate. It
// holds no candidate code and is not jailed, since libraries load kernels from files on first use.
//
// Requests of its owner:
//   {"op":"about","library":"cublas"|"cublaslt"}       {"name": "cuBLAS 13.0"} or {"missing": why}
//   {"op":"open","library":...,"gemm":["a","b","c"]}    {"process": n} + the judge's end of a channel, served until it
//                                                       hangs up, with the requests of loaded_candidate.h; "go"
//                                                       launches the product and ignores the plan
//   {"op":"close","process":n}                            {"killed": true}
// Throws core::SystemError when there is no such device.
void serve_library_role(process::Channel& owner, int device_index, const std::filesystem::path& cuda_home);

// A process in which a tool of compute-sanitizer or a profiler watches a candidate's launches. It holds nothing secret:
// inputs used nowhere else, and no expected outputs. It is not jailed, since the tool needs files and processes; it
// only launches candidates that were already judged in a jail.
//
// One request of its owner, then the process ends, and the tool writes its report:
//   {"op":"launch","shapes":[{"plan":{...},"inputs":[{"name","bytes"}...],"outputs":[{"name","bytes"}...]}...]}
//   + cubin, then the inputs' content, shape by shape           {"ok": true}, or {"failed": what} after an error
// Throws core::SystemError when there is no such device.
void serve_watched_role(process::Channel& owner, int device_index);

}  // namespace sandbox::cuda::run
