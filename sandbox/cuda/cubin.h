// What a cubin says of itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sandbox::cuda {

// The entry points by name, each with its number of parameters. Throws core::InputError when it is no cubin.
std::map<std::string, int64_t> kernels_of(std::string_view cubin);

// What its __device__ variables take when it is loaded; those in constant memory do not count. A few KiB of cubin may
// ask for many GiB. Throws as above.
int64_t global_bytes(std::string_view cubin);

}  // namespace sandbox::cuda
