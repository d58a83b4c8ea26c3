// The variables that device code reads through kw_abi.h. Layouts agree with shim/kw_abi.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sandbox::cpu::runtime {

struct DeviceIndex {
  unsigned x, y, z;
};

// Whether all these bytes belong to the variables below.
bool is_device_state(uintptr_t address, size_t bytes);

}  // namespace sandbox::cpu::runtime

extern "C" {
extern sandbox::cpu::runtime::DeviceIndex __kw_thread_index, __kw_block_index, __kw_block_dim, __kw_grid_dim,
    __kw_cluster_dim;
extern unsigned __kw_dynamic_shared_bytes;
extern unsigned long __kw_local_bytes, __kw_local_integer, __kw_shared_window, __kw_covered;
}
