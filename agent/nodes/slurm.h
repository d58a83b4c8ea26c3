// Nodes that Slurm places, each in a job of its own: it waits in the queue, and may be preempted.
#pragma once

#include <string>

namespace agent::nodes {

struct SlurmNodes {
  std::string launcher;
  int nodes = 0;
};

// `text`: "PARTITION" or "PARTITION:COUNT"; without a count one node for each problem, and two at least, since one
// confirms what another finds. Accounts, time limits and the like come from Slurm's own variables. Throws
// core::UsageError for another form, and core::InputError where srun is not on $PATH.
SlurmNodes nodes_on_slurm(const std::string& text, bool on_gpu, size_t problems);

}  // namespace agent::nodes
