// A library worker of a GPU: computes matrix products with cuBLAS or cuBLASLt where a run worker would launch a
// candidate. It holds no candidate's code, so it is not locked: libraries load their kernels from files when they are
// first used.
//
// Requests of its owner:
//   {"op":"about","library":"cublas"|"cublaslt"}                {"name": "cuBLAS 13.0"} or {"missing": why}
//   {"op":"open","library":...,"gemm":["a","b","c"]}    a cell, served until the judge hangs up    {"cell": n} + the
//                                                               judge's end of its channel
//   {"op":"close","cell":n}                                     {"killed": true}
// Its cells answer what cell.h says. Of a launch plan nothing is used: "go" launches the product.
#pragma once

#include <filesystem>

#include "sandbox/process/channel.h"

namespace sandbox::cuda::run {

// Opens the device, greets, and serves until the owner hangs up. Throws core::SystemError when there is no such device.
void serve_library_role(process::Channel& owner, int device_index, const std::filesystem::path& cuda_home);

}  // namespace sandbox::cuda::run
