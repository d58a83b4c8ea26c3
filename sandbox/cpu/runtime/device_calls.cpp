// The functions and variables that device code calls and reads (shim/kw_abi.h).
#include <ctime>
#include <string>

#include "sandbox/cpu/runtime/asynchronous.h"
#include "sandbox/cpu/runtime/device_state.h"
#include "sandbox/cpu/runtime/products.h"
#include "sandbox/cpu/runtime/scheduler.h"

using sandbox::FaultKind;
using sandbox::cpu::runtime::CopyKind;
using sandbox::cpu::runtime::running_scheduler;

extern "C" {
#define KW_DEVICE_STATE __attribute__((section("kw_device_state")))
KW_DEVICE_STATE sandbox::cpu::runtime::DeviceIndex __kw_thread_index, __kw_block_index, __kw_block_dim, __kw_grid_dim,
    __kw_cluster_dim;
KW_DEVICE_STATE unsigned __kw_dynamic_shared_bytes;
KW_DEVICE_STATE unsigned long __kw_local_bytes, __kw_local_integer, __kw_shared_window, __kw_covered;
// The linker's names for the ends of that section.
extern char __start_kw_device_state[], __stop_kw_device_state[];

#define KW_SITE() running_scheduler()->set_site(__builtin_return_address(0), __builtin_frame_address(0))

bool __kw_next_thread() { return sandbox::cpu::runtime::running_scheduler_pointer->next_thread(); }
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
void __kw_yield() {
  KW_SITE();
  running_scheduler()->yield();
}
void __kw_poll() { running_scheduler()->poll(); }
void __kw_grid_sync() {
  KW_SITE();
  running_scheduler()->meet_in_grid();
}
bool __kw_grid_can_meet() { return running_scheduler()->is_cooperative(); }

#define KW_ASYNCHRONOUS() (KW_SITE(), running_scheduler()->asynchronous())
void __kw_named_barrier(unsigned id, unsigned threads, bool waits) {
  KW_ASYNCHRONOUS().named_barrier(id, threads, waits);
}
void __kw_mbarrier_init(unsigned barrier, unsigned arrivals) { KW_ASYNCHRONOUS().init(barrier, arrivals); }
void __kw_mbarrier_invalidate(unsigned barrier) { KW_ASYNCHRONOUS().invalidate(barrier); }
unsigned long __kw_mbarrier_arrive(unsigned barrier, unsigned arrivals, unsigned bytes, bool leaves) {
  return KW_ASYNCHRONOUS().arrive(barrier, arrivals, bytes, leaves);
}
void __kw_mbarrier_expect(unsigned barrier, unsigned bytes) { KW_ASYNCHRONOUS().expect(barrier, bytes); }
bool __kw_mbarrier_wait(unsigned barrier, unsigned long phase, bool is_parity, bool blocks) {
  return KW_ASYNCHRONOUS().wait(barrier, phase, is_parity, blocks);
}
void __kw_mbarrier_after_copies(unsigned barrier, bool counts) {
  KW_ASYNCHRONOUS().arrive_after_copies(barrier, counts);
}
void __kw_load_bytes(unsigned to, const void* from, unsigned bytes, unsigned barrier) {
  KW_ASYNCHRONOUS().load_bytes(to, from, bytes, barrier);
}
void __kw_load_box(unsigned to, const void* map, const int* at, int rank, unsigned barrier) {
  KW_ASYNCHRONOUS().load_box(to, map, at, rank, barrier);
}
void __kw_load_small(unsigned to, const void* from, unsigned bytes, unsigned source_bytes) {
  KW_ASYNCHRONOUS().load_small(to, from, bytes, source_bytes);
}
void __kw_load_bytes_multicast(unsigned to, const void* from, unsigned bytes, unsigned barrier, unsigned ranks) {
  KW_ASYNCHRONOUS().load_bytes(to, from, bytes, barrier, ranks);
}
void __kw_load_box_multicast(unsigned to, const void* map, const int* at, int rank, unsigned barrier, unsigned ranks) {
  KW_ASYNCHRONOUS().load_box(to, map, at, rank, barrier, ranks);
}
unsigned __kw_map_shared(unsigned address, unsigned rank) { return KW_ASYNCHRONOUS().map(address, rank); }
void* __kw_cluster_place(unsigned address, unsigned bytes) { return KW_ASYNCHRONOUS().place(address, bytes, 1); }
unsigned __kw_cluster_rank() { return static_cast<unsigned>(running_scheduler()->block()); }
void __kw_cluster_arrive() {
  KW_SITE();
  running_scheduler()->arrive_at_cluster(false);
}
void __kw_cluster_arrive_relaxed() {
  KW_SITE();
  running_scheduler()->arrive_at_cluster(true);
}
void __kw_cluster_fence() { running_scheduler()->publish(); }
void __kw_cluster_wait() {
  KW_SITE();
  running_scheduler()->wait_for_cluster();
}
void __kw_wait_for_previous_launch() { sandbox::cpu::runtime::note_end_of_previous_launch(); }
void __kw_begin_next_launch() { sandbox::cpu::runtime::note_begin_of_next_launch(); }
void __kw_store_bytes(void* to, unsigned from, unsigned bytes) { KW_ASYNCHRONOUS().store_bytes(to, from, bytes); }
void __kw_store_box(const void* map, const int* at, int rank, unsigned from) {
  KW_ASYNCHRONOUS().store_box(map, at, rank, from);
}
void __kw_commit_copies(int kind) { KW_ASYNCHRONOUS().commit(static_cast<CopyKind>(kind)); }
void __kw_wait_copies(int kind, unsigned most, bool all) {
  KW_ASYNCHRONOUS().wait_group(static_cast<CopyKind>(kind), most, all);
}
void __kw_fence_proxy() { KW_ASYNCHRONOUS().fence(); }
void __kw_fence_barriers() { KW_ASYNCHRONOUS().fence_barriers(); }
void __kw_product(sandbox::cpu::runtime::WarpgroupProduct* mine) {
  KW_SITE();
  sandbox::cpu::runtime::warpgroup_product(*running_scheduler(), mine);
}
void __kw_commit_products() {
  KW_SITE();
  sandbox::cpu::runtime::commit_products(*running_scheduler());
}
void __kw_wait_products(unsigned most) {
  KW_SITE();
  sandbox::cpu::runtime::wait_for_products(*running_scheduler(), most);
}
void __kw_tensor_allocate(unsigned to, unsigned columns) { KW_ASYNCHRONOUS().tensor_cores().allocate(to, columns); }
void __kw_tensor_free(unsigned first, unsigned columns) { KW_ASYNCHRONOUS().tensor_cores().free(first, columns); }
void __kw_tensor_relinquish() { KW_ASYNCHRONOUS().tensor_cores().relinquish(); }
void __kw_tensor_product(unsigned d, unsigned long a, unsigned long b, unsigned what, bool adds) {
  KW_ASYNCHRONOUS().tensor_cores().multiply(d, a, b, what, adds);
}
void __kw_tensor_commit(unsigned barrier) { KW_ASYNCHRONOUS().arrive_after_products(barrier); }
void __kw_tensor_load(void* const* places, unsigned count, unsigned from) {
  KW_ASYNCHRONOUS().tensor_cores().load(places, count, from);
}
void __kw_tensor_wait_loads() { KW_ASYNCHRONOUS().tensor_cores().wait_for_loads(); }
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
