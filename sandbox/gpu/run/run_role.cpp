#include "sandbox/gpu/run/run_role.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "sandbox/gpu/run/gpu_jail.h"
#include "sandbox/gpu/run/loaded_candidate.h"
#include "sandbox/process/sealed_memory.h"

namespace sandbox::gpu::run {
namespace {
using core::Json;
// Keeps device memory for candidates' stacks, printf and malloc small, and reserves no part of the L2 cache.
void limit(const driver::Context& context) {
  constexpr size_t kPrintfBytes = 64 << 10, kHeapBytes = 1 << 20;
  context.limit(driver::Limit::stack_bytes, driver::Scrub::kStackBytes);
  context.limit(driver::Limit::printf_bytes, kPrintfBytes);
  context.limit(driver::Limit::heap_bytes, kHeapBytes);
  context.limit(driver::Limit::persisting_l2_bytes, 0);
}

class RunRole {
 public:
  RunRole(const driver::Context& context, const Platform& platform, process::Channel& owner)
      : context_(context), platform_(platform), owner_(owner), flush_(context) {}

  void answer(const process::Message& request) {
    const std::string op = request.json.at("op").get<std::string>();
    if (op == "prove") {
      verify_device(process::read_memory(request.fds.at(0).get()));
      owner_.send({{"ok", true}});
    } else if (op == "open") {
      open(process::read_memory(request.fds.at(0).get()));
    } else {
      owner_.send({{"killed", true}});  // the judge has hung up
    }
  }

 private:
  // Verifies the device with a known result, out[i] = i * factor, over more than one wave of blocks.
  void verify_device(const std::string& binary) {
    scrub_.reset();
    scrub_.emplace(context_, binary);
    const driver::Module module(context_, binary);
    const size_t count = size_t{1} << 20;
    const driver::PrivateMemory out(context_, count * sizeof(uint32_t));
    const uint32_t factor = ++proofs_ * 2654435761u;
    module.function("kw_known_good")(static_cast<unsigned>(count / 256), 256u, out.address(),
                                     static_cast<unsigned>(count), factor);
    std::vector<uint32_t> values(count);
    context_.copy_to_host(values.data(), out.address(), out.bytes());
    for (size_t i = 0; i < count; ++i) {
      if (values[i] != static_cast<uint32_t>(i) * factor) {
        throw core::SystemError("the device computes wrongly: a known-good kernel gave a wrong result");
      }
    }
  }

  void open(const std::string& binary) {
    if (!scrub_) throw core::SystemError("the run worker got a request before its kernels");
    serve_judge(owner_, ++candidates_, [&] {
      auto candidate = std::make_shared<LoadedCandidate>(context_, platform_, flush_, *scrub_, binary);
      return [candidate](process::Message& request) { return candidate->answer(request); };
    });
  }

  const driver::Context& context_;
  const Platform& platform_;
  process::Channel& owner_;
  L2Flush flush_;
  std::optional<driver::Scrub> scrub_;
  int candidates_ = 0;
  uint32_t proofs_ = 0;
};
}  // namespace

void serve_run_role(process::Channel& owner, const Platform& platform, int device_index) {
  std::optional<driver::Driver> driver;
  std::optional<driver::Context> opened;
  const jail::Namespaces namespaces = open_in_namespaces([&] {
    driver.emplace(platform.open_driver());
    opened.emplace(*driver, device_index);
  });
  const driver::Context& context = *opened;
  if (context.attribute(driver::Attribute::pageable_memory_access) != 0) {
    throw core::SystemError(
        context.facts().name +
        " lets kernels read host memory (pageable memory access): candidates do not run on such a device");
  }
  limit(context);
  RunRole role(context, platform, owner);
  context.synchronize();
  Json greeting{{"role", "run"}};
  enter_gpu_jail(namespaces, platform).describe(greeting);
  owner.send(greeting);
  process::serve(owner, [&](const process::Message& request) { role.answer(request); });
}

}  // namespace sandbox::gpu::run
