#include "verifier/devices/cuda/oracle.h"

#include <algorithm>
#include <utility>

#include "verifier/draws/neighbours.h"
#include "verifier/statistics/keys.h"

namespace verifier::devices::cuda {
namespace {
constexpr int64_t kLargeOutput = 1 << 20;  // elements
}
using sandbox::cuda::driver::PrivateMemory;

void Oracle::fill(const std::vector<LentBuffer>& inputs, const core::Bindings& axes, draws::Distribution distribution,
                  uint64_t key) {
  statistics::Keys keys(key);
  for (size_t i = 0; i < inputs.size(); ++i) {
    work_.fill(inputs[i].buffer().address, problem_.inputs[i], axes, distribution, draws::tensor_key(keys, key));
  }
  context_.synchronize();
}

// Large outputs only: the errors of few elements are another matter in each draw.
bool Oracle::knows_naive(const core::Bindings& axes, draws::Distribution distribution) const {
  const auto exact = [](const benchsuite::Tensor& tensor) { return !core::is_floating(tensor.dtype); };
  if (std::all_of(problem_.outputs.begin(), problem_.outputs.end(), exact)) return true;  // it is not asked for
  if (distribution != draws::Distribution::ordinary || naive_tiles_.count(axes) == 0) return false;
  const auto large = [&](const benchsuite::Tensor& tensor) {
    return exact(tensor) || tensor.elements(axes) >= kLargeOutput;
  };
  return naive_tiles_.at(axes).size() == problem_.outputs.size() &&
         std::all_of(problem_.outputs.begin(), problem_.outputs.end(), large);
}

std::vector<DeviceBuffer> Oracle::zeros(const core::Bindings& axes) {
  size_t most = 0;
  for (const benchsuite::Tensor& tensor : problem_.outputs) {
    most = std::max(most, static_cast<size_t>(tensor.bytes(axes)));
  }
  if (zeros_.bytes() < most) {
    zeros_ = PrivateMemory();
    zeros_ = PrivateMemory(context_, most);
    context_.set(zeros_.address(), 0, most);
  }
  std::vector<DeviceBuffer> buffers;
  for (const benchsuite::Tensor& tensor : problem_.outputs) {
    buffers.push_back({tensor.name, zeros_.address(), static_cast<size_t>(tensor.bytes(axes))});
  }
  return buffers;
}

Expected Oracle::expected(const std::vector<LentBuffer>& inputs, const core::Bindings& axes,
                          draws::Distribution distribution, bool with_naive) {
  Expected expected;
  expected.distribution = distribution;
  if (!draws::is_exact(distribution)) add_neighbours(expected, inputs, axes);
  const std::vector<DeviceBuffer> lent = device_buffers(inputs);
  expected.reference = reference_.run(problem_, axes, lent);
  expected.naive_known = !with_naive && knows_naive(axes, distribution);
  expected.naive = expected.naive_known ? zeros(axes) : naive_.run(problem_, axes, lent);
  context_.synchronize();
  return expected;
}

judging::TrustedOutputs Oracle::run_trusted(const core::Bindings& axes, const judging::TensorBytes& inputs) {
  std::vector<PrivateMemory> memory;
  std::vector<DeviceBuffer> copies;
  for (size_t i = 0; i < inputs.size(); ++i) {
    memory.emplace_back(context_, inputs[i].size());
    copies.push_back({problem_.inputs[i].name, memory.back().address(), inputs[i].size()});
    context_.copy_to_device(copies[i].address, inputs[i].data(), inputs[i].size());
  }
  judging::TrustedOutputs outputs;
  reference_.run(problem_, axes, copies);
  outputs.reference = reference_.fetch();
  naive_.run(problem_, axes, copies);
  outputs.naive = naive_.fetch();
  return outputs;
}

void Oracle::add_neighbours(Expected& expected, const std::vector<LentBuffer>& inputs, const core::Bindings& axes) {
  const uint64_t wanted = draws::neighbours_wanted(problem_, axes);
  if (wanted == 0) return;
  std::vector<std::vector<std::byte>> content;
  std::vector<PrivateMemory> memory;
  std::vector<DeviceBuffer> moved;
  for (const LentBuffer& input : inputs) {
    const DeviceBuffer& buffer = input.buffer();
    content.emplace_back(buffer.bytes);
    context_.copy_to_host(content.back().data(), buffer.address, buffer.bytes);
    memory.emplace_back(context_, buffer.bytes);
    moved.push_back({buffer.name, memory.back().address(), buffer.bytes});
  }
  for (uint64_t index = 0; index < wanted; ++index) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::vector<std::byte> jittered = content[i];
      draws::jitter_input(jittered, problem_.inputs[i], index, index * inputs.size() + i);
      context_.copy_to_device(moved[i].address, jittered.data(), jittered.size());
    }
    Expected::Neighbour neighbour;
    reference_.run(problem_, axes, moved);
    neighbour.reference = reference_.fetch();
    naive_.run(problem_, axes, moved);
    neighbour.naive = naive_.fetch();
    expected.neighbours.push_back(std::move(neighbour));
  }
}

}  // namespace verifier::devices::cuda
