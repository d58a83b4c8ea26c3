// A planned launch with the memory of this process.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sandbox/cpu/runtime/module.h"
#include "sandbox/solution.h"

namespace sandbox::cpu::runtime {

// `address_of`: a buffer by its name. Throws core::SystemError for a tensor map that is not among `maps`.
KernelLaunch bound_launch(const PlannedLaunch& planned, const std::vector<PlannedTensorMap>& maps,
                          const std::function<std::byte*(const std::string&)>& address_of);

}  // namespace sandbox::cpu::runtime
