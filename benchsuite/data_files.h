// The data files of a problem: what workloads name as the content of their inputs.
#pragma once

#include "benchsuite/problem.h"

namespace benchsuite {

// Limits that are far above index tensors, and far below weights.
inline constexpr size_t kMostDataFiles = 100;  // each is a descriptor of one message
inline constexpr size_t kMostDataFileBytes = size_t{64} << 20, kMostDataBytes = size_t{256} << 20;

// Reads the files that workloads name from the problem's folder into `data`, with their hashes in `files`, and checks
// each tensor against its input. Throws core::InputError: also where nothing gives the content of a given input.
void load_data_files(Problem& problem);
// The checks alone, of files that `data` holds.
void check_data(const Problem& problem);
// The content of an input of a workload that has a file for it. Throws core::InputError where the problem comes from an
// archive, which does not keep it.
std::span<const std::byte> data_of(const Problem& problem, const Workload& workload, const std::string& input);
// Throws as data_of() does where any content is absent.
void require_data(const Problem& problem);

}  // namespace benchsuite
