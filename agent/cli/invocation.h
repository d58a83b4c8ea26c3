// One invocation of the program: the options shared by all commands, and the exit code.
#pragma once

#include <filesystem>
#include <vector>

namespace agent::cli {

enum ExitCode : int {
  kDone = 0,
  kRefused = 1,       // the input was refused, or the candidate was not correct
  kOurFault = 2,      // something of ours failed
  kUsage = 64,        // the command line was not understood
  kInterrupted = 130  // Ctrl-C; recorded results stay
};

struct Invocation {
  bool json = false;              // --json: one JSON value (or one per line) on stdout instead of text
  std::filesystem::path archive;  // --archive
  std::vector<std::filesystem::path> problem_folders;  // --problems
  int sandbox_level = 1;  // --sandbox require:N: without it no candidate is compiled or run
  int exit_code = kDone;  // set by the command
};

}  // namespace agent::cli
