#include "sandbox/cuda/cell.h"

#include <utility>

#include "core/error.h"
#include "sandbox/cuda/cubin.h"

namespace sandbox::cuda {
namespace {
using core::Json;
using core::JsonView;

constexpr size_t kFlushFactor = 3;
constexpr size_t kSlotsPerGate = 8;  // launching so many slots takes about as long as one flush

Module load(const Context& context, const std::string& cubin) {
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

L2Flush::L2Flush(const Context& context)
    : context_(context), memory_(context, kFlushFactor * static_cast<size_t>(context.facts().l2_bytes)) {}

void L2Flush::enqueue() {
  context_.require(
      context_->cuMemsetD32Async(memory_.address(), ++pattern_ * 0x9E3779B9u, memory_.bytes() / 4, context_.stream()),
      "cuMemsetD32Async");
}

Cell::Cell(const Context& context, L2Flush& flush, const std::string& cubin)
    : context_(context),
      flush_(flush),
      parameters_(kernels_of(cubin)),
      module_(load(context, cubin)),
      begin_(context),
      end_(context) {}

Json Cell::answer(Message& message) {
  const JsonView json(message.json, "judge's request");
  const std::string op = json.at("op").string();
  try {
    if (op == "map") return map(json, message.fds);
    if (op == "plan") return plan(json);
    if (op == "go") return go(json);
    return time(0, false);
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
  slots_.clear();
  mapped_.clear();
  size_t i = 0;
  for (const JsonView& entry : json.at("buffers").items()) {
    const auto bytes = static_cast<size_t>(entry.at("bytes").integer(1));
    const auto mapped_bytes = static_cast<size_t>(entry.at("mapped_bytes").integer(1));
    const auto offset = static_cast<size_t>(entry.at("offset").integer(0));
    const auto slot = static_cast<size_t>(entry.at("slot").integer(0, 63));
    const Access access = entry.at("writable").boolean() ? Access::read_write : Access::read;
    if (offset + bytes > mapped_bytes) throw core::SystemError("a lent buffer does not fit its memory");
    mapped_.push_back(SharedMemory::import(context_, fds.at(i++).get(), mapped_bytes, access));
    if (slots_.size() <= slot) slots_.resize(slot + 1);
    slots_[slot].push_back({entry.at("name").string(), mapped_.back().begin() + offset, bytes});
  }
  return {{"ok", true}};
}

Json Cell::plan(const JsonView& json) {
  const LaunchPlan plan = plan_from_json(json);
  kernels_.clear();
  for (const PlannedLaunch& launch : plan.launches) kernels_ += (kernels_.empty() ? "" : ", ") + launch.kernel;
  prepared_.clear();
  for (const std::vector<DeviceBuffer>& buffers : slots_) {
    prepared_.emplace_back(context_, module_, parameters_, plan, buffers);
  }
  return {{"ok", true}};
}

Json Cell::go(const JsonView& json) {
  const auto slots = static_cast<size_t>(json.at("slots").integer(1, static_cast<int64_t>(prepared_.size())));
  return time(slots, json.at("hot").boolean());
}

Json Cell::time(size_t slots, bool hot) {
  context_.require(context_->cuCtxResetPersistingL2Cache(), "cuCtxResetPersistingL2Cache");
  if (hot) {
    for (size_t slot = 0; slot < slots; ++slot) prepared_[slot].enqueue();
  } else {
    for (size_t i = 0; i <= slots / kSlotsPerGate; ++i) flush_.enqueue();
  }
  // While the device still writes the flush, everything below is queued: no gap is timed.
  begin_.record();
  for (size_t slot = 0; slot < slots; ++slot) prepared_[slot].enqueue();
  end_.record();
  const bool gated = !begin_.passed();
  context_.synchronize();
  return {{"ok", true}, {"us", end_.us_since(begin_)}, {"gated", gated}};
}

}  // namespace sandbox::cuda
