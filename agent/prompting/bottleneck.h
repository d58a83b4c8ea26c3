// What holds a kernel back: the words by which diagnoses and technique cards find each other.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace agent::prompting {

enum class Bottleneck {
  memory_bound,
  compute_bound,
  latency_bound,  // too little work in flight
  occupancy,      // too few warps fit
  launch_bound,   // launches and blocks cost more than their work
  bank_conflicts,
  uncoalesced,
  divergence,
  spills,
  tensor_cores,  // arithmetic that tensor cores would do faster
  atomics,       // threads wait for each other's atomic operations
  barriers,      // threads wait for each other at barriers
};
std::string_view name_of(Bottleneck bottleneck);  // one spelling everywhere: "memory_bound"
std::optional<Bottleneck> bottleneck_from_name(std::string_view name);
const std::vector<Bottleneck>& all_bottlenecks();

}  // namespace agent::prompting
