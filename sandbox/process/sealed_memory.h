// Memory files with immutable content.
#pragma once

#include <string>
#include <string_view>

#include "core/unique_fd.h"

namespace sandbox::process {

// Close-on-exec. Throws core::SystemError.
core::UniqueFd sealed_memory(const char* name, std::string_view bytes);
// Whether the content is sealed against every writer.
bool is_sealed(int fd);
// The content of a memory file. Throws core::SystemError, also when it is larger than 256 MiB.
std::string read_memory(int fd);

}  // namespace sandbox::process
