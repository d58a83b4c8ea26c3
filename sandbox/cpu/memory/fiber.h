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

// A stack with an unmapped page below it. Cheap to restart: its memory stays mapped.
class Fiber {
 public:
  using Entry = void (*)();  // never returns

  explicit Fiber(size_t stack_bytes);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Overwrites every byte that was ever touched with `pattern`, so that nothing of earlier threads remains. Only while
  // nothing runs on it.
  void overwrite(uint8_t pattern);
  // The next switch to sp() begins `entry` on an empty stack.
  void restart(Entry entry);
  void*& sp() { return sp_; }

  StackBounds bounds() const { return {stack_begin(), stack_end()}; }
  bool holds(uintptr_t address) const { return address >= stack_begin() && address < stack_end(); }
  bool guards(uintptr_t address) const { return address >= mapped_begin() && address < stack_begin(); }
  uintptr_t stack_begin() const { return mapped_begin() + kGuard; }
  uintptr_t stack_end() const { return mapped_begin() + kGuard + stack_bytes_; }

 private:
  static constexpr size_t kGuard = 4096;
  uintptr_t mapped_begin() const { return reinterpret_cast<uintptr_t>(mapped_); }

  void* mapped_ = nullptr;
  size_t stack_bytes_;
  void* sp_ = nullptr;
};

}  // namespace sandbox::cpu::memory
