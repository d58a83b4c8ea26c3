// Timing samples as the archive stores them.
#pragma once

#include <vector>

#include "verifier/verdicts/measurement.h"

namespace results::archive {

// 17 bytes a pair: two doubles in microseconds (candidate, incumbent), and 1 where the candidate went first.
std::vector<char> pack(const std::vector<verifier::statistics::Pair>& pairs);
// 9 bytes a pair: two floats in MHz, and 1 where the device was throttled. Empty when nothing of it is known.
std::vector<char> pack_clocks(const std::vector<verifier::statistics::Pair>& pairs);
// `clocks` may be empty. Throws core::SystemError when the two do not fit each other.
std::vector<verifier::statistics::Pair> unpack(const std::vector<char>& bytes, const std::vector<char>& clocks);

}  // namespace results::archive
