#include "agent/cli.h"

int main(int argc, char** argv) { return agent::run_command_line(argc, argv); }
