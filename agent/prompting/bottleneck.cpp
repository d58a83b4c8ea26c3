#include "agent/prompting/bottleneck.h"

namespace agent::prompting {

std::string_view name_of(Bottleneck bottleneck) {
  switch (bottleneck) {
    case Bottleneck::memory_bound:
      return "memory_bound";
    case Bottleneck::compute_bound:
      return "compute_bound";
    case Bottleneck::latency_bound:
      return "latency_bound";
    case Bottleneck::occupancy:
      return "occupancy";
    case Bottleneck::launch_bound:
      return "launch_bound";
    case Bottleneck::bank_conflicts:
      return "bank_conflicts";
    case Bottleneck::uncoalesced:
      return "uncoalesced";
    case Bottleneck::divergence:
      return "divergence";
    case Bottleneck::spills:
      return "spills";
    case Bottleneck::tensor_cores:
      return "tensor_cores";
    case Bottleneck::atomics:
      return "atomics";
    case Bottleneck::barriers:
      return "barriers";
  }
  return "";
}

const std::vector<Bottleneck>& all_bottlenecks() {
  using enum Bottleneck;
  static const std::vector<Bottleneck> all{memory_bound, compute_bound,  latency_bound, occupancy,
                                           launch_bound, bank_conflicts, uncoalesced,   divergence,
                                           spills,       tensor_cores,   atomics,       barriers};
  return all;
}

std::optional<Bottleneck> bottleneck_from_name(std::string_view name) {
  for (const Bottleneck each : all_bottlenecks()) {
    if (name_of(each) == name) return each;
  }
  return std::nullopt;
}

}  // namespace agent::prompting
