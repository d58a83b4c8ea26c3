// Stacks for CUDA threads, and the switch between them.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" void kw_switch(void** save_sp, void* load_sp);

namespace sandbox::cpu {

// A stack with an unmapped page below it. Cheap to restart: its memory stays mapped.
class Fiber {
 public:
  using Entry = void (*)();  // never returns

  explicit Fiber(size_t stack_bytes);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // The next switch to sp() begins `entry` on an empty stack.
  void restart(Entry entry);
  void*& sp() { return sp_; }

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

}  // namespace sandbox::cpu
