// The calls by which the compilers' -fsanitize=thread announces memory accesses, and -fsanitize=alignment,... its
// findings. The linker redirects them (--wrap) to functions of ours, __wrap_<name>, in runtime/check_entry_points.cpp.
#pragma once

#include <string>
#include <vector>

namespace sandbox::cpu::compiler {

std::vector<std::string> check_entry_points();

}  // namespace sandbox::cpu::compiler
