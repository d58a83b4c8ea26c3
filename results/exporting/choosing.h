// Chooses the kernels to export from an archive.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/archive/recorder.h"
#include "results/exporting/package.h"

namespace results::exporting {

struct ExportChoice {
  std::vector<std::string> what;                // a problem, or numbers of attempts, names or hashes of solutions
  std::string device = {};                      // only results measured there; "" for all
  std::string name = {};                        // of the package; "" for the problem's name
  std::vector<std::string> architectures = {};  // to support besides those measured
  bool unconfirmed = false;                     // include unconfirmed results
  std::string backend = "cuda";                 // that the kernels must support
};

// `problems`: those here, for archives that keep no files of problems.
//
// For a problem, chooses the fastest confirmed kernel at each bench workload of each measured device (of GPUs alone if
// there are any). Throws core::InputError with advice for a kernel that is missing, not correct, not confirmed, of a
// different problem than the rest, or without support for the backend.
Package choose_kernels(const archive::Reader& archive, const std::map<std::string, benchsuite::Problem>& problems,
                       const ExportChoice& choice);

}  // namespace results::exporting
