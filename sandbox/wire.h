// Sandbox values as messages between our processes. Reading is strict and throws core::InputError.
#pragma once

#include <string>
#include <vector>

#include "core/strict_json.h"
#include "sandbox/compilation.h"
#include "sandbox/fault.h"
#include "sandbox/process/channel.h"
#include "sandbox/solution.h"

namespace sandbox {

core::Json to_json(const Fault& fault);
Fault fault_from_json(const core::JsonView& json);

core::Json to_json(const PlannedLaunch& launch);
PlannedLaunch launch_from_json(const core::JsonView& json);

core::Json to_json(const PlannedTensorMap& map);
PlannedTensorMap tensor_map_from_json(const core::JsonView& json);

core::Json to_json(const LaunchPlan& plan);
LaunchPlan plan_from_json(const core::JsonView& json);

core::Json to_json(const CompileRequest& request);
CompileRequest compile_request_from_json(const core::JsonView& json);

// The message's first descriptor is a Built's binary, the second its PTX, if any.
void send_compilation(process::Channel& channel, const Compilation& compilation);
Compilation compilation_from_message(process::Message message);

}  // namespace sandbox
