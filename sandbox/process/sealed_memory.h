// Memory files with immutable content.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/unique_fd.h"

namespace sandbox::process {

// Creates one with this content; close-on-exec. Throws core::SystemError.
core::UniqueFd sealed_memory(const char* name, std::string_view bytes);
// True if the content is sealed against all writes.
bool is_sealed(int fd);
// The content of a memory file. Throws core::SystemError, also if it has more than `most_bytes`.
std::string read_memory(int fd, int64_t most_bytes = int64_t{256} << 20);

}  // namespace sandbox::process
