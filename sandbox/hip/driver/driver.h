// AMD's HIP runtime, opened at run time, as sandbox/gpu/driver/driver.h presents it. ROCm 6 or newer: before, memory
// that processes share by descriptor did not exist on Linux.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sandbox/gpu/driver/driver.h"

namespace sandbox::hip::driver {

// True if a HIP runtime is here that open_driver() would open, whether or not it finds a GPU.
bool is_installed();

// Opens the HIP runtime (libamdhip64) and initialises it. Throws NoGpu with the remedy if it is missing, is of ROCm 5,
// or finds no device. `library`: the file to open instead, which only tests name.
gpu::driver::Driver open_driver(const std::filesystem::path& library = {});

// hipDeviceGetAttribute's number; nullopt for what AMD's devices lack.
std::optional<int> number_of(gpu::driver::Attribute attribute);

// Bytes of the Infinity Cache (MALL), which lies between L2 and memory, at most: 256 MiB on CDNA 3 and 4 (AMD CDNA 3
// White Paper, 2023), 128 MiB on RDNA 2 to 4 (RDNA 2 Instruction Set Architecture and product pages: Navi 21 has the
// largest), none on CDNA 1 and 2. The runtime does not tell it.
int64_t infinity_cache_bytes(const std::string& architecture);

}  // namespace sandbox::hip::driver
