// Reads and inspects AMD code objects (ELF, with the metadata of its kernels in a note).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "sandbox/hip/inspection/comgr.h"

namespace sandbox::hip::inspection {

// One kernel, as the note says. Registers are of one lane, scalar registers of one wave.
struct KernelResources {
  int64_t parameters = 0;  // the solution's own
  int64_t vector_registers = 0, accumulation_registers = 0, scalar_registers = 0;
  int64_t shared_bytes = 0, scratch_bytes = 0;   // scratch: per thread
  int64_t vector_spills = 0, scalar_spills = 0;  // registers
  int64_t wave = 0;                              // lanes: 32 or 64
  int64_t most_threads = 0;                      // in a block
};

// By name. Throws core::InputError if it is not a code object.
std::map<std::string, KernelResources> resources_of(std::string_view code_object);
std::map<std::string, int64_t> kernels_of(std::string_view code_object);  // the number of parameters

// True if its code takes the address of a variable of the module, or of itself. Throws as above, and for code that is
// refused.
bool refers_to_variables(std::string_view code_object, const std::string& architecture, const Comgr& comgr);

// Inspects a candidate's code object for this architecture after compilation and again before loading. Throws
// core::InputError with one sentence for code that machine_code.h refuses; __device__ and __constant__ variables that
// can be written; functions of the host or other modules; relocations; kernels that ask for a hostcall buffer, a heap,
// queues or textures; more scratch than the note declares or than is allowed; segments that overlap or are not what
// they seem.
void inspect_code_object(std::string_view code_object, const std::string& architecture, const Comgr& comgr);

}  // namespace sandbox::hip::inspection
