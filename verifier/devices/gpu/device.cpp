#include "verifier/devices/gpu/device.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/error.h"
#include "sandbox/gpu/driver/context.h"
#include "sandbox/gpu/run/gpu_jail.h"
#include "sandbox/gpu/run/prepared_plan.h"
#include "sandbox/process/sealed_memory.h"
#include "sandbox/wire.h"
#include "verifier/devices/gpu/calibration.h"
#include "verifier/devices/gpu/device_work.h"
#include "verifier/devices/gpu/shared_buffer.h"
#include "verifier/judging/session.h"

namespace verifier::devices::gpu {
namespace {
using core::Json;
using judging::Launched;
using judging::LaunchRequest;
using judging::LentBuffer;
using judging::LentBuffers;
using judging::ProcessFailure;
using judging::TensorBytes;
using sandbox::gpu::driver::Context;
using sandbox::gpu::driver::DevicePtr;
using sandbox::gpu::driver::PrivateMemory;
using sandbox::gpu::run::ClockState;
using sandbox::gpu::run::DeviceBuffer;
using sandbox::gpu::run::DeviceHealth;
using sandbox::gpu::run::Platform;
class GpuTrusted : public DeviceOutputs {
 public:
  GpuTrusted(const Context& context, const Platform& platform, const std::string& binary, sandbox::Solution solution,
             sandbox::TunableBinding binding, bool wide_outputs)
      : context_(context),
        parameters_(platform.kernels_of(binary)),
        module_(context, binary),
        solution_(std::move(solution)),
        binding_(std::move(binding)),
        wide_outputs_(wide_outputs) {}

  void run(const benchsuite::Problem& problem, const core::Bindings& axes, const LentBuffers& inputs) override {
    std::vector<DeviceBuffer> buffers;
    for (const auto& input : inputs) buffers.push_back(shared(*input).buffer());
    run(problem, axes, std::move(buffers));
  }

  void run(const benchsuite::Problem& problem, const core::Bindings& axes, const TensorBytes& inputs) override {
    std::vector<DeviceBuffer> copies;
    for (size_t i = 0; i < inputs.size(); ++i) {
      copies.push_back(scratch(problem.inputs[i].name, inputs[i].size()));
      context_.copy_to_device(copies[i].address, inputs[i].data(), inputs[i].size());
    }
    run(problem, axes, copies);
  }

  TensorBytes fetch() const override {
    TensorBytes results;
    for (const DeviceBuffer& output : outputs_) results.push_back(to_host(context_, output.address, output.bytes));
    return results;
  }

  DevicePtr output(size_t index) const override { return index < outputs_.size() ? outputs_[index].address : 0; }

 private:
  void run(const benchsuite::Problem& problem, const core::Bindings& axes, std::vector<DeviceBuffer> buffers) {
    const sandbox::LaunchPlan plan = sandbox::bind_plan(solution_, binding_, axes, &problem);
    outputs_.clear();
    for (const benchsuite::Tensor& tensor : problem.outputs) {
      outputs_.push_back(scratch(tensor.name, reference::output_bytes(tensor, axes, wide_outputs_)));
    }
    buffers.insert(buffers.end(), outputs_.begin(), outputs_.end());
    for (const sandbox::PlannedWorkspace& workspace : plan.workspaces) {
      buffers.push_back(scratch(workspace.name, static_cast<size_t>(workspace.bytes)));
    }
    try {
      sandbox::gpu::run::PreparedPlan(context_, module_, parameters_, plan, buffers).enqueue();
    } catch (const sandbox::gpu::run::InvalidLaunch& invalid) {
      throw core::SystemError(solution_.file + " cannot be launched in the judge: " + invalid.what());
    }
  }

  DeviceBuffer scratch(const std::string& name, size_t bytes) {
    PrivateMemory& memory = memory_[name];
    if (memory.bytes() < bytes) {
      memory = PrivateMemory();  // given back before more is taken
      memory = PrivateMemory(context_, bytes);
    }
    return {name, memory.address(), bytes};
  }

  const Context& context_;
  std::map<std::string, int64_t> parameters_;
  sandbox::gpu::driver::Module module_;
  sandbox::Solution solution_;
  sandbox::TunableBinding binding_;
  bool wide_outputs_;
  std::map<std::string, PrivateMemory> memory_;  // by name; grows as shapes ask for more
  std::vector<DeviceBuffer> outputs_;
};

class GpuProcess : public judging::CandidateProcess {
 public:
  GpuProcess(sandbox::process::Channel channel, const verdicts::CheckSettings& settings)
      : channel_(std::move(channel), std::chrono::duration<double>(settings.launch_deadline_s)),
        launch_deadline_(settings.launch_deadline_s),
        prepare_deadline_(settings.prepare_deadline_s) {}

  std::optional<ProcessFailure> await_loaded() override { return channel_.await_loaded(); }

  std::optional<ProcessFailure> prepare(const std::vector<std::vector<const LentBuffer*>>& slots,
                                        const sandbox::LaunchPlan& plan, Json shape) override {
    Json buffers = Json::array();
    std::vector<int> descriptors;
    const std::set<int64_t> earlier = std::exchange(mapped_, {});
    std::set<int64_t> now;
    for (size_t slot = 0; slot < slots.size(); ++slot) {
      for (const LentBuffer* lent : slots[slot]) {
        const SharedBuffer& buffer = shared(*lent);
        const bool kept = earlier.contains(buffer.memory_id());
        now.insert(buffer.memory_id());
        buffers.push_back({{"name", buffer.name()},
                           {"memory", buffer.memory_id()},
                           {"kept", kept},
                           {"slot", slot},
                           {"bytes", buffer.bytes()},
                           {"mapped_bytes", buffer.mapped_bytes()},
                           {"offset", buffer.offset()},
                           {"writable", buffer.writable()}});
        if (!kept) descriptors.push_back(buffer.descriptor());
      }
    }
    shape["op"] = "map";
    shape["buffers"] = std::move(buffers);
    if (auto failure = judging::failure_of(channel_.ask(shape, descriptors, prepare_deadline_))) return failure;
    mapped_ = std::move(now);
    Json request = to_json(plan);
    request["op"] = "plan";
    return judging::failure_of(channel_.ask(request, {}, prepare_deadline_));
  }

  std::variant<Launched, ProcessFailure> launch(const LaunchRequest& request) override {
    return timed({{"op", "go"}, {"slots", request.slots}, {"hot", request.hot}}, launch_deadline_ * request.patience);
  }
  std::variant<Launched, ProcessFailure> ping() override { return timed({{"op", "ping"}}, launch_deadline_); }

 private:
  // The time between the device's events round the launches.
  std::variant<Launched, ProcessFailure> timed(const Json& request, std::chrono::duration<double> deadline) {
    auto asked = channel_.ask(request, {}, deadline);
    if (auto* failure = std::get_if<ProcessFailure>(&asked)) return std::move(*failure);
    const judging::CandidateChannel::Answer& answer = std::get<judging::CandidateChannel::Answer>(asked);
    try {
      const core::JsonView json(answer.json, "candidate process's answer");
      const Launched launched{json.at("us").number(), json.at("gated").boolean()};
      // It is neither negative nor more than what passed on the judge's own clock.
      if (launched.us >= 0 && launched.us <= answer.elapsed_us) return launched;
    } catch (const core::InputError&) {
    }
    return ProcessFailure(judging::ProcessDied{});
  }

  judging::CandidateChannel channel_;
  std::chrono::duration<double> launch_deadline_, prepare_deadline_;
  std::set<int64_t> mapped_;  // memory that the process has mapped since its last "map"
};

judging::DeviceTraits traits_for(const Platform& platform, size_t free_bytes) {
  const std::string backend(platform.backend());
  judging::DeviceTraits traits{backend, backend + "-events-cold", backend + "-events-hot"};
  // A product may be wrong only where all of its sides are larger than those of the timed one.
  traits.check.beyond_bench = 2;
  // A naive solution may have one thread for a row: what all these shapes cost grows with their longest rows.
  traits.check.residues.inner_reach = 1 << 12;
  traits.check.crossed_shapes = 6;
  traits.check.middle_shapes = 8;
  // That is gigabytes to draw, compute twice and compare; wrong offsets show in each distribution.
  traits.check.elements_for_draws_at_ends = int64_t{1} << 30;
  traits.check.far_flops = int64_t{1} << 35;  // eight for each of 2^32 elements: past the end of 32-bit offsets
  // An element of each tensor takes up to 32 bytes: an input, two outputs and a reference in double, of up to 8 each.
  // Memory that other processes hold is out of reach; the scope of a result shows it.
  traits.check.far_elements = std::max(static_cast<int64_t>(free_bytes / 32), traits.check.unseen_elements);
  return traits;
}

class GpuDevice : public judging::JudgeDevice {
 public:
  GpuDevice(const Context& context, const Platform& platform, std::function<ClockState()> clock,
            std::function<DeviceHealth()> health)
      : context_(context),
        platform_(platform),
        clock_(std::move(clock)),
        health_(std::move(health)),
        traits_(traits_for(platform, context.free_bytes())),
        pool_(context),
        trusted_pool_(context) {}

  const judging::DeviceTraits& traits() const override { return traits_; }

  std::optional<Json> answer(const std::string& op, sandbox::process::Message& message) override {
    if (op == "kernels") {
      work_.emplace(context_, sandbox::process::read_memory(message.fds.at(0).get()));
      return Json{{"ok", true}};
    }
    if (op == "health") {
      const DeviceHealth health = health_ ? health_() : DeviceHealth{};
      return Json{{"memory_errors", health.memory_errors}, {"slowed", health.slowed}};
    }
    if (op != "calibrate") return std::nullopt;
    const std::string kernels = sandbox::process::read_memory(message.fds.at(0).get());
    const auto turn = turns().alone();
    return Json{{"calibration", to_json(measure_device(context_, platform_, kernels,
                                                       sandbox::process::read_memory(message.fds.at(1).get())))}};
  }

  std::unique_ptr<judging::TrustedSolution> load_trusted(int binary, sandbox::Solution solution,
                                                         sandbox::TunableBinding binding, bool wide) override {
    work();  // throws here rather than at the first launch
    return std::make_unique<GpuTrusted>(context_, platform_, sandbox::process::read_memory(binary), std::move(solution),
                                        std::move(binding), wide);
  }
  std::unique_ptr<judging::TrustedSolution> load_pytorch(std::shared_ptr<reference::ReferenceChannel> channel,
                                                         bool in_double) override {
    work();
    return make_pytorch_trusted(context_, trusted_pool_, std::move(channel), in_double);
  }
  std::unique_ptr<judging::CandidateProcess> connect(sandbox::process::Channel channel,
                                                     const verdicts::CheckSettings& settings) override {
    return std::make_unique<GpuProcess>(std::move(channel), settings);
  }

  std::unique_ptr<LentBuffer> lend(std::string name, size_t bytes, bool writable, statistics::Keys& keys) override {
    auto buffer = std::make_unique<SharedBuffer>(pool_, std::move(name), bytes, writable, keys);
    if (!writable) {  // whoever reads beyond an input finds neither zeros nor an earlier shape's elements
      work().poison(buffer->slack_before(), buffer->offset(), keys.next());
      work().poison(buffer->slack_after(), buffer->slack_after_bytes(), keys.next());
    }
    return buffer;
  }
  void fill(LentBuffer& buffer, const benchsuite::Tensor& tensor, const core::Bindings& axes,
            draws::Distribution distribution, uint64_t key, double number) override {
    work().fill(shared(buffer).address(), tensor, axes, distribution, key, number);
  }
  void store(LentBuffer& buffer, std::span<const std::byte> bytes) override {
    context_.copy_to_device(shared(buffer).address(), bytes.data(), bytes.size());
  }
  void poison(LentBuffer& buffer, const judging::PoisonKeys& keys) override {
    const SharedBuffer& lent = shared(buffer);
    work().poison(lent.slack_before(), lent.offset(), keys.before);
    work().poison(lent.address(), lent.bytes(), keys.content);
    work().poison(lent.slack_after(), lent.slack_after_bytes(), keys.after);
  }
  void finish() override { context_.synchronize(); }
  int64_t free_bytes() const override { return static_cast<int64_t>(context_.free_bytes()); }

  bool slack_untouched(const LentBuffer& buffer, const judging::PoisonKeys& keys) override {
    const SharedBuffer& lent = shared(buffer);
    return work().untouched(lent.slack_before(), lent.offset(), keys.before) &&
           work().untouched(lent.slack_after(), lent.slack_after_bytes(), keys.after);
  }
  draws::Survivors find_poison(const LentBuffer& buffer, size_t element_bytes, uint64_t key) override {
    return work().find_poison(shared(buffer).address(), buffer.bytes(), element_bytes, key);
  }
  std::vector<std::byte> fetch(const LentBuffer& buffer) const override {
    return to_host(context_, shared(buffer).address(), buffer.bytes());
  }
  std::vector<std::byte> gather(const LentBuffer& buffer, size_t element_bytes,
                                const std::vector<int64_t>& places) override {
    return work().gather(shared(buffer).address(), element_bytes, places);
  }
  comparison::Moments moments(const LentBuffer& buffer, core::DType dtype) override {
    return work().moments(shared(buffer).address(), dtype, elements_of(buffer, dtype));
  }
  double difference(const LentBuffer& a, const LentBuffer& b, core::DType dtype) override {
    return work().difference(shared(a).address(), shared(b).address(), dtype, elements_of(a, dtype));
  }
  std::variant<comparison::Match, verdicts::Verdict> compare(const comparison::OutputForm& form,
                                                             const judging::ComparedOutput& compared) override {
    const DevicePtr output = shared(compared.output).address();
    // Where naive's errors are known it was not run; zeros stand for it, so that no candidate's NaN or infinity passes
    // for one of naive's.
    const DevicePtr naive = compared.naive_ran
                                ? static_cast<const DeviceOutputs&>(compared.naive).output(compared.index)
                                : zeros(compared.output.bytes());
    return work().compare(
        form,
        {output, static_cast<const DeviceOutputs&>(compared.reference).output(compared.index), naive, compared.exact},
        compared.known, compared.learned, compared.close_by);
  }
  std::vector<comparison::NaiveTile> naive_errors(core::DType dtype, const comparison::Tiling& tiling,
                                                  const judging::TrustedSolution& reference,
                                                  const judging::TrustedSolution& naive, size_t index) override {
    return work().naive_errors(dtype, tiling, static_cast<const DeviceOutputs&>(reference).output(index),
                               static_cast<const DeviceOutputs&>(naive).output(index));
  }

  std::optional<comparison::Quanta> quanta(core::DType dtype, const judging::ComparedOutput& compared) override {
    if (dtype != core::DType::i8 && dtype != core::DType::u8 && dtype != core::DType::i32) return std::nullopt;
    const auto& reference = static_cast<const DeviceOutputs&>(compared.reference);
    return work().quanta(shared(compared.output).address(), reference.output(compared.index), dtype,
                         elements_of(compared.output, dtype));
  }

  judging::ClockReading read_clock() const override {
    const ClockState clock = clock_ ? clock_() : ClockState{};
    return {clock.mhz, clock.throttled};
  }

 private:
  static int64_t elements_of(const LentBuffer& buffer, core::DType dtype) {
    return static_cast<int64_t>(buffer.bytes() / core::size_bytes(dtype));
  }
  DevicePtr zeros(size_t bytes) {
    if (zeros_.bytes() < bytes) {
      zeros_ = PrivateMemory();
      zeros_ = PrivateMemory(context_, bytes);
      context_.set(zeros_.address(), 0, bytes);
    }
    return zeros_.address();
  }
  DeviceWork& work() {
    if (!work_) throw core::SystemError("the judge was asked before it had its kernels");
    return *work_;
  }

  const Context& context_;
  const Platform& platform_;
  std::function<ClockState()> clock_;
  std::function<DeviceHealth()> health_;
  judging::DeviceTraits traits_;
  MemoryPool pool_, trusted_pool_;  // the second for outputs of reference.py, out of candidates' reach
  std::optional<DeviceWork> work_;
  PrivateMemory zeros_;
};
}  // namespace

void serve_judge_role(sandbox::process::Channel& owner, const Platform& platform, int device_index) {
  std::optional<sandbox::gpu::driver::Driver> driver;
  std::optional<Context> opened;
  const sandbox::jail::Namespaces namespaces = sandbox::gpu::run::open_in_namespaces([&] {
    driver.emplace(platform.open_driver());
    opened.emplace(*driver, device_index);
  });
  const Context& context = *opened;
  const sandbox::gpu::driver::DeviceFacts& facts = context.facts();
  std::function<ClockState()> clock = platform.clock_of(facts.pci_bus_id);
  Json greeting{{"role", "judge"},
                {"gpu", facts.name},
                {"uuid", facts.uuid},
                {"architecture", facts.architecture},
                {"driver", driver->version()},
                {"memory_bytes", facts.memory_bytes},
                {"multiprocessors", facts.multiprocessors},
                {"l2_bytes", facts.l2_bytes},
                {"shared_bytes_per_block", facts.shared_bytes_per_block},
                {"shared_bytes_per_multiprocessor", facts.shared_bytes_per_multiprocessor},
                {"registers_per_multiprocessor", facts.registers_per_multiprocessor},
                {"clocks_known", clock != nullptr}};
  sandbox::gpu::run::enter_gpu_jail(namespaces, platform).describe(greeting);
  owner.send(greeting);
  GpuDevice device(context, platform, std::move(clock), platform.health_of(facts.pci_bus_id));
  judging::serve_judge(owner, device);
}

}  // namespace verifier::devices::gpu
