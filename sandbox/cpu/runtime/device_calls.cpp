// The functions and variables that device code calls and reads (shim/kw_abi.h).
#include <ctime>
#include <string>

#include "sandbox/cpu/runtime/device_state.h"
#include "sandbox/cpu/runtime/scheduler.h"

using sandbox::FaultKind;
using sandbox::cpu::runtime::running_scheduler;

extern "C" {
#define KW_DEVICE_STATE __attribute__((section("kw_device_state")))
KW_DEVICE_STATE sandbox::cpu::runtime::DeviceIndex __kw_thread_index, __kw_block_index, __kw_block_dim, __kw_grid_dim;
KW_DEVICE_STATE unsigned __kw_dynamic_shared_bytes;
KW_DEVICE_STATE unsigned long __kw_local_bytes, __kw_local_integer, __kw_shared_window;
// The linker's names for the ends of that section.
extern char __start_kw_device_state[], __stop_kw_device_state[];

#define KW_SITE() running_scheduler()->set_site(__builtin_return_address(0), __builtin_frame_address(0))

bool __kw_next_thread() { return running_scheduler()->next_thread(); }
int __kw_barrier(int kind, int predicate) {
  KW_SITE();
  return running_scheduler()->barrier(kind, predicate);
}
void __kw_syncwarp(unsigned long mask) {
  KW_SITE();
  running_scheduler()->sync_warp(mask);
}
void __kw_warp_call(const char* name, unsigned long mask, sandbox::cpu::runtime::WarpCombine combine, void* mine) {
  KW_SITE();
  running_scheduler()->warp_call(name, mask, combine, mine);
}
void __kw_converged_call(const char* name, sandbox::cpu::runtime::WarpCombine combine, void* mine) {
  KW_SITE();
  running_scheduler()->converged_call(name, combine, mine);
}
unsigned long __kw_active_mask() { return running_scheduler()->active_mask(); }
void __kw_mute() { running_scheduler()->mute(); }
void __kw_unmute() { running_scheduler()->unmute(); }
void __kw_trap(const char* message) {
  KW_SITE();
  running_scheduler()->raise(FaultKind::trap, message);
}
void __kw_unsupported(const char* what) {
  KW_SITE();
  running_scheduler()->raise(FaultKind::unsupported, what);
}
void __kw_yield() { running_scheduler()->yield(); }
long long __kw_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}
}

namespace sandbox::cpu::runtime {
void keep_device_calls() {}

bool is_device_state(uintptr_t address, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(__start_kw_device_state);
  const auto end = reinterpret_cast<uintptr_t>(__stop_kw_device_state);
  return address >= begin && address + bytes <= end;
}
}  // namespace sandbox::cpu::runtime
