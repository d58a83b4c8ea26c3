// The judge's own kernels on the GPU (judge_*.cu): input content, poison, comparison.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "benchsuite/problem.h"
#include "sandbox/gpu/driver/context.h"
#include "verifier/comparison/compare.h"
#include "verifier/comparison/output_rules.h"
#include "verifier/draws/inputs.h"
#include "verifier/draws/poison.h"
#include "verifier/verdicts/verdict.h"

namespace verifier::devices::gpu {

// An output on the device, with what it is held against.
struct DeviceOutput {
  sandbox::gpu::driver::DevicePtr output = 0, reference = 0, naive = 0;  // reference: double for floating dtypes
  bool exact = false;                                                    // bit for bit: the exact battery
};

// Everything throws DriverError. Not for two threads at once.
class DeviceWork {
 public:
  // `cubin`: those kernels, compiled for this device.
  DeviceWork(const sandbox::gpu::driver::Context& context, const std::string& cubin);

  // These two do not wait.
  void fill(sandbox::gpu::driver::DevicePtr at, const benchsuite::Tensor& tensor, const core::Bindings& axes,
            draws::Distribution distribution, uint64_t key, double number = 0);
  void poison(sandbox::gpu::driver::DevicePtr at, size_t bytes, uint64_t key);

  draws::Survivors find_poison(sandbox::gpu::driver::DevicePtr at, size_t bytes, size_t element_bytes, uint64_t key);
  bool untouched(sandbox::gpu::driver::DevicePtr at, size_t bytes, uint64_t key);
  std::vector<std::byte> gather(sandbox::gpu::driver::DevicePtr at, size_t element_bytes,
                                const std::vector<int64_t>& places);  // as comparison::gathered
  comparison::Moments moments(sandbox::gpu::driver::DevicePtr at, core::DType dtype, int64_t elements);  // sampled
  // As largest_difference.
  double difference(sandbox::gpu::driver::DevicePtr a, sandbox::gpu::driver::DevicePtr b, core::DType dtype,
                    int64_t elements);
  // As quanta_between, of i8, u8 and i32.
  comparison::Quanta quanta(sandbox::gpu::driver::DevicePtr output, sandbox::gpu::driver::DevicePtr reference,
                            core::DType dtype, int64_t elements);
  // Decides as comparison::compare does. `known`: the naive solution's errors in each tile, from an earlier run;
  // otherwise they are found here and returned in `learned`. `close_by`: the same errors for neighbours.
  std::variant<comparison::Match, verdicts::Verdict> compare(
      const comparison::OutputForm& form, const DeviceOutput& on_device,
      const std::vector<comparison::NaiveTile>* known = nullptr, std::vector<comparison::NaiveTile>* learned = nullptr,
      const std::vector<std::vector<comparison::NaiveTile>>& close_by = {});
  // Returns what comparison::naive_tiles returns.
  std::vector<comparison::NaiveTile> naive_errors(core::DType dtype, const comparison::Tiling& tiling,
                                                  sandbox::gpu::driver::DevicePtr reference,
                                                  sandbox::gpu::driver::DevicePtr naive);

 private:
  std::vector<comparison::TileErrors> tile_errors(core::DType dtype, const comparison::Tiling& tiling,
                                                  const DeviceOutput& on_device);
  comparison::SecondLook second_look(const comparison::OutputForm& form, const DeviceOutput& on_device);
  // Room for the results of one launch, and how to fetch them.
  sandbox::gpu::driver::DevicePtr room(size_t bytes);
  template <typename T>
  std::vector<T> fetch(size_t count);

  const sandbox::gpu::driver::Context& context_;
  sandbox::gpu::driver::Module module_;
  sandbox::gpu::driver::PrivateMemory room_;
  unsigned blocks_;  // of a grid that fills the device
};

}  // namespace verifier::devices::gpu
