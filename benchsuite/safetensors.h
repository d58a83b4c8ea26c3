// Tensors in a file of Hugging Face's safetensors format: 8 bytes with the header's length (little-endian), the header
// in JSON, {"name": {"dtype": "I32", "shape": [4], "data_offsets": [0, 16]}, ...}, and the bytes of the tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dtype.h"

namespace benchsuite {

class Safetensors {
 public:
  struct Entry {
    std::string dtype_name;            // as in the file: "I32"
    std::optional<core::DType> dtype;  // nullopt: one that no problem holds
    std::vector<int64_t> shape;        // empty: one element
    std::span<const std::byte> bytes;  // row-major; of the file
  };

  // Takes the bytes of a whole file; `file` names it in errors. Throws core::InputError for a header that does not fit
  // the file.
  Safetensors(std::string bytes, const std::string& file);
  Safetensors(const Safetensors&) = delete;
  Safetensors& operator=(const Safetensors&) = delete;

  const Entry* find(const std::string& name) const;
  std::vector<std::string> names() const;
  const std::string& bytes() const { return bytes_; }  // of the whole file

 private:
  std::string bytes_;
  std::map<std::string, Entry> entries_;
};

}  // namespace benchsuite
