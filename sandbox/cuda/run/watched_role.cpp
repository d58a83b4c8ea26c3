#include "sandbox/cuda/run/roles.h"

#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "sandbox/cuda/driver/driver.h"
#include "sandbox/cuda/inspection/cubin.h"
#include "sandbox/gpu/run/prepared_plan.h"
#include "sandbox/process/sealed_memory.h"
#include "sandbox/wire.h"

namespace sandbox::cuda::run {
namespace {
constexpr int64_t kMostBytes = int64_t{4} << 30;  // of an input

using core::Json;
using core::JsonView;

// Allocates each buffer separately with its exact size, so that a tool detects the first byte beyond it. Writes only
// inputs, so that it also detects reads of unwritten memory.
class Watched {
 public:
  Watched(const gpu::driver::Context& context, const std::string& cubin)
      : context_(context), parameters_(inspection::kernels_of(cubin)), module_(context, cubin) {}

  void launch(const JsonView& shape, const std::vector<core::UniqueFd>& fds, size_t& next) {
    std::vector<gpu::driver::PrivateMemory> memory;
    std::vector<gpu::run::DeviceBuffer> buffers;
    const auto add = [&](std::string name, size_t bytes) {
      memory.emplace_back(context_, bytes);
      buffers.push_back({std::move(name), memory.back().address(), bytes});
    };
    for (const JsonView& input : shape.at("inputs").items()) {
      const std::string content = process::read_memory(fds.at(next++).get(), kMostBytes);
      add(input.at("name").string(), content.size());
      context_.copy_to_device(buffers.back().address, content.data(), content.size());
    }
    for (const JsonView& output : shape.at("outputs").items()) {
      add(output.at("name").string(), static_cast<size_t>(output.at("bytes").integer(1)));
    }
    const LaunchPlan plan = plan_from_json(shape.at("plan"));
    for (const PlannedWorkspace& workspace : plan.workspaces) add(workspace.name, static_cast<size_t>(workspace.bytes));
    gpu::run::PreparedPlan(context_, module_, parameters_, plan, buffers).enqueue();
    context_.synchronize();
  }

 private:
  const gpu::driver::Context& context_;
  std::map<std::string, int64_t> parameters_;
  gpu::driver::Module module_;
};
}  // namespace

void serve_watched_role(process::Channel& owner, int device_index) {
  const gpu::driver::Driver driver = driver::open_driver();
  const gpu::driver::Context context(driver, device_index);
  owner.send({{"role", "watched"}});
  const process::Message request = owner.receive();
  try {
    Watched watched(context, process::read_memory(request.fds.at(0).get()));
    size_t next = 1;
    for (const JsonView& shape : JsonView(request.json, "owner's request").at("shapes").items()) {
      watched.launch(shape, request.fds, next);
    }
    owner.send({{"ok", true}});
  } catch (const std::exception& error) {  // the tool reports the details
    owner.send({{"failed", error.what()}});
  }
}

}  // namespace sandbox::cuda::run
