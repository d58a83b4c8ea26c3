#include "verifier/devices/cpu/device.h"

#include <algorithm>
#include <deque>
#include <map>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/unique_fd.h"
#include "sandbox/cpu/memory/mapped_buffer.h"
#include "sandbox/cpu/runtime/module.h"
#include "sandbox/jail/jail.h"
#include "sandbox/jail/namespaces.h"
#include "sandbox/wire.h"
#include "verifier/comparison/difference.h"
#include "verifier/comparison/output_rules.h"
#include "verifier/devices/cpu/host_outputs.h"
#include "verifier/judging/session.h"

namespace verifier::devices::cpu {
namespace {
using core::Json;
using judging::Launched;
using judging::LaunchRequest;
using judging::LentBuffer;
using judging::LentBuffers;
using judging::ProcessFailure;
using judging::TensorBytes;
using sandbox::cpu::memory::MappedBuffer;
using sandbox::cpu::runtime::Buffer;
using sandbox::cpu::runtime::Order;
template <typename T>
std::vector<std::byte> bytes_of(const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return {bytes.begin(), bytes.end()};
}

// Memory for the runs of a trusted solution, which no other process sees: kept from run to run, since mapping it anew
// takes longer than most runs.
class OwnMemory {
 public:
  void reuse() {
    taken_.clear();
    if (bytes_ <= kMostKept) return;
    kept_.clear();
    bytes_ = 0;
  }
  // The content is whatever an earlier run left. Valid until reuse().
  std::span<std::byte> take(size_t bytes) {
    std::deque<MappedBuffer>& of_this_size = kept_[bytes];
    size_t& taken = taken_[bytes];
    if (taken == of_this_size.size()) {
      of_this_size.emplace_back(bytes);
      bytes_ += sandbox::cpu::memory::memory_file_bytes(bytes);
    }
    return of_this_size[taken++].content();
  }

 private:
  static constexpr size_t kMostKept = size_t{256} << 20;  // a draw at the end of a domain, and the next one there
  std::map<size_t, std::deque<MappedBuffer>> kept_;       // by size
  std::map<size_t, size_t> taken_;
  size_t bytes_ = 0;
};

class CpuTrusted : public HostOutputs {
 public:
  CpuTrusted(sandbox::cpu::runtime::Module module, sandbox::Solution solution, sandbox::TunableBinding binding,
             bool wide)
      : module_(std::move(module)), solution_(std::move(solution)), binding_(std::move(binding)), wide_outputs_(wide) {
    module_.keep_stacks();
  }

  void run(const benchsuite::Problem& problem, const core::Bindings& axes, const LentBuffers& inputs) override {
    forget();
    std::vector<Buffer> buffers;
    for (const auto& input : inputs) {
      const MemoryFile& file = file_of(*input);
      buffers.push_back({file.name(), file.content().data(), file.bytes(), file.writable()});
    }
    launch(problem, axes, std::move(buffers));
  }

  void run(const benchsuite::Problem& problem, const core::Bindings& axes, const TensorBytes& inputs) override {
    forget();
    std::vector<Buffer> buffers;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::span<std::byte> content = memory_.take(inputs[i].size());
      std::ranges::copy(inputs[i], content.begin());
      buffers.push_back({problem.inputs[i].name, content.data(), content.size(), false});
    }
    launch(problem, axes, std::move(buffers));
  }

 private:
  void forget() {
    outputs_.clear();
    memory_.reuse();
  }

  void launch(const benchsuite::Problem& problem, const core::Bindings& axes, std::vector<Buffer> buffers) {
    const sandbox::LaunchPlan plan = sandbox::bind_plan(solution_, binding_, axes, &problem);
    const auto add = [&](const std::string& name, size_t bytes) {
      require_room(name, bytes);
      const std::span<std::byte> content = memory_.take(bytes);
      std::ranges::fill(content, std::byte{0});
      buffers.push_back({name, content.data(), bytes, true});
      return content;
    };
    for (const benchsuite::Tensor& tensor : problem.outputs) {
      outputs_.emplace_back(add(tensor.name, reference::output_bytes(tensor, axes, wide_outputs_)));
    }
    for (const sandbox::PlannedWorkspace& workspace : plan.workspaces) {
      add(workspace.name, static_cast<size_t>(workspace.bytes));
    }
    for (const sandbox::PlannedLaunch& planned : plan.launches) {
      if (const auto fault = module_.launch(bind_args(planned, buffers), buffers, Order::forward, 0)) {
        throw core::InputError(solution_.file, "fails when it runs: " + fault->describe());
      }
    }
  }

  static sandbox::cpu::runtime::KernelLaunch bind_args(const sandbox::PlannedLaunch& planned,
                                                       const std::vector<Buffer>& buffers) {
    sandbox::cpu::runtime::KernelLaunch launch{
        planned.kernel, planned.grid, planned.block, static_cast<size_t>(planned.shared_bytes), {}};
    for (const sandbox::PlanArg& arg : planned.args) {
      if (const auto* scalar = std::get_if<sandbox::ScalarArg>(&arg)) {
        launch.args.push_back(core::bytes_of(scalar->value));
        continue;
      }
      const std::string& name = std::get<sandbox::BufferArg>(arg).name;
      const auto found = std::find_if(buffers.begin(), buffers.end(), [&](const auto& b) { return b.name == name; });
      if (found == buffers.end()) throw core::SystemError("a trusted plan names an unknown buffer: " + name);
      launch.args.push_back(bytes_of(found->data));
    }
    return launch;
  }

  sandbox::cpu::runtime::Module module_;
  sandbox::Solution solution_;
  sandbox::TunableBinding binding_;
  bool wide_outputs_;
  OwnMemory memory_;
};

// Times are those from a request to its answer on the clock of the candidate's run worker, out of the candidate's
// reach.
class CpuProcess : public judging::CandidateProcess {
 public:
  CpuProcess(sandbox::process::Channel channel, const verdicts::CheckSettings& settings)
      : channel_(std::move(channel), std::chrono::duration<double>(settings.launch_deadline_s)),
        deadline_(settings.launch_deadline_s),
        unset_may_be_read_(settings.unset_may_be_read) {}

  std::optional<ProcessFailure> await_loaded() override { return channel_.await_loaded(); }

  std::optional<ProcessFailure> prepare(const std::vector<std::vector<const LentBuffer*>>& slots,
                                        const sandbox::LaunchPlan& plan, Json shape) override {
    Json buffers = Json::array();
    std::vector<int> fds;
    for (const LentBuffer* buffer : slots.at(0)) {
      const MemoryFile& file = file_of(*buffer);
      buffers.push_back({{"name", buffer->name()},
                         {"slot", 0},
                         {"bytes", buffer->bytes()},
                         {"offset", file.offset()},
                         {"mapped_bytes", file.mapped_bytes()},
                         {"writable", buffer->writable()}});
      fds.push_back(file.fd());
    }
    shape["op"] = "map";
    shape["buffers"] = std::move(buffers);
    if (auto failure = judging::failure_of(channel_.ask(shape, fds))) return failure;
    Json launches = Json::array();
    for (const sandbox::PlannedLaunch& launch : plan.launches) launches.push_back(to_json(launch));
    Json zeroed = Json::array();
    for (const sandbox::PlannedWorkspace& workspace : plan.workspaces) {
      if (workspace.zeroed) zeroed.push_back(workspace.name);
    }
    Json maps = Json::array();
    for (const sandbox::PlannedTensorMap& map : plan.tensor_maps) maps.push_back(to_json(map));
    return judging::failure_of(channel_.ask({{"op", "plan"},
                                             {"launches", std::move(launches)},
                                             {"zeroed", std::move(zeroed)},
                                             {"tensor_maps", std::move(maps)}}));
  }

  std::variant<Launched, ProcessFailure> launch(const LaunchRequest& request) override {
    return launch_beside(request, [] {});
  }
  std::variant<Launched, ProcessFailure> launch_beside(const LaunchRequest& request,
                                                       const std::function<void()>& meanwhile) override {
    const Order order = request.timed ? Order::timed : static_cast<Order>(request.order);
    return timed({{"op", "go"},
                  {"order", static_cast<int>(order)},
                  {"seed", request.seed},
                  {"unset_may_be_read", unset_may_be_read_}},
                 deadline_ * request.patience, meanwhile);
  }
  std::variant<Launched, ProcessFailure> ping() override {
    return timed({{"op", "ping"}}, deadline_, [] {});
  }
  std::variant<std::vector<int64_t>, ProcessFailure> lines_not_run() override {
    auto answer = channel_.ask({{"op", "coverage"}});
    if (auto* failure = std::get_if<ProcessFailure>(&answer)) return std::move(*failure);
    try {
      return std::get<judging::CandidateChannel::Answer>(answer).json.at("not_run").get<std::vector<int64_t>>();
    } catch (const Json::exception&) {
      return ProcessFailure(judging::ProcessDied{});
    }
  }

 private:
  std::variant<Launched, ProcessFailure> timed(const Json& request, std::chrono::duration<double> deadline,
                                               const std::function<void()>& meanwhile) {
    auto answer = channel_.ask(request, {}, deadline, meanwhile);
    if (auto* failure = std::get_if<ProcessFailure>(&answer)) return std::move(*failure);
    return Launched{std::get<judging::CandidateChannel::Answer>(answer).json.at("elapsed_us").get<double>()};
  }

  judging::CandidateChannel channel_;
  std::chrono::duration<double> deadline_;
  bool unset_may_be_read_;
};

judging::DeviceTraits traits_of_cpu() {
  judging::DeviceTraits traits{"cpu", "cpu-rough", "cpu-rough", {"forward", "reverse", "seeded"}, true};
  traits.most_workspace_bytes = int64_t{128} << 20;  // a process may write files of 256 MiB
  // A reference takes seconds at a bench shape here, so only a win is held to it.
  traits.check.bench_shapes_from = verdicts::Effort::confirm;
  traits.check.unseen_elements = 32768;
  traits.check.square_flops = 1 << 26;
  traits.check.unseen_flops = 8'000'000;
  traits.check.beyond_bench = 4;  // bench shapes are small enough here for four times as much
  // An eighth of the work of 128, and yet with rows of 512 and more, at which a kernel may change its ways.
  traits.check.residues = {.count = 64, .inner_reach = 1 << 14, .most_elements = 1 << 17, .most_flops = 1'000'000};
  traits.check.middle_elements = 1 << 18;
  traits.check.far_elements = (1 << 24) + (1 << 20);  // beyond what 24 bits and an f32 count
  traits.check.far_flops = 1 << 29;
  traits.check.large_times_bench = 0;  // bench shapes are small here
  // Each takes 6 to 250 ns here, and many times as long in the checking build. One for each element is always within
  // reach, and so is a block of 256 for each of 32769 rows, beyond what 15 bits count.
  traits.check.far_threads = 9'500'000;
  traits.check.far_us = 6e6;  // a thread that sorts 32 elements takes 26 us
  traits.check.threads_of_indices = 1 << 23;
  traits.check.long_threads = 1 << 21;
  traits.check.middle_threads = 1 << 18;
  traits.check.checking_build_threads = 1 << 15;
  traits.check.persistent_threads = 1 << 15;
  traits.check.threads_for_draws = 1 << 18;
  traits.check.cost_for_draws = 30'000'000;
  traits.check.naive_errors_stay_from =
      INT64_MAX;  // outputs are small, and the naive solution is quick beside the rest
  traits.timing.pings = 21;
  traits.timing.least_time_us = 0.1;
  traits.timing.short_us = 0;        // a request per launch, whose own time is taken off
  traits.timing.draws_in_place = 0;  // memory files are mapped alike for both sides
  traits.timing.tries = 1;
  return traits;
}

class CpuDevice : public judging::JudgeDevice {
 public:
  const judging::DeviceTraits& traits() const override { return traits_; }
  std::optional<Json> answer(const std::string&, sandbox::process::Message&) override { return std::nullopt; }

  std::unique_ptr<judging::TrustedSolution> load_trusted(int binary, sandbox::Solution solution,
                                                         sandbox::TunableBinding binding, bool wide) override {
    return std::make_unique<CpuTrusted>(sandbox::cpu::runtime::Module::load(binary, sandbox::Build::fast),
                                        std::move(solution), std::move(binding), wide);
  }
  std::unique_ptr<judging::TrustedSolution> load_pytorch(std::shared_ptr<reference::ReferenceChannel> channel,
                                                         bool in_double) override {
    return make_pytorch_trusted(std::move(channel), in_double);
  }
  std::unique_ptr<judging::CandidateProcess> connect(sandbox::process::Channel channel,
                                                     const verdicts::CheckSettings& settings) override {
    return std::make_unique<CpuProcess>(std::move(channel), settings);
  }

  std::unique_ptr<LentBuffer> lend(std::string name, size_t bytes, bool writable, statistics::Keys&) override {
    return std::make_unique<MemoryFile>(std::move(name), bytes, writable);
  }
  void fill(LentBuffer& buffer, const benchsuite::Tensor& tensor, const core::Bindings& axes,
            draws::Distribution distribution, uint64_t key, double number) override {
    draws::fill_input(file_of(buffer).content(), tensor, axes, distribution, key, number);
  }
  void store(LentBuffer& buffer, std::span<const std::byte> bytes) override {
    std::ranges::copy(bytes, file_of(buffer).content().begin());
  }
  void poison(LentBuffer& buffer, const judging::PoisonKeys& keys) override {
    const MappedBuffer& memory = file_of(buffer).memory();
    draws::fill_poison(memory.content(), keys.content);
    draws::fill_poison(memory.slack_before(), keys.before);
    draws::fill_poison(memory.slack_after(), keys.after);
  }

  bool slack_untouched(const LentBuffer& buffer, const judging::PoisonKeys& keys) override {
    const MappedBuffer& memory = file_of(buffer).memory();
    return draws::untouched(memory.slack_before(), keys.before) && draws::untouched(memory.slack_after(), keys.after);
  }
  draws::Survivors find_poison(const LentBuffer& buffer, size_t element_bytes, uint64_t key) override {
    return draws::find_poison(file_of(buffer).content(), element_bytes, key);
  }
  std::vector<std::byte> fetch(const LentBuffer& buffer) const override {
    const std::span<std::byte> content = file_of(buffer).content();
    return {content.begin(), content.end()};
  }
  std::vector<std::byte> gather(const LentBuffer& buffer, size_t element_bytes,
                                const std::vector<int64_t>& places) override {
    return comparison::gathered(file_of(buffer).content(), element_bytes, places);
  }
  comparison::Moments moments(const LentBuffer& buffer, core::DType dtype) override {
    return comparison::moments_of(dtype, file_of(buffer).content());
  }
  double difference(const LentBuffer& a, const LentBuffer& b, core::DType dtype) override {
    return comparison::largest_difference(dtype, file_of(a).content(), file_of(b).content());
  }
  std::variant<comparison::Match, verdicts::Verdict> compare(const comparison::OutputForm& form,
                                                             const judging::ComparedOutput& compared) override {
    return comparison::compare(form, compared.exact, file_of(compared.output).content(),
                               naive_run(compared.reference, compared.naive, compared.index), compared.close_by);
  }
  std::vector<comparison::NaiveTile> naive_errors(core::DType dtype, const comparison::Tiling& tiling,
                                                  const judging::TrustedSolution& reference,
                                                  const judging::TrustedSolution& naive, size_t index) override {
    return comparison::naive_tiles(dtype, tiling, naive_run(reference, naive, index));
  }

 private:
  static comparison::NaiveRun naive_run(const judging::TrustedSolution& reference,
                                        const judging::TrustedSolution& naive, size_t index) {
    return {static_cast<const HostOutputs&>(reference).output(index),
            static_cast<const HostOutputs&>(naive).output(index)};
  }

  judging::DeviceTraits traits_ = traits_of_cpu();
};
}  // namespace

void serve_judge_role(sandbox::process::Channel& owner) {
  sandbox::jail::JailLimits limits;
  limits.address_space_bytes = 0;
  const sandbox::jail::Namespaces namespaces = sandbox::jail::enter_namespaces(sandbox::jail::Pids::shared);
  Json greeting{{"role", "judge"}};
  sandbox::jail::enter_jail(sandbox::jail::JailProfile::judge, {}, limits, namespaces).describe(greeting);
  owner.send(greeting);
  CpuDevice device;
  judging::serve_judge(owner, device);
}

}  // namespace verifier::devices::cpu
