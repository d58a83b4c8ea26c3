// Interprets a host compiler's messages about a candidate.
#pragma once

#include <string>

#include "sandbox/compilation.h"

namespace sandbox::cpu::compiler {

// The file name under which solutions are compiled, as messages show it.
constexpr const char* kSourceName = "kernel.cu";

// The rejection that these messages mean: the first error, its line in the solution, and whether CUDA has something
// that this device lacks. `shown_name` replaces kSourceName in the log.
Rejected classify_diagnostics(const std::string& output, const std::string& shown_name);

// Cleans and cuts a log.
std::string clean_log(const std::string& output, const std::string& shown_name);

}  // namespace sandbox::cpu::compiler
