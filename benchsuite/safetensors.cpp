#include "benchsuite/safetensors.h"

#include <bit>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/strict_json.h"

namespace benchsuite {
namespace {
using core::DType;
static_assert(std::endian::native == std::endian::little, "the format is little-endian, and so are tensors");

constexpr size_t kLengthBytes = 8;
constexpr uint64_t kMostHeaderBytes = uint64_t{1} << 20;
constexpr size_t kMostDimensions = 16;
constexpr std::pair<std::string_view, DType> kDtypes[] = {
    {"F16", DType::f16}, {"BF16", DType::bf16}, {"F8_E4M3", DType::f8e4m3}, {"F8_E5M2", DType::f8e5m2},
    {"F32", DType::f32}, {"F64", DType::f64},   {"I8", DType::i8},          {"U8", DType::u8},
    {"I32", DType::i32}, {"U32", DType::u32},   {"I64", DType::i64},        {"BOOL", DType::boolean},
};

std::optional<DType> dtype_of(std::string_view name) {
  for (const auto& [known, dtype] : kDtypes) {
    if (known == name) return dtype;
  }
  return std::nullopt;
}

[[noreturn]] void damaged(const std::string& file, const std::string& what) {
  throw core::InputError(file, what, "write it with safetensors' save_file(), or copy it again");
}

// `data`: the bytes after the header.
Safetensors::Entry entry_of(const core::JsonView& view, std::span<const std::byte> data) {
  view.expect_object({"dtype", "shape", "data_offsets"});
  Safetensors::Entry entry{view.at("dtype").string(), dtype_of(view.at("dtype").string()), {}, {}};
  int64_t elements = 1;
  for (const core::JsonView& extent : view.at("shape").items()) {
    entry.shape.push_back(extent.integer(0));
    if (__builtin_mul_overflow(elements, entry.shape.back(), &elements))
      extent.fail("makes the tensor overflow 64 bits");
  }
  if (entry.shape.size() > kMostDimensions) view.at("shape").fail("has more than 16 dimensions");
  const std::vector<core::JsonView> offsets = view.at("data_offsets").items();
  if (offsets.size() != 2) view.at("data_offsets").fail("is not a begin and an end");
  const int64_t end = offsets[1].integer(0, static_cast<int64_t>(data.size()));
  const int64_t begin = offsets[0].integer(0, end);
  if (entry.dtype) {
    int64_t bytes = 0;
    if (__builtin_mul_overflow(elements, static_cast<int64_t>(core::size_bytes(*entry.dtype)), &bytes) ||
        bytes != end - begin) {
      view.at("data_offsets")
          .fail("hold " + std::to_string(end - begin) + " bytes, and the shape needs another number");
    }
  }
  entry.bytes = data.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  return entry;
}
}  // namespace

Safetensors::Safetensors(std::string bytes, const std::string& file) : bytes_(std::move(bytes)) {
  if (bytes_.size() < kLengthBytes) damaged(file, "is too short for a safetensors file");
  uint64_t length = 0;
  std::memcpy(&length, bytes_.data(), sizeof length);
  if (length > kMostHeaderBytes || length > bytes_.size() - kLengthBytes) {
    damaged(file, "has a header of " + std::to_string(length) + " bytes, which the file or 1 MiB does not hold");
  }
  const core::Json json =
      core::parse_json(std::string_view(bytes_).substr(kLengthBytes, static_cast<size_t>(length)), file);
  const auto data = std::as_bytes(std::span(bytes_)).subspan(kLengthBytes + static_cast<size_t>(length));
  for (const auto& [name, view] : core::JsonView(json, file).members()) {
    if (name != "__metadata__") entries_.emplace(name, entry_of(view, data));
  }
}

const Safetensors::Entry* Safetensors::find(const std::string& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

std::vector<std::string> Safetensors::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

}  // namespace benchsuite
