// A candidate loaded in a run worker of a GPU and launched on the judge's request. It sees only the inputs, outputs and
// workspaces that the judge lends it.
//
// Requests of the judge:
//   {"op":"map","buffers":[{"name","memory":n,"kept":bool,"slot","bytes","mapped_bytes","offset","writable"}...],
//    "axes":{name: n...},"tensors":{name: {"role":"input"|"output","dtype","shape":[...]}...}} + descriptors of those
//    that are not kept: memory n is not mapped yet                                                         {"ok": true}
//                                         Also reloads a candidate whose code takes addresses of variables.
//   {"op":"plan","launches":[...],"workspaces":[...],"tensor_maps":[...]}                                  {"ok": true}
//   {"op":"go","slots":n,"hot":bool}                                        {"ok": true, "us": time, "gated": bool}
//                                         Overwrites remains of earlier launches in registers, shared and local memory,
//                                         reloads code that reads variables of its module, flushes the L2 cache (or,
//                                         hot, leaves it), then launches the plan on each of the first n slots.
//   {"op":"ping"}                         the same without a launch
// The answer to a candidate's failure is {"fault": ...}; after a fault of the device the worker ends.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/fault.h"
#include "sandbox/gpu/driver/scrub.h"
#include "sandbox/gpu/run/launch_sequence.h"
#include "sandbox/gpu/run/platform.h"
#include "sandbox/gpu/run/prepared_plan.h"
#include "sandbox/process/channel.h"
#include "sandbox/wire.h"

namespace sandbox::gpu::run {

class LoadedCandidate {
 public:
  // Throws core::InputError if the binary cannot be loaded here; ContextLost.
  LoadedCandidate(const driver::Context& context, const Platform& platform, L2Flush& flush, driver::Scrub& scrub,
                  std::string binary);

  // Throws ContextLost, with the fault, after a fault of the device.
  core::Json answer(process::Message& message);

 private:
  core::Json map(const core::JsonView& json, const std::vector<core::UniqueFd>& fds);
  core::Json plan(const core::JsonView& json);
  core::Json go(const core::JsonView& json);
  core::Json fault_of(const driver::DriverError& error);
  void prepare();  // plan_, for each slot

  const driver::Context& context_;
  driver::Scrub& scrub_;
  std::string binary_;
  std::map<std::string, int64_t> parameters_;
  bool knows_variables_;  // the addresses of the module's variables are known
  driver::Module module_;
  LaunchTimer timer_;
  LentSlots lent_;
  bool used_ = false;      // memory was lent to it since loading
  bool launched_ = false;  // since then
  LaunchPlan plan_;
  std::vector<PreparedPlan> prepared_;
  std::string kernels_;  // of the plan, for messages
};

}  // namespace sandbox::gpu::run
