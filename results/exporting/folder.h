// Writes an exported project.
#pragma once

#include <filesystem>

#include "results/exporting/package.h"

namespace results::exporting {

// Atomic: writes beside `folder` and renames. An existing folder must be empty unless `force` replaces it. Throws
// core::InputError if it may not be replaced or cannot be written.
void write_folder(const std::filesystem::path& folder, const Files& files, bool force);

}  // namespace results::exporting
