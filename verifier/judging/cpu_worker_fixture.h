// The worker program of the cpu device, for tests that judge with it.
#pragma once

#include "core/paths.h"
#include "sandbox/process/worker.h"

namespace verifier::judging::test {

inline sandbox::process::WorkerCommand cpu_worker() {
  const core::Paths paths = core::installed_paths();
  return {paths.worker("cpu"), {"--device-headers", paths.device_headers().string()}, {}};
}

}  // namespace verifier::judging::test
