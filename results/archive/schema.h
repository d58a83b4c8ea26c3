// The archive's tables in SQL, with all migrations.
#pragma once

#include <filesystem>

#include "results/archive/database.h"

namespace results::archive {

// Brings a new or older archive to the newest schema, each step in a transaction of its own. Throws core::InputError if
// the file is another program's database or a newer version's archive, core::SystemError if it is no database or cannot
// be written.
void migrate(Database& database, const std::filesystem::path& file);

constexpr int64_t kApplicationId = 0x4B574152;  // "KWAR"

}  // namespace results::archive
