// Choosing what to export from an archive.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/archive/recorder.h"
#include "results/exporting/package.h"

namespace results::exporting {

struct ExportChoice {
  std::vector<std::string> what;  // a problem, or numbers of attempts, names or hashes of solutions
  std::string device = {};        // only what was measured there; "" for all
  std::string name = {};          // of the package; "" for the problem's
  std::vector<std::string> architectures =
      {};                        // that the kernels are to be used on though they were not measured there
  bool unconfirmed = false;      // take what was not confirmed, too
  std::string backend = "cuda";  // that the kernels must support
};

// A problem gives the confirmed kernel that is fastest at each bench workload of each device that it was measured on;
// of devices, GPUs alone where there are any. Throws core::InputError with what to do instead: for what is not there,
// was not judged correct, is not confirmed, is of another problem than the rest, or does not support the backend.
Package choose_kernels(const archive::Reader& archive, const std::map<std::string, benchsuite::Problem>& problems,
                       const ExportChoice& choice);

}  // namespace results::exporting
