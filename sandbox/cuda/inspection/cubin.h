// Reads and inspects cubins.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sandbox::cuda::inspection {

// The number of parameters of each entry point, by name. Throws core::InputError if it is not a cubin.
std::map<std::string, int64_t> kernels_of(std::string_view cubin);

// Bytes of its __device__ variables when loaded, without constant memory. A few KiB of cubin may request many GiB.
// Throws as above.
int64_t global_bytes(std::string_view cubin);

// True if its code takes the address of one of its __device__ variables (the compiler keeps such addresses in their own
// bank of constant memory). Throws as above.
bool refers_to_variables(std::string_view cubin);

// Inspects a candidate's cubin after compilation and again before loading. Throws core::InputError with one sentence
// for driver functions other than an assertion's, managed variables, code that reads a clock, an SM id or performance
// counters, and too much memory for __device__ variables, registers or a thread's stack.
void inspect_cubin(std::string_view cubin);

}  // namespace sandbox::cuda::inspection
