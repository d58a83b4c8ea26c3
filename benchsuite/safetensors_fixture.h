// For tests of data files: the bytes of a safetensors file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace benchsuite::test {

// A file of this header, and these bytes after it.
inline std::string safetensors_of(const std::string& header, const std::string& data) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(static_cast<uint64_t>(header.size()) >> (8 * i));
  return file + header + data;
}

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// One tensor "t" of one dimension.
template <typename T>
std::string one_tensor(const std::string& dtype, const std::vector<T>& values) {
  const std::string count = std::to_string(values.size()), bytes = std::to_string(values.size() * sizeof(T));
  return safetensors_of(
      R"({"t":{"dtype":")" + dtype + R"(","shape":[)" + count + R"(],"data_offsets":[0,)" + bytes + "]}}",
      bytes_of(values));
}

}  // namespace benchsuite::test
