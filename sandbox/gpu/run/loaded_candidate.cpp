#include "sandbox/gpu/run/loaded_candidate.h"

#include <utility>

#include "core/error.h"

namespace sandbox::gpu::run {
namespace {
using core::Json;
using core::JsonView;

// Once more: the compile worker has read hostile source.
std::string inspected(const driver::Context& context, const Platform& platform, std::string binary) {
  platform.inspect(binary, context.facts().architecture);
  return binary;
}

driver::Module load(const driver::Context& context, const std::string& binary) {
  try {
    return driver::Module(context, binary);
  } catch (const driver::DriverError& error) {
    throw core::InputError("", std::string("the binary cannot be loaded: ") + error.what());
  }
}

// The candidate's fault behind a device error; nullopt for errors that are not the candidate's.
std::optional<FaultKind> kind_of(int result) {
  switch (result) {
    case driver::kIllegalAddress:
    case driver::kInvalidAddressSpace:
      return FaultKind::out_of_bounds;
    case driver::kMisalignedAddress:
      return FaultKind::misaligned;
    case driver::kAssert:
    case driver::kIllegalInstruction:
    case driver::kLaunchFailed:
    case driver::kInvalidPc:
      return FaultKind::trap;
    case driver::kHardwareStackError:
      return FaultKind::resource_limit;
    case driver::kInvalidValue:
    case driver::kOutOfResources:
    case driver::kCooperativeTooLarge:
    case driver::kInvalidClusterSize:
      return FaultKind::invalid_launch;
    default:
      return std::nullopt;
  }
}
}  // namespace

LoadedCandidate::LoadedCandidate(const driver::Context& context, const Platform& platform, L2Flush& flush,
                                 driver::Scrub& scrub, std::string binary)
    : context_(context),
      scrub_(scrub),
      binary_(inspected(context, platform, std::move(binary))),
      parameters_(platform.kernels_of(binary_)),
      knows_variables_(platform.refers_to_variables(binary_, context.facts().architecture)),
      module_(load(context, binary_)),
      timer_(context, flush),
      lent_(context) {}

Json LoadedCandidate::answer(process::Message& message) {
  const JsonView json(message.json, "judge's request");
  const std::string op = json.at("op").string();
  try {
    if (op == "map") return map(json, message.fds);
    if (op == "plan") return plan(json);
    if (op == "go") return go(json);
    return timer_.time(0, false, {});
  } catch (const InvalidLaunch& invalid) {
    return {{"fault", to_json(Fault{FaultKind::invalid_launch, invalid.what(), invalid.kernel(), {}, {}, {}})}};
  } catch (const driver::DriverError& error) {
    const Json fault = fault_of(error);
    // Either only the launch was refused, or the context is broken.
    if (context_->stream_synchronize(context_.stream()) == driver::kSuccess) return fault;
    throw ContextLost{fault};
  }
}

Json LoadedCandidate::fault_of(const driver::DriverError& error) {
  const auto kind = kind_of(error.result());
  if (!kind) return {{"failed", error.what()}};
  std::string message = error.what();
  return {{"fault", to_json(Fault{*kind, std::move(message), kernels_, {}, {}, {}})}};
}

Json LoadedCandidate::map(const JsonView& json, const std::vector<core::UniqueFd>& fds) {
  prepared_.clear();
  if (std::exchange(used_, true) && knows_variables_) module_ = load(context_, binary_);
  launched_ = false;
  lent_.map(json, fds);
  return {{"ok", true}};
}

Json LoadedCandidate::plan(const JsonView& json) {
  plan_ = plan_from_json(json);
  kernels_.clear();
  for (const PlannedLaunch& launch : plan_.launches) kernels_ += (kernels_.empty() ? "" : ", ") + launch.kernel;
  prepare();
  return {{"ok", true}};
}

void LoadedCandidate::prepare() {
  prepared_.clear();
  for (const std::vector<DeviceBuffer>& buffers : lent_.slots()) {
    prepared_.emplace_back(context_, module_, parameters_, plan_, buffers);
  }
}

Json LoadedCandidate::go(const JsonView& json) {
  const auto slots = static_cast<size_t>(json.at("slots").integer(1, static_cast<int64_t>(prepared_.size())));
  // Reloads the module: variables written despite all rules must not reach the next launch.
  if (std::exchange(launched_, true) && knows_variables_) {
    prepared_.clear();
    module_ = driver::Module(context_, binary_);
    prepare();
  }
  // Before each launch: no slot finds on-chip state that another one left.
  const auto scrub = [&] { scrub_.enqueue(prepared_.front().local_bytes()); };
  scrub();
  return timer_.time(
      slots, json.at("hot").boolean(), [&](size_t slot) { prepared_[slot].enqueue(); }, scrub);
}

}  // namespace sandbox::gpu::run
