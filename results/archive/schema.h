// The archive's tables in SQL, with their history.
#pragma once

#include <filesystem>

#include "results/archive/database.h"

namespace results::archive {

// Brings a new or older archive to the newest schema, each step in a transaction of its own. Throws core::InputError
// when the file is a database of something else or of a newer version of this program, core::SystemError when it is no
// database at all or cannot be written.
void migrate(Database& database, const std::filesystem::path& file);

constexpr int64_t kApplicationId = 0x4B574152;  // "KWAR"

}  // namespace results::archive
