// What a cubin says of itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sandbox::cuda::inspection {

// The entry points by name, each with its number of parameters. Throws core::InputError when it is no cubin.
std::map<std::string, int64_t> kernels_of(std::string_view cubin);

// Size of its __device__ variables when loaded, without those in constant memory. A few KiB of cubin may ask for many
// GiB. Throws as above.
int64_t global_bytes(std::string_view cubin);

// Whether its code takes the address of one of its __device__ variables. The compiler keeps addresses of variables in a
// bank of constant memory of their own. Throws as above.
bool refers_to_variables(std::string_view cubin);

// Inspects a candidate's cubin, whatever process made it, and again before it is loaded. Throws core::InputError with
// one sentence for driver functions other than an assertion's, managed variables, code that reads a clock, a
// multiprocessor's number or performance counters, and too much memory for __device__ variables, registers or a
// thread's stack.
void inspect_cubin(std::string_view cubin);

}  // namespace sandbox::cuda::inspection
