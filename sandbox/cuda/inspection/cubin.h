// What a cubin says of itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sandbox::cuda::inspection {

// The entry points by name, each with its number of parameters. Throws core::InputError when it is no cubin.
std::map<std::string, int64_t> kernels_of(std::string_view cubin);

// What its __device__ variables take when it is loaded; those in constant memory do not count. A few KiB of cubin may
// ask for many GiB. Throws as above.
int64_t global_bytes(std::string_view cubin);

// Does its code take the address of one of its __device__ variables? Addresses stand in a bank of constant memory of
// their own, which the compiler makes for all variables. Throws as above.
bool refers_to_variables(std::string_view cubin);

// What no cubin of a candidate may hold, whatever process made it; looked at again before it is loaded. Throws
// core::InputError with one sentence: functions of the driver other than an assertion's, managed variables, code that
// reads a clock, a multiprocessor's number or performance counters, more than this computer's share of memory for
// __device__ variables, registers or a thread's stack.
void inspect_cubin(std::string_view cubin);

}  // namespace sandbox::cuda::inspection
