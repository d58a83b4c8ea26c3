// A memory file whose content nobody can change any more.
#pragma once

#include <string>
#include <string_view>

#include "core/unique_fd.h"

namespace sandbox::process {

// Close-on-exec. Throws core::SystemError.
core::UniqueFd sealed_memory(const char* name, std::string_view bytes);
// Can nobody change it any more, whoever made it?
bool is_sealed(int fd);
// What such a file holds. Throws core::SystemError, also when it is larger than 256 MiB.
std::string read_memory(int fd);

}  // namespace sandbox::process
