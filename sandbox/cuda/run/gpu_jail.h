// The jail of workers that hold a context on an NVIDIA GPU.
#pragma once

#include <exception>
#include <string>

#include "sandbox/jail/jail.h"
#include "sandbox/jail/namespaces.h"

namespace sandbox::cuda::run {

// Opens what the worker needs of the driver in namespaces of its own, and where it does not open there, outside. Only
// one thread may be there before.
template <typename Open>
jail::Namespaces open_in_namespaces(const Open& open) {
  jail::NamespaceTrial trial = jail::NamespaceTrial::begin(jail::Pids::shared);
  try {
    open();
  } catch (const std::exception& error) {
    trial.fall_back({std::string("the GPU's driver does not open inside of namespaces: ") + error.what(),
                     "look at what it says; a newer driver may do"});
    throw;
  }
  trial.keep();
  return trial.namespaces();
}

// No files but the driver's device files, no new processes, no sockets. To be entered when the context is open. Throws
// core::SystemError.
jail::JailReport enter_gpu_jail(const jail::Namespaces& namespaces);

}  // namespace sandbox::cuda::run
