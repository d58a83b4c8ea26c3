// NVIDIA's driver, opened at run time, as sandbox/gpu/driver/driver.h presents it.
#pragma once

#include <string>

#include "sandbox/gpu/driver/driver.h"

namespace sandbox::cuda::driver {

bool is_installed();
// Opens libcuda and initialises it. Throws NoGpu with the remedy if it is missing or finds no device.
gpu::driver::Driver open_driver();

// The architecture for NVRTC: with "a" if it has architecture-specific features (9.0 and newer: "sm_90a"), else without
// ("sm_80").
std::string architecture_of(int compute_major, int compute_minor);

// cuDeviceGetAttribute's number.
int number_of(gpu::driver::Attribute attribute);

}  // namespace sandbox::cuda::driver
