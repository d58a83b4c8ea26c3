#include "sandbox/cpu/run/candidate_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "sandbox/cpu/memory/mapped_buffer.h"
#include "sandbox/cpu/runtime/bound_launch.h"
#include "sandbox/cpu/runtime/check.h"
#include "sandbox/cpu/runtime/module.h"
#include "sandbox/jail/jail.h"
#include "sandbox/wire.h"

namespace sandbox::cpu::run {
namespace {
using core::Json;
using core::JsonView;

class LoadedCandidate {
 public:
  LoadedCandidate(runtime::Module module, Build build) : module_(std::move(module)), build_(build) {}

  Json answer(process::Message& message) {
    const JsonView json(message.json, "judge's request");
    const std::string op = json.at("op").string();
    if (op == "map") return map(json, message.fds);
    if (op == "plan") return plan(json);
    if (op == "go") return go(json);
    if (op == "coverage") return {{"ok", true}, {"not_run", module_.lines_not_run()}};
    return {{"ok", true}};
  }

 private:
  Json map(const JsonView& json, const std::vector<core::UniqueFd>& fds) {
    mapped_.clear();
    buffers_.clear();
    size_t i = 0;
    for (const JsonView& entry : json.at("buffers").items()) {
      const bool writable = entry.at("writable").boolean();
      memory::MappedBuffer buffer(
          fds.at(i++).get(), static_cast<size_t>(entry.at("bytes").integer(1)),
          writable ? memory::MappedBuffer::Access::read_write : memory::MappedBuffer::Access::read_only);
      buffers_.push_back({entry.at("name").string(), buffer.content().data(), buffer.content().size(), writable});
      mapped_.push_back(std::move(buffer));
    }
    return {{"ok", true}};
  }

  Json plan(const JsonView& json) {
    launches_.clear();
    zeroed_.clear();
    std::vector<PlannedTensorMap> maps;
    for (const JsonView& entry : json.at("tensor_maps").items()) maps.push_back(tensor_map_from_json(entry));
    for (const JsonView& entry : json.at("launches").items()) {
      launches_.push_back(runtime::bound_launch(launch_from_json(entry), maps,
                                                [this](const std::string& name) { return find(name).data; }));
    }
    for (const JsonView& name : json.at("zeroed").items()) zeroed_.push_back(find(name.string()));
    return {{"ok", true}};
  }

  Json go(const JsonView& json) {
    const auto order = static_cast<runtime::Order>(json.at("order").integer(0, 3));
    const uint64_t seed = json.at("seed").json().get<uint64_t>();
    for (const runtime::Buffer& buffer : zeroed_) std::memset(buffer.data, 0, buffer.bytes);
    const std::optional<Fault> fault = build_ == Build::check
                                           ? launch_checked(order, seed, json.at("unset_may_be_read").boolean())
                                           : launch_all(order, seed, Content::first);
    if (fault) return {{"fault", to_json(*fault)}};
    return {{"ok", true}};
  }

  // The content of memory that the kernel has not set: a drawn byte, its complement, or NaN (in shared memory alone).
  enum class Content { first, second, third };

  std::optional<Fault> launch_all(runtime::Order order, uint64_t seed, Content content) {
    const auto drawn = static_cast<uint8_t>(seed >> 56);
    module_.set_shared_poison(content == Content::third    ? 0xff
                              : content == Content::second ? static_cast<uint8_t>(~drawn)
                                                           : drawn);
    runtime::Module::fill_locals(seed, content != Content::first);
    for (const runtime::KernelLaunch& launch : launches_) {
      if (std::optional<Fault> fault = module_.launch(launch, buffers_, order, seed)) return fault;
    }
    return std::nullopt;
  }

  // Again with each content, where memory was read that nothing had set: it must not show. Shared memory may be read
  // so at all only if `unset_may_be_read`.
  std::optional<Fault> launch_checked(runtime::Order order, uint64_t seed, bool unset_may_be_read) {
    std::map<const runtime::Buffer*, std::string> before;
    for (const runtime::Buffer& buffer : buffers_) {
      if (buffer.writable) before.emplace(&buffer, content_of(buffer));
    }
    std::optional<Fault> fault = launch_all(order, seed, Content::first);
    const std::optional<Fault> unset_read = runtime::take_unset_read();
    if (unset_read && !unset_may_be_read) return unset_read;
    if (!unset_read && (fault || !module_.has_filled_locals())) return fault;
    const std::string words = fault ? fault->describe() : "";
    std::map<const runtime::Buffer*, size_t> first;
    for (const auto& [buffer, content] : before) first[buffer] = std::hash<std::string_view>()(content_of(*buffer));
    for (const Content content : {Content::second, Content::third}) {
      if (content == Content::third && !unset_read) break;
      for (const auto& [buffer, bytes] : before) std::memcpy(buffer->data, bytes.data(), bytes.size());
      const std::optional<Fault> again = launch_all(order, seed, content);
      runtime::take_unset_read();
      if (unset_read && (again ? again->describe() : "") != words) return unset_read;
      if (again) return again;
      for (const auto& [buffer, hash] : first) {
        if (std::hash<std::string_view>()(content_of(*buffer)) == hash) continue;
        if (unset_read) return unset_read;
        return Fault{FaultKind::uninitialised,
                     "what it writes to '" + buffer->name + "' depends on local variables that nothing has set",
                     launches_.size() == 1 ? launches_[0].kernel : "",
                     {},
                     {},
                     {}};
      }
    }
    return fault;
  }

  static std::string_view content_of(const runtime::Buffer& buffer) {
    return {reinterpret_cast<const char*>(buffer.data), buffer.bytes};
  }

  const runtime::Buffer& find(const std::string& name) const {
    const auto found =
        std::ranges::find_if(buffers_, [&](const runtime::Buffer& buffer) { return buffer.name == name; });
    if (found == buffers_.end()) throw core::SystemError("the plan names an unmapped buffer: " + name);
    return *found;
  }

  runtime::Module module_;
  Build build_;
  std::vector<memory::MappedBuffer> mapped_;
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
    // Stacks and shadow memory are large and touched here and there. Where this is refused, they only take more memory.
    if (build == Build::check) ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    jail::JailLimits jail;
    jail.processor_s = limits.processor_s;
    jail.address_space_bytes = limits.address_space_bytes;
    jail.data_bytes = limits.data_bytes;
    jail.channel = worker.fd();
    const pid_t own_pid = ::getpid();
    jail::enter_jail(jail::JailProfile::candidate, {}, jail);
    worker.send({{"loaded", true}});
    LoadedCandidate process(std::move(*module), build);
    while (true) {
      ::kill(own_pid, SIGSTOP);
      process::Message message = worker.receive();
      const Json answer = process.answer(message);
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
