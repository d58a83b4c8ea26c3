#include "sandbox/cpu/run/candidate_process.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "core/error.h"
#include "sandbox/cpu/runtime/mapped_buffer.h"
#include "sandbox/cpu/runtime/module.h"
#include "sandbox/jail/jail.h"
#include "sandbox/wire.h"

namespace sandbox::cpu::run {
namespace {
using core::Json;
using core::JsonView;

std::vector<std::byte> bytes_of(const void* value, size_t size) {
  std::vector<std::byte> bytes(size);
  std::memcpy(bytes.data(), value, size);
  return bytes;
}

class LoadedCandidate {
 public:
  explicit LoadedCandidate(runtime::Module module) : module_(std::move(module)) {}

  Json answer(process::Message& message) {
    const JsonView json(message.json, "judge's request");
    const std::string op = json.at("op").string();
    if (op == "map") return map(json, message.fds);
    if (op == "plan") return plan(json);
    if (op == "go") return go(json);
    return {{"ok", true}};
  }

 private:
  Json map(const JsonView& json, const std::vector<core::UniqueFd>& fds) {
    mapped_.clear();
    buffers_.clear();
    size_t i = 0;
    for (const JsonView& entry : json.at("buffers").items()) {
      const bool writable = entry.at("writable").boolean();
      runtime::MappedBuffer buffer(
          fds.at(i++).get(), static_cast<size_t>(entry.at("bytes").integer(1)),
          writable ? runtime::MappedBuffer::Access::read_write : runtime::MappedBuffer::Access::read_only);
      buffers_.push_back({entry.at("name").string(), buffer.content().data(), buffer.content().size(), writable});
      mapped_.push_back(std::move(buffer));
    }
    return {{"ok", true}};
  }

  Json plan(const JsonView& json) {
    launches_.clear();
    zeroed_.clear();
    for (const JsonView& entry : json.at("launches").items()) {
      const PlannedLaunch planned = launch_from_json(entry);
      runtime::KernelLaunch launch{
          planned.kernel, planned.grid, planned.block, static_cast<size_t>(planned.shared_bytes), {}};
      for (const PlanArg& arg : planned.args) {
        if (const auto* scalar = std::get_if<ScalarArg>(&arg)) {
          launch.args.push_back(bytes_of(&scalar->value, sizeof scalar->value));
        } else {
          const std::byte* data = find(std::get<BufferArg>(arg).name).data;
          launch.args.push_back(bytes_of(&data, sizeof data));
        }
      }
      launches_.push_back(std::move(launch));
    }
    for (const JsonView& name : json.at("zeroed").items()) zeroed_.push_back(find(name.string()));
    return {{"ok", true}};
  }

  Json go(const JsonView& json) {
    const auto order = static_cast<runtime::Order>(json.at("order").integer(0, 3));
    const uint64_t seed = json.at("seed").json().get<uint64_t>();
    module_.set_shared_poison(static_cast<uint8_t>(seed >> 56));
    for (const runtime::Buffer& buffer : zeroed_) std::memset(buffer.data, 0, buffer.bytes);
    for (const runtime::KernelLaunch& launch : launches_) {
      if (const std::optional<Fault> fault = module_.launch(launch, buffers_, order, seed)) {
        return {{"fault", to_json(*fault)}};
      }
    }
    return {{"ok", true}};
  }

  const runtime::Buffer& find(const std::string& name) const {
    const auto found =
        std::ranges::find_if(buffers_, [&](const runtime::Buffer& buffer) { return buffer.name == name; });
    if (found == buffers_.end()) throw core::SystemError("the plan names an unmapped buffer: " + name);
    return *found;
  }

  runtime::Module module_;
  std::vector<runtime::MappedBuffer> mapped_;
  std::vector<runtime::Buffer> buffers_, zeroed_;
  std::vector<runtime::KernelLaunch> launches_;
};

std::optional<runtime::Module> load(process::Channel& worker, const core::UniqueFd& binary, Build build) {
  try {
    return runtime::Module::load(binary.get(), build);
  } catch (const core::InputError& refusal) {
    worker.send({{"refused", refusal.what()}});
    return std::nullopt;
  }
}
}  // namespace

void serve_candidate(process::Channel worker, core::UniqueFd binary, Build build, const CandidateLimits& limits) {
  try {
    std::optional<runtime::Module> module = load(worker, binary, build);
    if (!module) ::_exit(0);
    binary.reset();
    jail::JailLimits jail;
    jail.processor_s = limits.processor_s;
    jail.address_space_bytes = limits.address_space_bytes;
    jail.data_bytes = limits.data_bytes;
    jail.channel = worker.fd();
    const pid_t own_pid = ::getpid();
    jail::enter_jail(jail::JailProfile::cell, {}, jail);
    worker.send({{"loaded", true}});
    LoadedCandidate cell(std::move(*module));
    while (true) {
      ::kill(own_pid, SIGSTOP);
      process::Message message = worker.receive();
      const Json answer = cell.answer(message);
      worker.send(answer);
      if (answer.contains("fault")) ::_exit(0);  // a module that faulted is not run again
    }
  } catch (const process::ChannelClosed&) {
    ::_exit(0);
  } catch (const std::exception&) {
    ::_exit(kCandidateProcessFailed);
  }
}

}  // namespace sandbox::cpu::run
