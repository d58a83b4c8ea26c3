#include "verifier/statistics/keys.h"

#include <string>

#include "core/hash.h"

namespace verifier::statistics {

uint64_t one_way(uint64_t key) { return std::stoull(core::sha256_hex(std::to_string(key)).substr(0, 16), nullptr, 16); }

}  // namespace verifier::statistics
