
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "core/error.h"
#include "sandbox/cpu/runtime/line_table.h"
#include "sandbox/cpu/runtime/scheduler.h"

namespace sandbox::cpu::runtime {
namespace {
constexpr size_t kStackBytes = size_t{1} << 16;
constexpr int kDiedOfSignal = 128;

uintptr_t program_counter(const void* context) {
#if defined(__x86_64__)
  return static_cast<uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#else
  return static_cast<uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);
#endif
}

bool is_write(const void* context) {
#if defined(__x86_64__)
  return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  (void)context;
  return false;
#endif
}

std::string describe_address(const Scheduler& scheduler, uintptr_t address, bool writes) {
  for (const Buffer& buffer : *scheduler.launch()->buffers) {
    const auto begin = reinterpret_cast<uintptr_t>(buffer.data);
    if (address >= begin && address - begin < buffer.bytes) {
      return "writes to the input '" + buffer.name + "', which is read-only";
    }
  }
  return std::string(writes ? "writes" : "touches memory") + " at " + place_of(address, *scheduler.launch()->buffers);
}

void describe_signal(Scheduler& scheduler, int signal, const siginfo_t& info, const void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
  const std::optional<int64_t> line = line_of(program_counter(context));
  if (signal == SIGFPE) {
    scheduler.set_fault(FaultKind::trap, "integer division by zero", line);
  } else if (signal == SIGILL) {
    scheduler.set_fault(FaultKind::trap, "came to a place that the code says cannot be reached", line);
  } else if (scheduler.below_stack(address)) {
    scheduler.set_fault(FaultKind::resource_limit,
                        "the local memory of this thread is used up (64 KiB): recursion, or large arrays on its stack",
                        line);
  } else if (signal == SIGSEGV && info.si_code == SI_KERNEL) {  // an aligned vector access: it carries no address
    scheduler.set_fault(FaultKind::misaligned, "a wide access at an address that is no multiple of its size", line);
  } else {
    scheduler.set_fault(FaultKind::out_of_bounds, describe_address(scheduler, address, is_write(context)), line);
  }
}

memory::StackBounds signal_stack;  // of the handler; set once, by install_signal_handlers

// AddressSanitizer would look for the end of the stack in /proc before a call that does not return, and the jail has
// none.
__attribute__((no_sanitize_address)) void handle(int signal, siginfo_t* info, void* context) {
  memory::forget_frames(signal_stack);
  Scheduler* scheduler = running_scheduler_pointer;
  // Not device code: end as shells say it. A candidate process may not ask for more.
  if (scheduler == nullptr) ::_exit(kDiedOfSignal + signal);
  scheduler->watch_threads();
  describe_signal(*scheduler, signal, *info, context);
  scheduler->leave();
}
}  // namespace

void install_signal_handlers() {
  static bool installed = false;
  if (installed) return;
  void* memory = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = kStackBytes;
  struct sigaction action {};
  action.sa_sigaction = handle;
  // The handler leaves by switching stacks, so the signal must not stay blocked.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  bool done = memory != MAP_FAILED && ::sigaltstack(&stack, nullptr) == 0;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) done = done && ::sigaction(signal, &action, nullptr) == 0;
  if (!done) throw core::SystemError("cannot handle faults of device code", errno);
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  signal_stack = {begin, begin + kStackBytes};
  installed = true;
}

}  // namespace sandbox::cpu::runtime
