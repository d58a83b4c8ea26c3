// Lenient access to JSON from the wire: what is absent, null or of another type reads as empty.
#pragma once

#include <cstdint>
#include <string>

#include "core/strict_json.h"

namespace agent {

const core::Json& member(const core::Json& object, const char* key);    // null when absent
std::string text_of(const core::Json& object, const char* key);         // "" unless a string
int64_t count_of(const core::Json& object, const char* key);            // 0 unless a number from 0 to 10^12
const core::Json& items_of(const core::Json& object, const char* key);  // an empty array unless an array

}  // namespace agent
