// Ctrl-C (and SIGTERM): noticed, not obeyed at once, so that the attempt in flight is recorded. A second one ends the
// program.
#pragma once

namespace agent::search {

// From now on the first signal is only remembered. Workers are in process groups of their own and do not see it.
void watch_for_interrupt();
bool interrupted();

}  // namespace agent::search
