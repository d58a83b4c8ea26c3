// Hardware faults of device code become Faults of the launch in progress.
#pragma once

namespace sandbox::cpu::runtime {

// Handles SIGSEGV, SIGBUS, SIGILL and SIGFPE on a stack of its own from now on. Outside of a launch they end the
// process with 128 and their number. Once per process; later calls do nothing.
void install_signal_handlers();

}  // namespace sandbox::cpu::runtime
