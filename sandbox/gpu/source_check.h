// Rules for the source of a GPU kernel, before a compiler that is a library sees it.
#pragma once

#include <optional>
#include <string>

#include "sandbox/compilation.h"

namespace sandbox::gpu {

// The name of every solution in the compiler's diagnostics.
inline constexpr const char* kSourceName = "solution.cu";

// Returns why the source is refused: too large; a zero byte; an #include of anything but a literal name below the
// include folders (the jail stops everything that gets past this check); __TIME__ and similar macros, or all pieces
// from which ## could make them: NVRTC does not let us redefine them.
std::optional<Rejected> refuse_source(const std::string& source);

// The first error of a compiler's log, with its line in the solution. `shown_log`: cleaned, for the author.
Rejected rejected_by_compiler(const std::string& log, const std::string& shown_log);

}  // namespace sandbox::gpu
