// What an archive knows of confirmed wins, by bench workload.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/archive.h"

namespace results {

struct Winner {
  std::string device, workload;
  int64_t attempt = 0;
};

// Every attempt that won a confirmation against naive, for each device and bench workload the fastest first (by the
// lower end of its interval). Of the version of the problem that was judged last.
std::vector<Winner> winners(const Archive& archive, const std::string& problem);

// The hash of the problem's files that an attempt was judged by.
std::string problem_hash_of(const Archive& archive, int64_t attempt);

}  // namespace results
