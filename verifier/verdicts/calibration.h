// The figures that one GPU reached when it was measured: bounds are made of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/strict_json.h"

namespace verifier::verdicts {

// All rates are the best of several repeats, so that they bound what a kernel can reach from above.
struct Calibration {
  std::string device;        // the GPU's name: "NVIDIA H200"
  std::string architecture;  // that the measuring kernels were compiled for: "sm_90a"
  std::string driver;        // "13.0"
  std::string made;          // UTC, ISO 8601
  int64_t multiprocessors = 0;
  int64_t l2_bytes = 0;

  // GB/s (1e9 bytes a second). A copy's bytes count twice: read and written.
  double dram_read_gb_s = 0, dram_write_gb_s = 0, dram_copy_gb_s = 0, l2_read_gb_s = 0;

  // FLOP/s; a fused multiply-add is two. Tensor peaks sum in f32, with random operands.
  double fp32_flop_s = 0, fp64_flop_s = 0, tensor_f16_flop_s = 0, tensor_bf16_flop_s = 0, tensor_tf32_flop_s = 0;
  std::string
      tensor_instruction;  // "wgmma", or "mma.sync", which does not reach the peak of architectures 9.0 and 10.x;
                           // AMD: "mfma" (tf32 stands for f32), or "fma", with no matrix cores that were measured

  double launch_floor_us = 0;  // an empty kernel between two events

  double fastest_gb_s() const;  // of the three DRAM rates
};

core::Json to_json(const Calibration& calibration);
// Strict: every figure is there and above 0, and nothing else. Throws core::InputError.
Calibration calibration_from_json(const core::JsonView& json);

}  // namespace verifier::verdicts
