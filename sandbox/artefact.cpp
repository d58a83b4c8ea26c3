#include "sandbox/artefact.h"

#include "core/hash.h"

namespace sandbox {
namespace {
// Feeds a launch plan to a hasher: every expression as its text and the values of the tunables in it.
class PlanHasher {
 public:
  PlanHasher(core::Hasher& hasher, const TunableBinding& binding) : hasher_(hasher), binding_(binding) {}

  void add(const Launch& launch) {
    hasher_.field("kernel", launch.kernel);
    for (const auto* extents : {&launch.grid, &launch.block, &launch.cluster}) {
      for (const core::Expr& extent : *extents) add("extent", extent);
    }
    add("shared", launch.shared_bytes);
    if (launch.cooperative) hasher_.field("launch", "cooperative");
    if (launch.overlaps_previous) hasher_.field("launch", "overlaps previous");
    if (launch.is_conditional()) add("when", launch.when);
    for (const std::string& argument : launch.args) add("argument", core::Expr::parse(argument));
  }
  void add(const Workspace& workspace) {
    hasher_.field("workspace", workspace.name + (workspace.zeroed ? " zeroed" : ""));
    add("bytes", workspace.bytes);
  }
  void add(const TensorMap& map) {
    hasher_.field("tensor map", map.name + " of " + map.buffer);
    hasher_.field("dtype", map.dtype ? core::name_of(*map.dtype) : "the tensor's");
    hasher_.field("shape", std::to_string(map.shape.size()));
    for (const core::Expr* expression : map.expressions()) add("extent", *expression);
    hasher_.field("swizzle", std::to_string(map.swizzle));
    hasher_.field("promotion", std::to_string(map.l2_promotion));
    hasher_.field("fill", map.nan_fill ? "nan" : "zeros");
  }

 private:
  void add(const char* tag, const core::Expr& expression) {
    hasher_.field(tag, expression.text());
    for (const std::string& name : expression.names()) {
      if (const auto bound = binding_.find(name); bound != binding_.end()) {
        hasher_.field(name, std::to_string(bound->second));
      }
    }
  }

  core::Hasher& hasher_;
  const TunableBinding& binding_;
};
}  // namespace

std::string artefact_hash(const Solution& solution, const TunableBinding& binding,
                          const std::vector<std::string>& binary_hashes) {
  core::Hasher hasher;
  for (const std::string& hash : binary_hashes) hasher.field("binary", hash);
  PlanHasher plan(hasher, binding);
  for (const Launch& launch : solution.launches) plan.add(launch);
  for (const Workspace& workspace : solution.workspaces) plan.add(workspace);
  for (const TensorMap& map : solution.tensor_maps) plan.add(map);
  return hasher.hex();
}

}  // namespace sandbox
