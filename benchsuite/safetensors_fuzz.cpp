// Files of tensors: any bytes become tensors that the file holds, or are refused.
#include <numeric>

#include "benchsuite/safetensors.h"
#include "core/error.h"
#include "core/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  try {
    const benchsuite::Safetensors file(std::string(core::fuzzing::as_text(bytes, size)), "fuzzed");
    const auto* begin = reinterpret_cast<const std::byte*>(file.bytes().data());
    for (const std::string& name : file.names()) {
      const benchsuite::Safetensors::Entry& entry = *file.find(name);
      const std::byte* at = entry.bytes.data();
      core::fuzzing::require(at >= begin && at + entry.bytes.size() <= begin + file.bytes().size(),
                             "bytes of the file");
      if (!entry.dtype) continue;
      const int64_t elements = std::accumulate(entry.shape.begin(), entry.shape.end(), int64_t{1}, std::multiplies<>());
      core::fuzzing::require(entry.bytes.size() == static_cast<size_t>(elements) * core::size_bytes(*entry.dtype),
                             "as many bytes as its shape needs");
    }
  } catch (const core::InputError&) {
  }
  return 0;
}
