#include "agent/cli/commands/command_line.h"

int main(int argc, char** argv) { return agent::cli::commands::run_command_line(argc, argv); }
