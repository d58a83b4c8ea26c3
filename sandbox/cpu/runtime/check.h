// The checking build's view of memory: every access is announced and judged before it happens. Shared memory: bounds of
// the variable, initialised, no race. Global memory: bounds of the launch's buffers, and no read of another block's
// write unless something orders the two; in a cooperative launch no race of two blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sandbox/cpu/inspection/shared_variables.h"
#include "sandbox/cpu/memory/clocks.h"
#include "sandbox/cpu/runtime/module.h"

namespace sandbox::cpu::runtime {

using inspection::MemoryRange;
using memory::Clocks;

struct CheckedLaunch {
  MemoryRange image;  // the loaded module: constants
  MemoryRange shared;
  MemoryRange dynamic;  // dynamic shared memory, as much as this launch has; within `shared`
  MemoryRange arguments;
  const std::vector<inspection::SharedVariable>* variables = nullptr;
  const std::vector<Buffer>* buffers = nullptr;
  size_t blocks = 1;   // that run together
  MemoryRange unused;  // what of `shared` this launch cannot access
  bool cooperative = false;
  bool overlaps_previous = false;
};

// The pointed-to objects must outlive the launch. One launch at a time.
void begin_checked_launch(const CheckedLaunch& launch);
// Gives back what a cooperative launch took; others keep it for the next one.
void end_checked_launch();
// Shared memory is uninitialised again.
void begin_checked_block();
// May record a fault.
void end_checked_block();

// The first read of shared memory that no thread had written, in the launches since the last call. It is no fault by
// itself: the caller decides, by whether another content of that memory changes the outputs.
std::optional<Fault> take_unset_read();

// The running block waits until the launch before this one, which it may overlap, has ended.
void note_end_of_previous_launch();
// The running block lets the next launch begin, which may overlap this one.
void note_begin_of_next_launch();
// The running block executes a fence for other blocks.
void note_fence();
// In a cooperative launch, all of whose blocks are numbered: a barrier of so many of them, or of all.
void note_meeting(int64_t first, int64_t count);
void note_meeting_of_all();
// Before another block runs: decides about a write that may be a race. May end the launch.
void settle_suspicion();

// read_only: through the cache for what a launch does not write. atomic_write: an exchange, whose value may be
// needed by nobody. block_update, block_exchange: atomic in the scope of the block. bulk_update: by a copy, so that its
// thread sees nothing of what was there.
enum class Access {
  read,
  read_only,
  write,
  volatile_read,
  volatile_write,
  atomic_read,
  atomic_store,
  atomic_write,
  atomic_update,
  block_update,
  block_exchange,
  bulk_update
};
inline bool is_write(Access access) { return access == Access::write || access == Access::volatile_write; }
inline bool is_read(Access access) {
  return access == Access::read || access == Access::read_only || access == Access::volatile_read;
}
inline bool is_atomic(Access access) { return !is_read(access) && !is_write(access); }
inline bool is_strong(Access access) {
  return is_atomic(access) || access == Access::volatile_read || access == Access::volatile_write;
}
inline bool is_store(Access access) { return is_write(access) || access == Access::atomic_store; }
inline bool is_exchange(Access access) { return access == Access::atomic_write || access == Access::block_exchange; }
inline bool is_of_block(Access access) { return access == Access::block_update || access == Access::block_exchange; }
inline bool needs_value(Access access) { return !is_store(access) && !is_exchange(access); }
inline bool changes_value(Access access) { return !is_read(access) && access != Access::atomic_read; }

// Ends the launch with a Fault when the running CUDA thread must not make this access. `site`: the return address into
// device code.
void check_access(const void* address, size_t bytes, Access access, const void* site, const void* frame);

// Ends the launch when the running thread leaves too little of an unguarded stack.
void check_stack(const void* site, const void* frame);

// An access to shared memory by an agent (clocks.h), for the thread that began it.
struct AsyncAccess {
  Clocks::Known known;       // what that thread knew then
  uint32_t block_epoch = 0;  // of then
  int64_t thread = 0, agent = 0;
  uint32_t epoch = 0;   // of the agent
  bool fenced = false;  // a fence of the asynchronous proxy was the last thing that ordered that thread
  const void *site = nullptr, *frame = nullptr;
};
// The same for an agent's read or write, of a multiple of four bytes.
void check_async_access(const void* address, size_t bytes, Access access, const AsyncAccess& by);

// Makes the linker keep the functions that instrumented code calls.
void keep_check_entry_points();

}  // namespace sandbox::cpu::runtime
