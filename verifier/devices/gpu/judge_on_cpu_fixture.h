// Tests of the judge's kernels: executes judge_*.cu on the cpu device.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "core/paths.h"
#include "sandbox/cpu/test_device_fixture.h"
#include "verifier/devices/gpu/judge_kernels.h"

namespace verifier::devices::gpu::test {

struct Shape {
  int64_t grid = 1, block = 256;
};

class JudgeOnCpu {
 public:
  explicit JudgeOnCpu(sandbox::Build build = sandbox::Build::fast)
      : module_(sandbox::cpu::runtime::Module::load(
            sandbox::cpu::test::built(judge_kernels_source(core::installed_paths().gpu_kernels()), build, {})
                .binary.get(),
            build)) {}

  // Memory for kernels, an unmapped page after its last 16 bytes; stays until the judge goes.
  template <typename T>
  std::span<T> lend(size_t count) {
    const size_t bytes = count * sizeof(T);
    const core::UniqueFd file =
        sandbox::process::make_memory_file("test", sandbox::cpu::memory::memory_file_bytes(bytes));
    memory_.emplace_back(file.get(), bytes, sandbox::cpu::memory::MappedBuffer::Access::read_write);
    const std::span<std::byte> content = memory_.back().content();
    buffers_.push_back({"buffer " + std::to_string(buffers_.size()), content.data(), bytes, true});
    return {reinterpret_cast<T*>(content.data()), count};
  }
  template <typename T>
  std::span<T> lend(const std::vector<T>& values) {
    const std::span<T> lent = lend<T>(values.size());
    if (!values.empty()) std::memcpy(lent.data(), values.data(), lent.size_bytes());
    return lent;
  }

  template <typename... Arguments>
  void launch(const std::string& kernel, Shape shape, Arguments... arguments) {
    const auto fault = module_.launch({kernel, {shape.grid, 1, 1}, {shape.block, 1, 1}, 0, {bytes_of(arguments)...}},
                                      buffers_, sandbox::cpu::runtime::Order::seeded, 7);
    ASSERT_FALSE(fault.has_value()) << fault->describe();
  }

 private:
  template <typename T>
  static std::vector<std::byte> bytes_of(const T& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    return {bytes.begin(), bytes.end()};
  }

  sandbox::cpu::runtime::Module module_;
  std::deque<sandbox::cpu::memory::MappedBuffer> memory_;
  std::vector<sandbox::cpu::runtime::Buffer> buffers_;
};

}  // namespace verifier::devices::gpu::test
