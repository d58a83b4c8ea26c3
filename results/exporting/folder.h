// Writing an exported project.
#pragma once

#include <filesystem>

#include "results/exporting/package.h"

namespace results::exporting {

// All or nothing: writes beside `folder` and renames. A folder that is there must be empty, or `force` replaces it.
// Throws core::InputError for one that may not be replaced, core::SystemError when writing fails.
void write_folder(const std::filesystem::path& folder, const Files& files, bool force);

}  // namespace results::exporting
