// Stacks for CUDA threads, and the switch between them.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

// In switch_<processor>.S: saves the registers on the running stack and its top in *save_sp, then continues on the
// other stack.
extern "C" void kw_switch(void** save_sp, void* load_sp);

namespace sandbox::cpu::memory {

struct StackBounds {
  uintptr_t begin = 0, end = 0;
};

// kw_switch, with AddressSanitizer informed (where we are built with it) about the next stack.
inline void switch_stacks(void*& save_sp, void* load_sp, [[maybe_unused]] const StackBounds& next) {
#if defined(__SANITIZE_ADDRESS__)
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, reinterpret_cast<const void*>(next.begin), next.end - next.begin);
  kw_switch(&save_sp, load_sp);
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#else
  kw_switch(&save_sp, load_sp);
#endif
}

// Call it first on a new stack. Returns the stack that was left; all zero without AddressSanitizer.
inline StackBounds arrive_on_new_stack() {
  StackBounds left;
#if defined(__SANITIZE_ADDRESS__)
  const void* begin = nullptr;
  size_t bytes = 0;
  __sanitizer_finish_switch_fiber(nullptr, &begin, &bytes);
  left.begin = reinterpret_cast<uintptr_t>(begin);
  left.end = left.begin + bytes;
#endif
  return left;
}

// Frames on this memory never returned: AddressSanitizer must forget their marks.
void forget_frames(const StackBounds& stack);

// Many stacks in one mapping, side by side, with nothing that guards them. Pages cost memory once they are touched.
class StackArena {
 public:
  StackArena(size_t stacks, size_t bytes);  // of each
  ~StackArena();
  StackArena(const StackArena&) = delete;
  StackArena& operator=(const StackArena&) = delete;

  size_t stacks() const { return stacks_; }
  size_t bytes() const { return bytes_; }
  StackBounds stack(size_t nth) const {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(mapped_) + nth * bytes_;
    return {begin, begin + bytes_};
  }

 private:
  void* mapped_ = nullptr;
  size_t stacks_, bytes_;
};

// A stack with an unmapped page below it, or one of an arena, which must outlive it. Cheap to restart: its memory stays
// mapped.
class Fiber {
 public:
  using Entry = void (*)();  // never returns

  explicit Fiber(size_t stack_bytes);
  explicit Fiber(StackBounds of_arena);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Overwrites every byte that was ever touched with `pattern`, so that nothing of earlier threads remains. Only while
  // nothing runs on it.
  void overwrite(uint8_t pattern);
  // The next switch to sp() begins `entry` on an empty stack.
  void restart(Entry entry);
  void*& sp() { return sp_; }

  StackBounds bounds() const { return stack_; }
  bool holds(uintptr_t address) const { return address >= stack_begin() && address < stack_end(); }
  bool guards(uintptr_t address) const { return address >= stack_begin() - guard_ && address < stack_begin(); }
  uintptr_t stack_begin() const { return stack_.begin; }
  uintptr_t stack_end() const { return stack_.end; }
  // Frames below it leave too little for what device code calls, where no page guards the stack; else 0.
  uintptr_t lowest_frame() const { return guard_ == 0 ? stack_.begin + kReserve : 0; }

 private:
  static constexpr size_t kGuard = 4096;
#if defined(__SANITIZE_ADDRESS__)
  static constexpr size_t kReserve = 16384;
#else
  static constexpr size_t kReserve = 4096;
#endif

  StackBounds stack_;
  size_t guard_ = 0;  // bytes below it
  void* sp_ = nullptr;
};

}  // namespace sandbox::cpu::memory
