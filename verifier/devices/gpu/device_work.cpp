#include "verifier/devices/gpu/device_work.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "verifier/devices/gpu/judge_kernels.h"
#include "verifier/draws/elements.h"

namespace verifier::devices::gpu {
namespace {
using sandbox::gpu::driver::DevicePtr;
using sandbox::gpu::driver::PrivateMemory;
constexpr unsigned kBlock = static_cast<unsigned>(kJudgeBlock);
constexpr unsigned kBlocksPerMultiprocessor = 8;
constexpr size_t kMostToLookAt = size_t{64} << 20;  // bytes of a wrong output that come to the host

int64_t number_of(core::DType dtype) { return static_cast<int64_t>(dtype); }
int64_t signed_of(size_t value) { return static_cast<int64_t>(value); }
}  // namespace

DeviceWork::DeviceWork(const sandbox::gpu::driver::Context& context, const std::string& cubin)
    : context_(context),
      module_(context, cubin),
      blocks_(static_cast<unsigned>(context.facts().multiprocessors) * kBlocksPerMultiprocessor) {}

DevicePtr DeviceWork::room(size_t bytes) {
  if (room_.bytes() < bytes) {
    room_ = PrivateMemory();
    room_ = PrivateMemory(context_, std::max(bytes, size_t{1} << 20));
  }
  return room_.address();
}

template <typename T>
std::vector<T> DeviceWork::fetch(size_t count) {
  std::vector<T> results(count);
  context_.copy_to_host(results.data(), room_.address(), count * sizeof(T));
  return results;
}

void DeviceWork::fill(DevicePtr at, const benchsuite::Tensor& tensor, const core::Bindings& axes,
                      draws::Distribution distribution, uint64_t key, double number) {
  const formulas::FillArgs args = draws::fill_args(tensor, axes, distribution, key, number);
  module_.function(fill_kernel(args))(blocks_, kBlock, at, args);
  if (args.patch_count > 0) module_.function("kw_patch")(blocks_, kBlock, at, args);
}

void DeviceWork::poison(DevicePtr at, size_t bytes, uint64_t key) {
  if (bytes > 0) module_.function("kw_poison")(blocks_, kBlock, at, signed_of(bytes), key);
}

draws::Survivors DeviceWork::find_poison(DevicePtr at, size_t bytes, size_t element_bytes, uint64_t key) {
  const size_t elements = bytes / element_bytes;
  const DevicePtr partials = room(blocks_ * sizeof(draws::Survivors));
  module_.function("kw_find_poison")(blocks_, kBlock, at, signed_of(element_bytes), signed_of(elements), key,
                                     draws::least_run(element_bytes, elements, key), partials);
  return joined(fetch<draws::Survivors>(blocks_));
}

bool DeviceWork::untouched(DevicePtr at, size_t bytes, uint64_t key) {
  if (bytes == 0) return true;
  const DevicePtr partials = room(blocks_ * sizeof(int64_t));
  module_.function("kw_untouched")(blocks_, kBlock, at, signed_of(bytes), key, partials);
  return joined(fetch<int64_t>(blocks_)) == 0;
}

std::vector<std::byte> DeviceWork::gather(DevicePtr at, size_t element_bytes, const std::vector<int64_t>& places) {
  if (places.empty()) return {};
  const PrivateMemory wanted(context_, places.size() * sizeof(int64_t));
  context_.copy_to_device(wanted.address(), places.data(), wanted.bytes());
  const DevicePtr elements = room(places.size() * element_bytes);
  module_.function("kw_gather")(blocks_, kBlock, at, signed_of(element_bytes), wanted.address(),
                                signed_of(places.size()), elements);
  return fetch<std::byte>(places.size() * element_bytes);
}

comparison::Moments DeviceWork::moments(DevicePtr at, core::DType dtype, int64_t elements) {
  const DevicePtr partials = room(blocks_ * sizeof(comparison::Moments));
  module_.function("kw_moments")(blocks_, kBlock, at, number_of(dtype), elements, comparison::sample_step(elements),
                                 partials);
  return joined(fetch<comparison::Moments>(blocks_));
}

double DeviceWork::difference(DevicePtr a, DevicePtr b, core::DType dtype, int64_t elements) {
  const DevicePtr partials = room(blocks_ * sizeof(comparison::Difference));
  module_.function("kw_difference")(blocks_, kBlock, a, b, number_of(dtype), elements, partials);
  return comparison::relative_difference(joined(fetch<comparison::Difference>(blocks_)), elements);
}

comparison::Quanta DeviceWork::quanta(DevicePtr output, DevicePtr reference, core::DType dtype, int64_t elements) {
  const DevicePtr partials = room(blocks_ * sizeof(comparison::Quanta));
  module_.function("kw_quanta")(blocks_, kBlock, output, reference, number_of(dtype), elements, partials);
  return joined(fetch<comparison::Quanta>(blocks_));
}

comparison::SecondLook DeviceWork::second_look(const comparison::OutputForm& form, const DeviceOutput& on_device) {
  const core::DType reference_dtype = core::is_floating(form.dtype) ? core::DType::f64 : form.dtype;
  const auto load = [this](core::DType dtype, DevicePtr from, int64_t index) {
    std::vector<std::byte> bytes(core::size_bytes(dtype));
    context_.copy_to_host(bytes.data(), from + static_cast<uint64_t>(index) * bytes.size(), bytes.size());
    return draws::load_element(dtype, bytes, 0);
  };
  comparison::SecondLook look;
  look.element = [=](int64_t index) {
    return comparison::SecondLook::Element{load(reference_dtype, on_device.reference, index),
                                           load(form.dtype, on_device.output, index)};
  };
  look.count_wrong = [this, &form, on_device](const std::vector<double>& allowed) {
    const PrivateMemory limits(context_, allowed.size() * sizeof(double));
    context_.copy_to_device(limits.address(), allowed.data(), limits.bytes());
    const DevicePtr counts = room(allowed.size() * sizeof(int64_t));
    module_.function("kw_count_wrong")(blocks_, kBlock, on_device.output, on_device.reference, number_of(form.dtype),
                                       form.tiling, limits.address(), counts);
    return joined(fetch<int64_t>(allowed.size()));
  };
  look.pattern = [this, &form, on_device, reference_dtype](const std::vector<double>& allowed,
                                                           int64_t worst) -> std::optional<verdicts::Pattern> {
    const auto elements = static_cast<size_t>(form.tiling.elements);
    if (form.shape.empty() || elements * core::size_bytes(form.dtype) > kMostToLookAt) return std::nullopt;
    std::vector<std::byte> output(elements * core::size_bytes(form.dtype)),
        reference(elements * core::size_bytes(reference_dtype));
    context_.copy_to_host(output.data(), on_device.output, output.size());
    context_.copy_to_host(reference.data(), on_device.reference, reference.size());
    return comparison::pattern_in(form, output, reference, allowed, worst);
  };
  return look;
}

std::vector<comparison::TileErrors> DeviceWork::tile_errors(core::DType dtype, const comparison::Tiling& tiling,
                                                            const DeviceOutput& on_device) {
  const auto tiles = static_cast<size_t>(tiling.count());
  const DevicePtr results = room(tiles * sizeof(comparison::TileErrors));
  module_.function("kw_tile_errors")(blocks_, kBlock, on_device.output, on_device.reference, on_device.naive,
                                     number_of(dtype), tiling, results);
  return fetch<comparison::TileErrors>(tiles);
}

std::vector<comparison::NaiveTile> DeviceWork::naive_errors(core::DType dtype, const comparison::Tiling& tiling,
                                                            DevicePtr reference, DevicePtr naive) {
  std::vector<comparison::NaiveTile> errors;
  for (const comparison::TileErrors& tile : tile_errors(dtype, tiling, {naive, reference, naive})) {
    errors.push_back(tile.naive);
  }
  return errors;
}

std::variant<comparison::Match, verdicts::Verdict> DeviceWork::compare(
    const comparison::OutputForm& form, const DeviceOutput& on_device, const std::vector<comparison::NaiveTile>* known,
    std::vector<comparison::NaiveTile>* learned, const std::vector<std::vector<comparison::NaiveTile>>& close_by) {
  const auto tiles = static_cast<size_t>(form.tiling.count());
  const comparison::SecondLook look = second_look(form, on_device);
  if (on_device.exact || !core::is_floating(form.dtype)) {
    const DevicePtr results = room(tiles * sizeof(comparison::TileMismatches));
    module_.function("kw_tile_mismatches")(blocks_, kBlock, on_device.output, on_device.reference,
                                           number_of(form.dtype), form.tiling, results);
    return comparison::decide_exactly(form, fetch<comparison::TileMismatches>(tiles), look);
  }
  std::vector<comparison::TileErrors> errors = tile_errors(form.dtype, form.tiling, on_device);
  for (size_t i = 0; i < tiles; ++i) {
    if (known != nullptr) errors[i].naive = (*known)[i];
    if (learned != nullptr) learned->push_back(errors[i].naive);
  }
  return decide(form, errors, close_by, look);
}

}  // namespace verifier::devices::gpu
