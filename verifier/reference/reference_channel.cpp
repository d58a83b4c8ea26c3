#include "verifier/reference/reference_channel.h"

#include <chrono>
#include <deque>

#include "core/error.h"
#include "sandbox/cpu/memory/mapped_buffer.h"
#include "verifier/reference/tensor_shapes.h"

namespace verifier::reference {
namespace {
using core::Json;
using sandbox::cpu::memory::MappedBuffer;
constexpr auto kComputes = std::chrono::seconds(60);

Json place_json(const ReferenceChannel::Place& place) {
  return {{"name", place.name},
          {"slot", 0},
          {"offset", place.offset},
          {"mapped_bytes", place.mapped_bytes},
          {"writable", place.writable}};
}

// Host memory in which a worker writes a tensor.
class DrawnTensor {
 public:
  explicit DrawnTensor(size_t bytes)
      : fd_(sandbox::process::make_memory_file("drawn", sandbox::cpu::memory::memory_file_bytes(bytes))),
        memory_(fd_.get(), bytes, MappedBuffer::Access::read_write) {}

  ReferenceChannel::Place place(const std::string& name) const {
    const auto offset = static_cast<size_t>(memory_.content().data() - memory_.slack_before().data());
    return {name, offset, sandbox::cpu::memory::memory_file_bytes(memory_.content().size()), true, fd_.get()};
  }
  std::vector<std::byte> bytes() const { return {memory_.content().begin(), memory_.content().end()}; }

 private:
  core::UniqueFd fd_;
  MappedBuffer memory_;
};

}  // namespace

Json ReferenceChannel::ask(const Json& request, const std::vector<int>& descriptors) {
  try {
    channel_.send(request, descriptors);
    auto answer = channel_.receive(std::chrono::steady_clock::now() + kComputes);
    if (!answer) throw core::SystemError("reference.py gave no answer within 60 s");
    return std::move(answer->json);
  } catch (const sandbox::process::ChannelClosed&) {
    throw core::SystemError("the worker of reference.py died, perhaps for lack of memory");
  }
}

void ReferenceChannel::compute(const benchsuite::Problem& problem, const core::Bindings& axes, bool in_double,
                               const std::vector<Place>& places) {
  Json request = shapes_json(problem, axes);
  request["op"] = "compute";
  request["in_double"] = in_double;
  std::vector<int> descriptors;
  for (const Place& place : places) {
    request["buffers"].push_back(place_json(place));
    descriptors.push_back(place.descriptor);
  }
  const Json answer = ask(request, descriptors);
  if (!answer.contains("error")) return;
  throw core::InputError(std::string(benchsuite::kPytorchFile), "fails: " + answer.at("error").get<std::string>());
}

std::variant<ReferenceChannel::Given, ReferenceChannel::OutsideDomain> ReferenceChannel::draw(
    const benchsuite::Problem& problem, const core::Bindings& axes, uint64_t key) {
  Json request = shapes_json(problem, axes);
  request["op"] = "draw";
  request["key"] = key;
  std::deque<DrawnTensor> drawn;
  std::vector<size_t> indices;
  std::vector<int> descriptors;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    const benchsuite::Tensor& input = problem.inputs[i];
    if (input.init.kind != benchsuite::Init::given) continue;
    const Place place = drawn.emplace_back(static_cast<size_t>(input.bytes(axes))).place(input.name);
    indices.push_back(i);
    request["buffers"].push_back(place_json(place));
    descriptors.push_back(place.descriptor);
  }
  const Json answer = ask(request, descriptors);
  if (answer.contains("outside")) return OutsideDomain{answer.at("outside").get<std::string>()};
  if (answer.contains("error")) {
    throw core::InputError(problem.pytorch_file().string(),
                           "at " + shape_name(problem, axes) + ": " + answer.at("error").get<std::string>());
  }
  Given given(problem.inputs.size());
  for (size_t i = 0; i < indices.size(); ++i) given[indices[i]] = drawn[i].bytes();
  return given;
}

size_t output_bytes(const benchsuite::Tensor& tensor, const core::Bindings& axes, bool in_double) {
  const size_t size = core::size_bytes(in_double ? tensor.reference_dtype() : tensor.dtype);
  return static_cast<size_t>(tensor.elements(axes)) * size;
}

}  // namespace verifier::reference
