#include "verifier/devices/gpu/shared_buffer.h"

#include <utility>

namespace verifier::devices::gpu {
namespace {
using judging::TensorBytes;
using sandbox::gpu::driver::Context;
using sandbox::gpu::driver::DevicePtr;
constexpr size_t kAlignment = 256;  // what cudaMalloc promises, and kernels rely on
constexpr uint64_t kPlaces = 1;     // where trusted outputs lie is no secret

class PytorchTrusted : public DeviceOutputs {
 public:
  PytorchTrusted(const Context& context, MemoryPool& pool, std::shared_ptr<reference::ReferenceChannel> channel,
                 bool in_double)
      : context_(context), pool_(pool), channel_(std::move(channel)), in_double_(in_double) {}

  void run(const benchsuite::Problem& problem, const core::Bindings& axes,
           const judging::LentBuffers& inputs) override {
    outputs_.clear();
    statistics::Keys keys(kPlaces);
    std::vector<reference::ReferenceChannel::Place> places;
    const auto add = [&](const SharedBuffer& buffer) {
      places.push_back({buffer.name(), buffer.offset(), buffer.mapped_bytes(), buffer.writable(), buffer.descriptor()});
    };
    for (const auto& input : inputs) add(shared(*input));
    for (const benchsuite::Tensor& tensor : problem.outputs) {
      const size_t bytes = reference::output_bytes(tensor, axes, in_double_);
      outputs_.push_back(std::make_unique<SharedBuffer>(pool_, tensor.name, bytes, true, keys));
      add(*outputs_.back());
    }
    context_.synchronize();  // inputs are complete before another process reads them
    channel_->compute(problem, axes, in_double_, places);
  }

  void run(const benchsuite::Problem& problem, const core::Bindings& axes, const TensorBytes& inputs) override {
    statistics::Keys keys(kPlaces);
    judging::LentBuffers lent;
    for (size_t i = 0; i < inputs.size(); ++i) {
      auto buffer = std::make_unique<SharedBuffer>(pool_, problem.inputs[i].name, inputs[i].size(), false, keys);
      context_.copy_to_device(buffer->address(), inputs[i].data(), inputs[i].size());
      lent.push_back(std::move(buffer));
    }
    run(problem, axes, lent);
  }

  TensorBytes fetch() const override {
    TensorBytes results;
    for (const auto& output : outputs_) results.push_back(to_host(context_, output->address(), output->bytes()));
    return results;
  }

  DevicePtr output(size_t index) const override { return index < outputs_.size() ? outputs_[index]->address() : 0; }

 private:
  const Context& context_;
  MemoryPool& pool_;
  std::shared_ptr<reference::ReferenceChannel> channel_;
  bool in_double_;
  std::vector<std::unique_ptr<SharedBuffer>> outputs_;
};
}  // namespace

SharedBuffer::SharedBuffer(MemoryPool& pool, std::string name, size_t bytes, bool writable, statistics::Keys& keys)
    : LentBuffer(std::move(name), bytes, writable), pool_(pool), lent_(pool.take(bytes, writable)) {
  const size_t places = (mapped_bytes() - bytes) / kAlignment;  // beyond the first
  address_ = lent_.memory.begin() + (keys.coin() ? places : keys.below(places + 1)) * kAlignment;
}

std::vector<std::byte> to_host(const Context& context, DevicePtr address, size_t bytes) {
  std::vector<std::byte> content(bytes);
  context.copy_to_host(content.data(), address, bytes);
  return content;
}

std::unique_ptr<judging::TrustedSolution> make_pytorch_trusted(const Context& context, MemoryPool& pool,
                                                               std::shared_ptr<reference::ReferenceChannel> channel,
                                                               bool in_double) {
  return std::make_unique<PytorchTrusted>(context, pool, std::move(channel), in_double);
}

}  // namespace verifier::devices::gpu
