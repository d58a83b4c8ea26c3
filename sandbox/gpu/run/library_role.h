// The role of a worker in which a vendor's library computes what candidates do.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sandbox/gpu/run/gemm_library.h"
#include "sandbox/gpu/run/platform.h"
#include "sandbox/process/channel.h"

namespace sandbox::gpu::run {

// The library of this name in a request. Throws core::SystemError with the remedy where it is missing.
using MakeGemmLibrary =
    std::function<std::unique_ptr<GemmLibrary>(const driver::Context& context, const std::string& name)>;

// A library worker of a GPU: computes matrix products with the vendor's library instead of launching a candidate. It
// holds no candidate code and is not jailed, since libraries load kernels from files on first use.
//
// Requests of its owner:
//   {"op":"about","library":"cublas"|"cublaslt"|"rocblas"}   {"name": "cuBLAS 13.0"} or {"missing": why}
//   {"op":"open","library":...,"gemm":["a","b","c"]}    {"process": n} + the judge's end of a channel, served until it
//                                                       hangs up, with the requests of loaded_candidate.h; "go"
//                                                       launches the product and ignores the plan
//   {"op":"close","process":n}                            {"killed": true}
// Throws core::SystemError when there is no such device.
void serve_library_role(process::Channel& owner, const Platform& platform, int device_index,
                        const MakeGemmLibrary& make);

}  // namespace sandbox::gpu::run
