#include "verifier/reference/reference_channel.h"

#include <chrono>

#include "core/error.h"
#include "verifier/reference/tensor_shapes.h"

namespace verifier::reference {
namespace {
using core::Json;
constexpr auto kComputes = std::chrono::seconds(60);
}  // namespace

void ReferenceChannel::compute(const benchsuite::Problem& problem, const core::Bindings& axes, bool in_double,
                               const std::vector<Place>& places) {
  Json request = shapes_json(problem, axes);
  request["op"] = "compute";
  request["in_double"] = in_double;
  std::vector<int> descriptors;
  for (const Place& place : places) {
    request["buffers"].push_back({{"name", place.name},
                                  {"slot", 0},
                                  {"offset", place.offset},
                                  {"mapped_bytes", place.mapped_bytes},
                                  {"writable", place.writable}});
    descriptors.push_back(place.descriptor);
  }
  try {
    channel_.send(request, descriptors);
    const auto answer = channel_.receive(std::chrono::steady_clock::now() + kComputes);
    if (!answer) throw core::SystemError("reference.py gave no outputs within 60 s");
    if (answer->json.contains("error")) {
      throw core::InputError(std::string(benchsuite::kPytorchFile),
                             "fails: " + answer->json.at("error").get<std::string>());
    }
  } catch (const sandbox::process::ChannelClosed&) {
    throw core::SystemError("the worker of reference.py died, perhaps for lack of memory");
  }
}

size_t output_bytes(const benchsuite::Tensor& tensor, const core::Bindings& axes, bool in_double) {
  const bool wide = in_double && core::is_floating(tensor.dtype);
  return static_cast<size_t>(wide ? tensor.elements(axes) * 8 : tensor.bytes(axes));
}

}  // namespace verifier::reference
