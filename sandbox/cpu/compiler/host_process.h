// Runs one outside program (the host compiler) to its end, under limits.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace sandbox::cpu::compiler {

struct ProcessLimits {
  double deadline_s = 30;                 // wall clock
  size_t memory_bytes = size_t{2} << 30;  // address space of each process; 0: unlimited
  size_t file_bytes = size_t{1} << 28;
};

struct ProcessResult {
  int exit_code = 0;  // meaningless when killed by a signal
  int signal = 0;     // that ended it, 0 when it exited
  bool timed_out = false;
  std::string output;  // the beginning of standard output and error, mixed
};

// argv[0] is a path. The program runs in `folder`, in its own process group, which is killed afterwards, with no
// standard input and only TMPDIR (= folder) and PATH in its environment. Throws core::SystemError when it cannot be
// started.
ProcessResult run_process(const std::vector<std::string>& argv, const std::filesystem::path& folder,
                          const ProcessLimits& limits);

}  // namespace sandbox::cpu::compiler
