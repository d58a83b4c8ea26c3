// The command line of kernelwright.
#pragma once

namespace agent::cli::commands {

// Parses the command line and runs the command. Returns the exit code; never throws.
int run_command_line(int argc, const char* const* argv);

}  // namespace agent::cli::commands
