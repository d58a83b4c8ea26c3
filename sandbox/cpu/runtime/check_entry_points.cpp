// Code built with -fsanitize=thread,alignment,... calls these instead of the sanitizers' libraries (the names of
// check_names.cpp, redirected by the linker): each access is checked, then, where the call stands for it, carried out.
// One OS thread runs all CUDA threads, so the atomic operations need no ordering.
#include <math.h>

#include <cstdint>
#include <cstring>

#include "sandbox/cpu/runtime/check.h"
#include "sandbox/cpu/runtime/scheduler.h"

using sandbox::FaultKind;
using sandbox::cpu::runtime::Access;
using sandbox::cpu::runtime::check_access;
using sandbox::cpu::runtime::check_stack;
using sandbox::cpu::runtime::note_fence;
using sandbox::cpu::runtime::place_of;
using sandbox::cpu::runtime::running_scheduler;
using sandbox::cpu::runtime::running_scheduler_pointer;

namespace {
// The order by which shim/kw_atomic.h tells the scope of a block.
Access update_of(int order) { return order == __ATOMIC_ACQUIRE ? Access::block_update : Access::atomic_update; }
Access exchange_of(int order) { return order == __ATOMIC_ACQUIRE ? Access::block_exchange : Access::atomic_write; }
}  // namespace

// The compilers' record of a misaligned access.
struct TypeMismatch {
  struct {
    const char* file;
    uint32_t line, column;
  } where;
  const void* type;
  unsigned char log_alignment, kind;
};

// In two steps, since leave() destroys nothing: the message must be gone by then.
#define KW_FINDING(kind, message)                                                                              \
  {                                                                                                            \
    running_scheduler()->set_fault(                                                                            \
        kind, message, running_scheduler()->line_at(__builtin_return_address(0), __builtin_frame_address(0))); \
  }                                                                                                            \
  running_scheduler()->leave()

#define KW_CHECK(address, bytes, access) \
  check_access(address, bytes, access, __builtin_return_address(0), __builtin_frame_address(0))

#define KW_POLL(address) \
  running_scheduler()->note_poll(address, __builtin_return_address(0), __builtin_frame_address(0))
// An update that changed memory may be what another thread waits for.
#define KW_PROGRESS(address, changed)     \
  if (changed) {                          \
    running_scheduler()->note_progress(); \
  } else {                                \
    KW_POLL(address);                     \
  }

// Most are to variables of the thread's own.
#define KW_IS_OWN(address)                                                           \
  (running_scheduler_pointer != nullptr &&                                           \
   running_scheduler_pointer->is_of_own_frames(reinterpret_cast<uintptr_t>(address), \
                                               reinterpret_cast<uintptr_t>(__builtin_frame_address(0))))

#define KW_PLAIN(kind, bytes)                                         \
  void __wrap___tsan_##kind##read##bytes(void* address) {             \
    if (!KW_IS_OWN(address)) KW_CHECK(address, bytes, Access::read);  \
  }                                                                   \
  void __wrap___tsan_##kind##write##bytes(void* address) {            \
    if (!KW_IS_OWN(address)) KW_CHECK(address, bytes, Access::write); \
  }
#define KW_VOLATILE(kind, bytes)                                   \
  void __wrap___tsan_##kind##volatile_read##bytes(void* address) { \
    KW_POLL(address);                                              \
    KW_CHECK(address, bytes, Access::volatile_read);               \
  }                                                                \
  void __wrap___tsan_##kind##volatile_write##bytes(void* address) { KW_CHECK(address, bytes, Access::volatile_write); }
#define KW_SIZES(what, kind) what(kind, 1) what(kind, 2) what(kind, 4) what(kind, 8) what(kind, 16)

#define KW_FETCH(bits, name, expression)                                                                      \
  uint##bits##_t __wrap___tsan_atomic##bits##_fetch_##name(volatile uint##bits##_t* at, uint##bits##_t value, \
                                                           int order) {                                       \
    KW_CHECK(const_cast<uint##bits##_t*>(at), bits / 8, update_of(order));                                    \
    const uint##bits##_t old = *at;                                                                           \
    *at = static_cast<uint##bits##_t>(expression);                                                            \
    KW_PROGRESS(at, *at != old)                                                                               \
    return old;                                                                                               \
  }

#define KW_EXCHANGE(bits, name)                                                                                   \
  int __wrap___tsan_atomic##bits##_compare_exchange_##name(volatile uint##bits##_t* at, uint##bits##_t* expected, \
                                                           uint##bits##_t value, int order, int) {                \
    KW_CHECK(const_cast<uint##bits##_t*>(at), bits / 8, update_of(order));                                        \
    const uint##bits##_t old = *at;                                                                               \
    const bool equal = old == *expected;                                                                          \
    if (equal) *at = value;                                                                                       \
    *expected = old;                                                                                              \
    KW_PROGRESS(at, *at != old)                                                                                   \
    return equal;                                                                                                 \
  }

#define KW_ATOMICS(bits)                                                                                               \
  uint##bits##_t __wrap___tsan_atomic##bits##_load(const volatile uint##bits##_t* at, int) {                           \
    KW_POLL(at);                                                                                                       \
    KW_CHECK(const_cast<uint##bits##_t*>(at), bits / 8, Access::atomic_read);                                          \
    return *at;                                                                                                        \
  }                                                                                                                    \
  void __wrap___tsan_atomic##bits##_store(volatile uint##bits##_t* at, uint##bits##_t value, int) {                    \
    KW_CHECK(const_cast<uint##bits##_t*>(at), bits / 8, Access::atomic_store);                                         \
    *at = value;                                                                                                       \
  }                                                                                                                    \
  uint##bits##_t __wrap___tsan_atomic##bits##_exchange(volatile uint##bits##_t* at, uint##bits##_t value, int order) { \
    KW_CHECK(const_cast<uint##bits##_t*>(at), bits / 8, exchange_of(order));                                           \
    const uint##bits##_t old = *at;                                                                                    \
    *at = value;                                                                                                       \
    return old;                                                                                                        \
  }                                                                                                                    \
  uint##bits##_t __wrap___tsan_atomic##bits##_compare_exchange_val(                                                    \
      volatile uint##bits##_t* at, uint##bits##_t expected, uint##bits##_t value, int order, int) {                    \
    KW_CHECK(const_cast<uint##bits##_t*>(at), bits / 8, update_of(order));                                             \
    const uint##bits##_t old = *at;                                                                                    \
    if (old == expected) *at = value;                                                                                  \
    KW_PROGRESS(at, *at != old)                                                                                        \
    return old;                                                                                                        \
  }                                                                                                                    \
  KW_FETCH(bits, add, old + value)                                                                                     \
  KW_FETCH(bits, sub, old - value)                                                                                     \
  KW_FETCH(bits, and, old& value)                                                                                      \
  KW_FETCH(bits, or, old | value)                                                                                      \
  KW_FETCH(bits, xor, old ^ value)                                                                                     \
  KW_FETCH(bits, nand, ~(old & value))                                                                                 \
  KW_EXCHANGE(bits, strong)                                                                                            \
  KW_EXCHANGE(bits, weak)

extern "C" {
KW_SIZES(KW_PLAIN, )
KW_SIZES(KW_PLAIN, unaligned_)
KW_SIZES(KW_VOLATILE, )
KW_SIZES(KW_VOLATILE, unaligned_)
KW_ATOMICS(8)
KW_ATOMICS(16)
KW_ATOMICS(32)
KW_ATOMICS(64)

// Declared in shim/kw_abi.h, for this build alone.
void __kw_read_only(const void* address, unsigned long bytes) { KW_CHECK(address, bytes, Access::read_only); }

void __wrap___tsan_init() {}
void __wrap___tsan_func_entry(void*) { check_stack(__builtin_return_address(0), __builtin_frame_address(0)); }
void __wrap___tsan_func_exit() {}
void __wrap___tsan_vptr_update(void**, void*) {}
void __wrap___tsan_vptr_read(void**) {}
void __wrap___tsan_atomic_thread_fence(int) { note_fence(); }
void __wrap___tsan_atomic_signal_fence(int) { note_fence(); }
void __wrap___tsan_read_range(void* address, unsigned long bytes) { KW_CHECK(address, bytes, Access::read); }
void __wrap___tsan_write_range(void* address, unsigned long bytes) { KW_CHECK(address, bytes, Access::write); }

#define KW_MEMORY_FUNCTIONS(prefix)                                          \
  void* __wrap_##prefix##memcpy(void* to, const void* from, size_t bytes) {  \
    KW_CHECK(from, bytes, Access::read);                                     \
    KW_CHECK(to, bytes, Access::write);                                      \
    return std::memcpy(to, from, bytes);                                     \
  }                                                                          \
  void* __wrap_##prefix##memmove(void* to, const void* from, size_t bytes) { \
    KW_CHECK(from, bytes, Access::read);                                     \
    KW_CHECK(to, bytes, Access::write);                                      \
    return std::memmove(to, from, bytes);                                    \
  }                                                                          \
  void* __wrap_##prefix##memset(void* to, int value, size_t bytes) {         \
    KW_CHECK(to, bytes, Access::write);                                      \
    return std::memset(to, value, bytes);                                    \
  }
KW_MEMORY_FUNCTIONS()
KW_MEMORY_FUNCTIONS(__tsan_)
int __wrap_memcmp(const void* one, const void* other, size_t bytes) {
  KW_CHECK(one, bytes, Access::read);
  KW_CHECK(other, bytes, Access::read);
  return std::memcmp(one, other, bytes);
}

// Mathematics that writes through pointers.
#define KW_MATHEMATICS(T, suffix)                        \
  T __wrap_frexp##suffix(T x, int* exponent) {           \
    KW_CHECK(exponent, sizeof *exponent, Access::write); \
    return ::frexp##suffix(x, exponent);                 \
  }                                                      \
  T __wrap_modf##suffix(T x, T* whole) {                 \
    KW_CHECK(whole, sizeof *whole, Access::write);       \
    return ::modf##suffix(x, whole);                     \
  }                                                      \
  T __wrap_remquo##suffix(T x, T y, int* quotient) {     \
    KW_CHECK(quotient, sizeof *quotient, Access::write); \
    return ::remquo##suffix(x, y, quotient);             \
  }                                                      \
  void __wrap_sincos##suffix(T x, T* sine, T* cosine) {  \
    KW_CHECK(sine, sizeof *sine, Access::write);         \
    KW_CHECK(cosine, sizeof *cosine, Access::write);     \
    ::sincos##suffix(x, sine, cosine);                   \
  }
KW_MATHEMATICS(double, )
KW_MATHEMATICS(float, f)

void __wrap___ubsan_handle_type_mismatch_v1_abort(const TypeMismatch* found, const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const unsigned needed = 1u << found->log_alignment;
  if (at % needed == 0) {  // so it is the size of the object that does not fit
    KW_CHECK(address, needed, found->kind == 1 ? Access::write : Access::read);
    KW_FINDING(FaultKind::out_of_bounds, "an access outside of the variable that its address was made from");
  }
  KW_FINDING(FaultKind::misaligned, "an access at an address that is no multiple of " + std::to_string(needed) +
                                        " bytes: " + place_of(at, *running_scheduler()->launch()->buffers));
}
void __wrap___ubsan_handle_out_of_bounds_abort(const void*, unsigned long index) {
  KW_FINDING(FaultKind::out_of_bounds,
             "index " + std::to_string(static_cast<long>(index)) + " is outside of the array");
}
void __wrap___ubsan_handle_divrem_overflow_abort(const void*, unsigned long, unsigned long) {
  KW_FINDING(FaultKind::trap, "integer division by zero");
}
}

namespace sandbox::cpu::runtime {
void keep_check_entry_points() {}
}  // namespace sandbox::cpu::runtime
