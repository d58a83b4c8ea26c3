// Problem audits on one device: the judge and compile workers they need, and the solutions that somebody wrote for
// them.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "agent/campaign/devices.h"
#include "core/paths.h"
#include "sandbox/compile_pool.h"
#include "verifier/audit/audit.h"

namespace agent::campaign {

class Auditor {
 public:
  // Starts every worker. Throws core::SystemError when one does not start.
  Auditor(const core::Paths& paths, const DeviceChoice& choice);

  // `keep`: a folder that receives every variant as a solution file; empty for none. Throws core::InputError for a
  // problem that cannot be used.
  verifier::audit::AuditReport audit(const benchsuite::Problem& problem, const std::filesystem::path& keep);

 private:
  std::vector<verifier::audit::Variant> written(const benchsuite::Problem& problem) const;
  bool runs_here(const sandbox::Solution& solution) const;

  core::Paths paths_;
  std::string backend_;
  verifier::judging::Judge judge_;
  std::string architecture_;
  sandbox::CompilePool pool_;
};

}  // namespace agent::campaign
