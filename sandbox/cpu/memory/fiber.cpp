#include "sandbox/cpu/memory/fiber.h"

#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace sandbox::cpu::memory {

void forget_frames([[maybe_unused]] const StackBounds& stack) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(reinterpret_cast<const void*>(stack.begin), stack.end - stack.begin);
#endif
}

namespace {
void* map_stacks(size_t bytes) {
  // MAP_STACK: not in huge pages, since most threads touch a page or two.
  void* mapped =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapped == MAP_FAILED) throw core::SystemError("cannot make stacks for CUDA threads", errno);
  return mapped;
}
}  // namespace

StackArena::StackArena(size_t stacks, size_t bytes)
    : mapped_(map_stacks(stacks * bytes)), stacks_(stacks), bytes_(bytes) {}

StackArena::~StackArena() { ::munmap(mapped_, stacks_ * bytes_); }

Fiber::Fiber(size_t stack_bytes) : guard_(kGuard) {
  stack_.begin = reinterpret_cast<uintptr_t>(map_stacks(kGuard + stack_bytes)) + kGuard;
  stack_.end = stack_.begin + stack_bytes;
  if (::mprotect(reinterpret_cast<void*>(stack_.begin - kGuard), kGuard, PROT_NONE) != 0) {
    throw core::SystemError("cannot guard the stack of a CUDA thread", errno);
  }
}

Fiber::Fiber(StackBounds of_arena) : stack_(of_arena) {}

Fiber::~Fiber() {
  forget_frames(bounds());
  if (guard_ > 0) ::munmap(reinterpret_cast<void*>(stack_.begin - guard_), guard_ + (stack_.end - stack_.begin));
}

void Fiber::overwrite(uint8_t pattern) {
  forget_frames(bounds());
  constexpr size_t kPage = kGuard, kPages = 256;  // asked about at a time
  for (uintptr_t at = stack_begin(); at < stack_end(); at += kPages * kPage) {
    const size_t bytes = std::min(kPages * kPage, stack_end() - at);
    std::array<unsigned char, kPages> touched{};
    if (::mincore(reinterpret_cast<void*>(at), bytes, touched.data()) != 0) touched.fill(1);
    for (size_t page = 0; page * kPage < bytes; ++page) {
      if ((touched[page] & 1) != 0) std::memset(reinterpret_cast<void*>(at + page * kPage), pattern, kPage);
    }
  }
}

void Fiber::restart(Entry entry) {
  forget_frames(bounds());
#if defined(__x86_64__)
  // Six registers, the entry as return address, and the alignment a call would leave. Neighbouring stacks start at
  // different cache sets; those of an arena, of which there are many, in the upper quarter of a page.
  const size_t colour = stack_.begin / (guard_ + (stack_.end - stack_.begin)) % (guard_ > 0 ? 32 : 8) * 128;
  auto* top = reinterpret_cast<uintptr_t*>(stack_end() - 64 - colour);
  *--top = 0;
  *--top = reinterpret_cast<uintptr_t>(entry);
  top -= 6;
  std::memset(top, 0, 6 * sizeof *top);
  sp_ = top;
#elif defined(__aarch64__)
  auto* top = reinterpret_cast<uintptr_t*>(stack_end() - 64) - 20;
  std::memset(top, 0, 160);
  top[11] = reinterpret_cast<uintptr_t>(entry);  // x30
  sp_ = top;
#else
#error "the cpu device needs a kw_switch for this processor: see switch_x86_64.S"
#endif
}

}  // namespace sandbox::cpu::memory
