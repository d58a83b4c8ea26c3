// The jail of workers with a context on a GPU.
#pragma once

#include <exception>
#include <string>

#include "sandbox/gpu/run/platform.h"
#include "sandbox/jail/jail.h"
#include "sandbox/jail/namespaces.h"

namespace sandbox::gpu::run {

// Opens the driver in namespaces or, if that fails, outside them. Call it while the process has one thread.
template <typename Open>
jail::Namespaces open_in_namespaces(const Open& open) {
  jail::NamespaceTrial trial = jail::NamespaceTrial::begin(jail::Pids::shared);
  try {
    open();
  } catch (const std::exception& error) {
    trial.fall_back({std::string("the GPU's driver does not open inside namespaces: ") + error.what(),
                     "see that message; a newer driver may work"});
    throw;
  }
  trial.keep();
  return trial.namespaces();
}

// Leaves only the driver's device files, and forbids new processes and sockets. Enter it once the context is open.
// Throws core::SystemError.
jail::JailReport enter_gpu_jail(const jail::Namespaces& namespaces, const Platform& platform);

}  // namespace sandbox::gpu::run
