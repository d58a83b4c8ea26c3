#include "agent/cli/loading.h"

#include "agent/cli/output.h"

namespace agent::cli {

campaign::LoadedData load_data(const Invocation& invocation) {
  return campaign::load_data(invocation.sandbox_level, invocation.problem_folders,
                             [](const std::string& why) { print_error("kernelwright: " + why + "\n"); });
}

}  // namespace agent::cli
