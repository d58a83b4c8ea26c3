// A tensor map describes how the tensor memory accelerator (TMA, compute capability 9.0 and newer) walks a buffer. The
// header declares it, the device encodes it, kernels take it as `const __grid_constant__ CUtensorMap`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/expr.h"
#include "core/strict_json.h"

namespace sandbox {

// Dimensions are innermost first, as the driver wants them.
struct TensorMap {
  std::string name;
  std::string buffer;                // a tensor or workspace
  std::optional<core::DType> dtype;  // absent: the tensor's
  std::vector<core::Expr> shape;     // empty: the tensor's
  std::vector<core::Expr> box;
  core::Expr when = core::Expr::constant(1);  // zero: the kernel does not use it at this shape
  int swizzle = 0;                            // 0, 32, 64 or 128 bytes
  int l2_promotion = 0;                       // 0, 64, 128 or 256 bytes
  bool nan_fill = false;                      // elements outside read as NaN instead of zero

  std::vector<const core::Expr*> expressions() const;  // all of them
};

// A tensor map for one shape and one binding: valid arguments of cuTensorMapEncodeTiled.
struct PlannedTensorMap {
  std::string name, buffer;
  core::DType dtype = core::DType::f32;
  std::vector<int64_t> shape;          // elements, innermost first, 1 to 5 dimensions
  std::vector<int64_t> strides_bytes;  // of dimensions 1 and up
  std::vector<int64_t> box;            // elements, innermost first
  int swizzle = 0, l2_promotion = 0;   // bytes
  bool nan_fill = false;
};

// The buffer that a map describes.
struct MappedTensor {
  int64_t bytes = 0;
  std::optional<core::DType> dtype;  // absent for a workspace
  std::vector<core::Expr> shape;     // outermost first, over the axes; empty for a workspace
};

// Throws core::InputError at the view.
TensorMap parse_tensor_map(const std::string& name, const core::JsonView& view);

// Throws core::InputError below `where`, with the limit, if the map cannot be encoded. If `when` is zero, returns a map
// of 16 bytes that no kernel should use.
PlannedTensorMap bind_tensor_map(const TensorMap& map, const MappedTensor& tensor, const core::Bindings& bindings,
                                 const std::string& where);

// The driver's number for elements of this type (CUtensorMapDataType).
int tensor_map_type(core::DType dtype);

}  // namespace sandbox
