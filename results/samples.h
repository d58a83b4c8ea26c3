// Timing samples as the archive stores them.
#pragma once

#include <vector>

#include "verifier/measurement.h"

namespace results {

// 17 bytes a pair: two doubles in microseconds (candidate, incumbent), and 1 where the candidate went first.
std::vector<char> pack(const std::vector<verifier::Pair>& pairs);
std::vector<verifier::Pair> unpack(const std::vector<char>& bytes);

}  // namespace results
