#include "sandbox/cuda/cell.h"

#include <utility>

#include "core/error.h"
#include "sandbox/cuda/cubin.h"

namespace sandbox::cuda {
namespace {
using core::Json;
using core::JsonView;

Module load(const Context& context, const std::string& cubin) {
  inspect_cubin(cubin);  // the compile worker has read hostile source: what it says was looked at is looked at again
  try {
    return Module(context, cubin);
  } catch (const DriverError& error) {
    throw core::InputError("", std::string("the binary cannot be loaded: ") + error.what());
  }
}

// What an error of the device says of the candidate; nullopt for those that are no fault of its own.
std::optional<FaultKind> kind_of(int result) {
  switch (result) {
    case kIllegalAddress:
    case kInvalidAddressSpace:
      return FaultKind::out_of_bounds;
    case kMisalignedAddress:
      return FaultKind::misaligned;
    case kAssert:
    case kIllegalInstruction:
    case kLaunchFailed:
    case kInvalidPc:
      return FaultKind::trap;
    case kHardwareStackError:
      return FaultKind::resource_limit;
    case kInvalidValue:
    case kOutOfResources:
    case kCooperativeTooLarge:
    case kInvalidClusterSize:
      return FaultKind::invalid_launch;
    default:
      return std::nullopt;
  }
}
}  // namespace

Cell::Cell(const Context& context, L2Flush& flush, Scrub& scrub, std::string cubin)
    : context_(context),
      scrub_(scrub),
      cubin_(std::move(cubin)),
      parameters_(kernels_of(cubin_)),
      knows_variables_(refers_to_variables(cubin_)),
      module_(load(context, cubin_)),
      timer_(context, flush),
      lent_(context) {}

Json Cell::answer(Message& message) {
  const JsonView json(message.json, "judge's request");
  const std::string op = json.at("op").string();
  try {
    if (op == "map") return map(json, message.fds);
    if (op == "plan") return plan(json);
    if (op == "go") return go(json);
    return timer_.time(0, false, {});
  } catch (const InvalidLaunch& invalid) {
    return {{"fault", to_json(Fault{FaultKind::invalid_launch, invalid.what(), invalid.kernel(), {}, {}, {}})}};
  } catch (const DriverError& error) {
    last_fault_ = fault_of(error);
    // Is it the launch alone that was refused, or is the context gone?
    if (context_->cuStreamSynchronize(context_.stream()) == kSuccess) return last_fault_;
    throw ContextLost();
  }
}

Json Cell::fault_of(const DriverError& error) {
  const auto kind = kind_of(error.result());
  if (!kind) return {{"failed", error.what()}};
  std::string message = error.what();
  return {{"fault", to_json(Fault{*kind, std::move(message), kernels_, {}, {}, {}})}};
}

Json Cell::map(const JsonView& json, const std::vector<core::UniqueFd>& fds) {
  prepared_.clear();
  if (std::exchange(used_, true)) module_ = load(context_, cubin_);
  launched_ = false;
  lent_.map(json, fds);
  return {{"ok", true}};
}

Json Cell::plan(const JsonView& json) {
  plan_ = plan_from_json(json);
  kernels_.clear();
  for (const PlannedLaunch& launch : plan_.launches) kernels_ += (kernels_.empty() ? "" : ", ") + launch.kernel;
  prepare();
  return {{"ok", true}};
}

void Cell::prepare() {
  prepared_.clear();
  for (const std::vector<DeviceBuffer>& buffers : lent_.slots()) {
    prepared_.emplace_back(context_, module_, parameters_, plan_, buffers);
  }
}

Json Cell::go(const JsonView& json) {
  const auto slots = static_cast<size_t>(json.at("slots").integer(1, static_cast<int64_t>(prepared_.size())));
  // What such code may have written to its variables, past all rules, is not there for the next launch.
  if (std::exchange(launched_, true) && knows_variables_) {
    prepared_.clear();
    module_ = Module(context_, cubin_);
    prepare();
  }
  scrub_.enqueue(prepared_.front().local_bytes());
  return timer_.time(slots, json.at("hot").boolean(), [&](size_t slot) { prepared_[slot].enqueue(); });
}

}  // namespace sandbox::cuda
