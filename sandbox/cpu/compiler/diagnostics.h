// What a host compiler's messages say about a candidate.
#pragma once

#include <string>

#include "sandbox/compilation.h"

namespace sandbox::cpu::compiler {

// The name under which solutions are compiled; messages speak of it.
constexpr const char* kSourceName = "kernel.cu";

// The rejection that these messages amount to: the first error, its line in the solution, and whether it is about
// something that CUDA has and this device has not. `shown_name` replaces kSourceName in the log.
Rejected classify_diagnostics(const std::string& output, const std::string& shown_name);

// Cleans and cuts what goes into a log.
std::string clean_log(const std::string& output, const std::string& shown_name);

}  // namespace sandbox::cpu::compiler
