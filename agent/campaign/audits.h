// Runs problem audits on one device.
#pragma once

#include <filesystem>

#include "agent/campaign/device_session.h"
#include "verifier/audit/audit.h"

namespace agent::campaign {

// Starts a session on the chosen device (the first one of several) with the audit's settings. Throws core::SystemError
// when a worker does not start.
DeviceSession start_audit_session(const core::Paths& paths, DeviceChoice choice);

enum class AuditScope { everything, equivalents };  // the latter: only those in PyTorch

// The same seed and problem give the same draws. `keep`: a folder that receives every variant as a solution file; empty
// for none. Throws core::InputError for a problem that cannot be used. The same `seed` and problem give the same draws.
verifier::audit::AuditReport audit_problem(DeviceSession& session, const core::Paths& paths,
                                           const benchsuite::Problem& problem, const std::filesystem::path& keep,
                                           uint64_t seed, AuditScope scope = AuditScope::everything);

}  // namespace agent::campaign
