// Notices Ctrl-C and SIGTERM without obeying at once, so that attempts in flight are recorded. A second signal ends the
// program.
#pragma once

namespace agent::search {

// From now on the first signal is only remembered. Workers have process groups of their own and do not receive it.
void watch_for_interrupt();
bool interrupted();

}  // namespace agent::search
