#include "benchsuite/data_files.h"

#include <cstring>
#include <set>

#include "core/error.h"
#include "core/hash.h"
#include "core/suggest.h"
#include "core/text.h"

namespace benchsuite {
namespace {
using core::DType;

std::string extents_text(const std::vector<int64_t>& shape) {
  std::vector<std::string> parts;
  for (const int64_t extent : shape) parts.push_back(std::to_string(extent));
  return "[" + core::join(parts, ", ") + "]";
}

template <typename T>
T read_as(std::span<const std::byte> bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

// The exponent of NaN and infinity has all its bits.
bool is_finite_at(DType dtype, std::span<const std::byte> bytes, size_t index) {
  const auto all_set = [](uint64_t bits, uint64_t exponent) { return (bits & exponent) == exponent; };
  switch (dtype) {
    case DType::f16:
      return !all_set(read_as<uint16_t>(bytes, index), 0x7C00);
    case DType::bf16:
      return !all_set(read_as<uint16_t>(bytes, index), 0x7F80);
    case DType::f8e4m3:
      return !all_set(read_as<uint8_t>(bytes, index), 0x7F);  // NaN alone
    case DType::f8e5m2:
      return !all_set(read_as<uint8_t>(bytes, index), 0x7C);
    case DType::f32:
      return !all_set(read_as<uint32_t>(bytes, index), 0x7F800000);
    default:
      return !all_set(read_as<uint64_t>(bytes, index), 0x7FF0000000000000);
  }
}

int64_t integer_at(DType dtype, std::span<const std::byte> bytes, size_t index) {
  switch (dtype) {
    case DType::i8:
      return read_as<int8_t>(bytes, index);
    case DType::i32:
      return read_as<int32_t>(bytes, index);
    case DType::u32:
      return read_as<uint32_t>(bytes, index);
    case DType::i64:
      return read_as<int64_t>(bytes, index);
    default:
      return read_as<uint8_t>(bytes, index);
  }
}

struct Bounds {
  int64_t least, most;
};
// A problem's promise for an integer input.
std::optional<Bounds> bounds_of(const Tensor& input, const core::Bindings& axes) {
  if (input.dtype == DType::boolean) return Bounds{0, 1};
  const Init kind = input.init.kind;
  if (kind == Init::permutation) return Bounds{0, input.shape.back().eval(axes) - 1};
  if (kind == Init::given && !input.init.bounded) return std::nullopt;
  return Bounds{input.init.least.eval(axes), input.init.most.eval(axes)};
}

void check_values(const Problem& problem, const Workload& workload, const Tensor& input,
                  std::span<const std::byte> bytes, const std::string& place) {
  const size_t count = bytes.size() / core::size_bytes(input.dtype);
  if (core::is_floating(input.dtype)) {
    for (size_t i = 0; !problem.contract.nan && i < count; ++i) {
      if (is_finite_at(input.dtype, bytes, i)) continue;
      throw core::InputError(place, "holds NaN or infinity, at element " + std::to_string(i),
                             "give finite numbers, or set \"nan\": true in the contract");
    }
    return;
  }
  const auto bounds = bounds_of(input, workload.axes);
  for (size_t i = 0; bounds && i < count; ++i) {
    const int64_t value = integer_at(input.dtype, bytes, i);
    if (value >= bounds->least && value <= bounds->most) continue;
    throw core::InputError(place,
                           "holds " + std::to_string(value) + " at element " + std::to_string(i) +
                               ", and the init of \"" + input.name + "\" promises " + std::to_string(bounds->least) +
                               " to " + std::to_string(bounds->most),
                           "correct the file, or the bounds in problem.json");
  }
}

void check_input(const Problem& problem, const Workload& workload, const std::string& name, const InputFile& named) {
  const std::string place = problem.place_of(named.file).string() + ", \"" + named.tensor + "\", for input \"" + name +
                            "\" of workload " + workload.name;
  const Safetensors& file = *problem.data.at(named.file);
  const Safetensors::Entry* entry = file.find(named.tensor);
  if (entry == nullptr) {
    throw core::InputError(place, "there is no such tensor", core::did_you_mean(named.tensor, file.names(), "tensors"));
  }
  const Tensor& input = *problem.find_tensor(name);
  std::vector<int64_t> shape;
  for (const core::Expr& extent : input.shape) shape.push_back(extent.eval(workload.axes));
  if (entry->dtype != input.dtype || entry->shape != shape) {
    throw core::InputError(place,
                           "is " + entry->dtype_name + " " + extents_text(entry->shape) + ", and the input is " +
                               std::string(core::name_of(input.dtype)) + " " + extents_text(shape),
                           "give the workload the axes of its data, or another tensor");
  }
  check_values(problem, workload, input, entry->bytes, place);
}

// inputs() of reference.py gives what no file does; the worker that loads it says whether there is one.
void check_given(const Problem& problem) {
  if (problem.pytorch()) return;
  for (const Tensor& input : problem.inputs) {
    if (input.init.kind != Init::given) continue;
    for (const Workload& workload : problem.workloads) {
      if (workload.inputs.contains(input.name)) continue;
      throw core::InputError(problem.place_of("problem.json").string() + "#/inputs/" + input.name + "/init",
                             "is \"given\", and nothing gives it at workload " + workload.name,
                             "name a file in \"inputs\" of each workload, or write reference.py with inputs(); see "
                             "docs/problem-format.md");
    }
  }
}
}  // namespace

void load_data_files(Problem& problem) {
  std::set<std::string> names;
  for (const Workload& workload : problem.workloads) {
    for (const auto& [input, file] : workload.inputs) names.insert(file.file);
  }
  if (names.size() > kMostDataFiles) {
    throw core::InputError(problem.place_of("problem.json").string(),
                           "names " + std::to_string(names.size()) + " data files, and a problem has at most " +
                               std::to_string(kMostDataFiles),
                           "put the tensors of several workloads into one file");
  }
  size_t total = 0;
  std::string hashes;
  for (const std::string& name : names) {
    const std::string file = problem.place_of(name).string();
    std::error_code absent;
    const auto size = std::filesystem::file_size(file, absent);
    if (absent) throw core::InputError(file, "is missing", "a workload in problem.json names it: put it there");
    total += static_cast<size_t>(size);
    if (size > kMostDataFileBytes || total > kMostDataBytes) {
      throw core::InputError(
          file, "is too large: a file has at most 64 MiB, and all files of a problem 256 MiB",
          "keep the tensors that init and inputs() cannot draw, such as indices, and fewer workloads");
    }
    auto data = std::make_shared<const Safetensors>(core::read_file(file, kMostDataFileBytes), file);
    hashes += core::sha256_hex(data->bytes()) + "  " + name + "\n";
    problem.data.emplace(name, std::move(data));
  }
  if (!hashes.empty()) problem.files.emplace(kDataFile, hashes);
  check_data(problem);
  check_given(problem);
}

void check_data(const Problem& problem) {
  for (const Workload& workload : problem.workloads) {
    for (const auto& [input, file] : workload.inputs) check_input(problem, workload, input, file);
  }
}

std::span<const std::byte> data_of(const Problem& problem, const Workload& workload, const std::string& input) {
  const InputFile& named = workload.inputs.at(input);
  const auto file = problem.data.find(named.file);
  if (file == problem.data.end()) {
    throw core::InputError(problem.place_of(named.file).string(), "is not in the archive, which keeps its hash alone",
                           "run the problem from its folder");
  }
  return file->second->find(named.tensor)->bytes;
}

void require_data(const Problem& problem) {
  for (const Workload& workload : problem.workloads) {
    for (const auto& [input, file] : workload.inputs) data_of(problem, workload, input);
  }
}

}  // namespace benchsuite
