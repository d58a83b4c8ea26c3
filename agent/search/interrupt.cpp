#include "agent/search/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <initializer_list>

namespace agent::search {
namespace {
std::atomic<bool> seen{false};  // global: a signal handler can reach nothing else

void remember(int) {
  if (seen.exchange(true)) ::_exit(130);
}
}  // namespace

void watch_for_interrupt() {
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

bool interrupted() { return seen; }

}  // namespace agent::search
