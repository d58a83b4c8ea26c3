// Defers Ctrl-C and SIGTERM, so that attempts in flight are recorded. A second signal ends the program.
#pragma once

namespace agent::search {

// From now on the first signal only sets a flag. Workers have their own process groups and do not receive it.
void watch_for_interrupt();
bool interrupted();

}  // namespace agent::search
