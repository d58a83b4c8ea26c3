#include "sandbox/gpu/run/prepared_plan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sandbox/gpu/run/limits.h"

namespace sandbox::gpu::run {
namespace {
constexpr int kCooperative = 2, kClusterDimension = 4, kOverlapsPrevious = 6;  // CUlaunchAttributeID
constexpr int64_t kSharedWithoutAsking = 48 << 10;
constexpr int64_t kPortableCluster = 8;

const DeviceBuffer& find(const std::vector<DeviceBuffer>& buffers, const std::string& name) {
  const auto found = std::ranges::find_if(buffers, [&](const DeviceBuffer& b) { return b.name == name; });
  if (found == buffers.end()) throw core::SystemError("the plan names an unmapped buffer: " + name);
  return *found;
}

template <typename Bytes, typename T>
void store(Bytes& bytes, const T& value) {
  static_assert(sizeof value <= sizeof bytes);
  std::memcpy(bytes.data(), &value, sizeof value);
}

// 0, 32, 64, 128 bytes as CUtensorMapSwizzle; 0, 64, 128, 256 as CUtensorMapL2promotion.
int step_of(int64_t bytes, int64_t first) {
  int step = 0;
  for (int64_t at = first; bytes >= at; at *= 2) ++step;
  return step;
}

driver::TensorMapBits encode(const driver::Context& context, const PlannedTensorMap& map, driver::DevicePtr address) {
  if (context->tensor_map_encode == nullptr) {
    throw InvalidLaunch("", "tensor map \"" + map.name + "\": this driver is too old for tensor maps");
  }
  const std::vector<uint64_t> shape(map.shape.begin(), map.shape.end());
  std::vector<uint64_t> strides(map.strides_bytes.begin(), map.strides_bytes.end());
  if (strides.empty()) strides.push_back(0);  // one dimension: never read, but must not be null
  const std::vector<uint32_t> box(map.box.begin(), map.box.end());
  const std::vector<uint32_t> every(map.box.size(), 1);
  driver::TensorMapBits bits{};
  const int result = context->tensor_map_encode(&bits, tensor_map_type(map.dtype), static_cast<uint32_t>(shape.size()),
                                                reinterpret_cast<void*>(address), shape.data(), strides.data(),
                                                box.data(), every.data(), 0, step_of(map.swizzle, 32),
                                                step_of(map.l2_promotion, 64), map.nan_fill ? 1 : 0);
  if (result != driver::kSuccess) {
    throw InvalidLaunch(
        "", "tensor map \"" + map.name + "\" is refused by the driver: " + context.driver().explain(result));
  }
  return bits;
}

DeviceLimits limits_of(const driver::Context& context) {
  DeviceLimits limits;
  limits.compute_major = context.facts().compute_major;
  limits.compute_minor = context.facts().compute_minor;
  limits.multiprocessors = context.facts().multiprocessors;
  limits.shared_bytes_opt_in = context.facts().shared_bytes_per_block;
  // AMD's compiler fits a kernel's registers to its largest block, which threads_per_block holds launches to.
  limits.registers_per_block = limits.compute_major == 0
                                   ? std::nullopt
                                   : std::optional<int64_t>(context.attribute(driver::Attribute::registers_per_block));
  limits.cluster_launch = context.attribute(driver::Attribute::cluster_launch) != 0;
  limits.cooperative_launch = context.attribute(driver::Attribute::cooperative_launch) != 0;
  return limits;
}

KernelFacts facts_of(const driver::Function& function) {
  KernelFacts facts;
  facts.registers = function.attribute(driver::FunctionAttribute::registers);
  facts.static_shared_bytes = function.attribute(driver::FunctionAttribute::static_shared_bytes);
  facts.threads_per_block = function.attribute(driver::FunctionAttribute::threads_per_block);
  return facts;
}

std::vector<driver::LaunchAttribute> attributes_of(const PlannedLaunch& launch) {
  std::vector<driver::LaunchAttribute> attributes;
  if (launch.clustered()) {
    driver::LaunchAttribute& attribute = attributes.emplace_back();
    attribute.id = kClusterDimension;
    for (size_t d = 0; d < 3; ++d) attribute.value.dimensions[d] = static_cast<unsigned>(launch.cluster[d]);
  }
  for (const auto& [wanted, id] :
       {std::pair(launch.cooperative, kCooperative), std::pair(launch.overlaps_previous, kOverlapsPrevious)}) {
    if (!wanted) continue;
    driver::LaunchAttribute& attribute = attributes.emplace_back();
    attribute.id = id;
    attribute.value.number = 1;
  }
  return attributes;
}

// Asks the driver how many blocks or clusters of the launch the device holds at once.
void ask_residency(const driver::Context& context, const driver::Function& function, const PlannedLaunch& launch,
                   driver::LaunchConfig config, std::vector<driver::LaunchAttribute> attributes, KernelFacts& facts) {
  if (launch.cooperative) {
    int blocks = 0;
    context.require(context->resident_blocks(&blocks, function.handle(),
                                             static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]),
                                             static_cast<size_t>(launch.shared_bytes)),
                    "resident_blocks");
    facts.resident_blocks = blocks;
  }
  if (launch.clustered()) {
    config.attributes = attributes.data();
    config.attribute_count = 1;  // the cluster dimensions come first
    int clusters = 0;
    const int result = context->resident_clusters(&clusters, function.handle(), &config);
    facts.resident_clusters = result == driver::kSuccess ? clusters : 0;
  }
}
}  // namespace

PreparedPlan::PreparedPlan(const driver::Context& context, const driver::Module& module,
                           const std::map<std::string, int64_t>& parameters, const LaunchPlan& plan,
                           const std::vector<DeviceBuffer>& buffers)
    : context_(context) {
  for (const PlannedWorkspace& workspace : plan.workspaces) {
    if (workspace.zeroed) zeroed_.push_back(find(buffers, workspace.name));
  }
  for (const PlannedLaunch& launch : plan.launches) {
    launches_.push_back(prepare(module, parameters, plan, launch, buffers));
  }
  for (Prepared& prepared : launches_) {
    prepared.config.attributes = prepared.attributes.data();
    prepared.config.attribute_count = static_cast<unsigned>(prepared.attributes.size());
    const int local_bytes = prepared.function.attribute(driver::FunctionAttribute::local_bytes);
    local_bytes_ = std::max(local_bytes_, static_cast<size_t>(local_bytes));
  }
}

PreparedPlan::Prepared PreparedPlan::prepare(const driver::Module& module,
                                             const std::map<std::string, int64_t>& parameters, const LaunchPlan& plan,
                                             const PlannedLaunch& launch,
                                             const std::vector<DeviceBuffer>& buffers) const {
  const auto invalid = [&](const std::string& message) { return InvalidLaunch(launch.kernel, message); };
  const auto takes = parameters.find(launch.kernel);
  if (takes == parameters.end()) {
    throw invalid("the binary has no such kernel; it must be an extern \"C\" __global__ function");
  }
  if (takes->second != static_cast<int64_t>(launch.args.size())) {
    throw invalid("takes " + std::to_string(takes->second) + " parameters, and the plan gives it " +
                  std::to_string(launch.args.size()));
  }
  Prepared prepared;
  prepared.function = module.function(launch.kernel);
  const driver::Function& function = prepared.function;
  const DeviceLimits limits = limits_of(context_);
  KernelFacts facts = facts_of(function);
  if (auto why = why_not(launch, limits, facts)) throw invalid(*why);
  if (launch.shared_bytes + facts.static_shared_bytes > kSharedWithoutAsking) {
    function.set_attribute(driver::FunctionAttribute::dynamic_shared_bytes, static_cast<int>(launch.shared_bytes));
  }
  if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > kPortableCluster) {
    function.set_attribute(driver::FunctionAttribute::non_portable_cluster, 1);
  }
  for (size_t d = 0; d < 3; ++d) {
    prepared.config.grid[d] = static_cast<unsigned>(launch.grid[d]);
    prepared.config.block[d] = static_cast<unsigned>(launch.block[d]);
  }
  prepared.config.shared_bytes = static_cast<unsigned>(launch.shared_bytes);
  prepared.attributes = attributes_of(launch);
  ask_residency(context_, function, launch, prepared.config, prepared.attributes, facts);
  if (auto why = why_not(launch, limits, facts)) throw invalid(*why);
  for (size_t i = 0; i < launch.args.size(); ++i) {
    prepared.arguments.push_back(argument(launch, i, plan, buffers, function));
  }
  return prepared;
}

PreparedPlan::Argument PreparedPlan::argument(const PlannedLaunch& launch, size_t index, const LaunchPlan& plan,
                                              const std::vector<DeviceBuffer>& buffers,
                                              const driver::Function& function) const {
  Argument argument;
  size_t bytes = 0;
  if (const auto* scalar = std::get_if<ScalarArg>(&launch.args[index])) {
    std::visit([&](auto value) { store(argument.bytes, value); }, scalar->value);
    bytes = core::bytes_of(scalar->value).size();
  } else if (const auto* buffer = std::get_if<BufferArg>(&launch.args[index])) {
    store(argument.bytes, find(buffers, buffer->name).address);
    bytes = sizeof(driver::DevicePtr);
  } else {
    const std::string& name = std::get<TensorMapArg>(launch.args[index]).name;
    const auto map = std::ranges::find_if(plan.tensor_maps, [&](const PlannedTensorMap& m) { return m.name == name; });
    if (map == plan.tensor_maps.end()) throw core::SystemError("the plan names an unknown tensor map: " + name);
    store(argument.bytes, encode(context_, *map, find(buffers, map->buffer).address));
    bytes = sizeof(driver::TensorMapBits);
  }
  if (context_->parameter_info == nullptr) return argument;
  size_t offset = 0, wanted = 0;
  context_.require(context_->parameter_info(function.handle(), index, &offset, &wanted), "parameter_info");
  if (wanted != bytes) {
    throw InvalidLaunch(launch.kernel,
                        "parameter " + std::to_string(index + 1) + " takes " + std::to_string(wanted) +
                            " bytes, and the plan gives it " + std::to_string(bytes) +
                            " (expressions are passed as 32-bit int, scalars with their dtype, tensors as pointers)");
  }
  return argument;
}

void PreparedPlan::enqueue() const {
  for (const DeviceBuffer& workspace : zeroed_) context_.set(workspace.address, 0, workspace.bytes);
  for (const Prepared& launch : launches_) {
    std::array<void*, 128> parameters{};
    if (launch.arguments.size() > parameters.size()) throw core::SystemError("a launch with too many arguments");
    for (size_t i = 0; i < launch.arguments.size(); ++i) {
      parameters[i] = const_cast<std::byte*>(launch.arguments[i].bytes.data());
    }
    launch.function.launch(launch.config, parameters.data());
  }
}

}  // namespace sandbox::gpu::run
