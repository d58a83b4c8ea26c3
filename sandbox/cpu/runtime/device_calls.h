#pragma once

namespace sandbox::cpu::runtime {

// Does nothing; calling it makes the linker keep the entry points of device code, which nothing of ours calls.
void keep_device_calls();

}  // namespace sandbox::cpu::runtime
