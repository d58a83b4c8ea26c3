#include "benchsuite/skeleton.h"

#include <array>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace benchsuite {
namespace {
// How kernels name a dtype.
struct Spelling {
  core::DType dtype;
  const char *type, *header;
};
constexpr std::array kSpellings{
    Spelling{core::DType::f16, "__half", "cuda_fp16.h"}, Spelling{core::DType::bf16, "__nv_bfloat16", "cuda_bf16.h"},
    Spelling{core::DType::f8e4m3, "__nv_fp8_e4m3", "cuda_fp8.h"},
    Spelling{core::DType::f8e5m2, "__nv_fp8_e5m2", "cuda_fp8.h"}, Spelling{core::DType::f32, "float", nullptr}};

const Spelling& spelling_for(const std::string& name) {
  const std::string ending = name.substr(name.rfind('_') + 1);
  for (const Spelling& one : kSpellings) {
    if (ending == name_of(one.dtype) && ending.size() < name.size()) return one;
  }
  throw core::InputError("\"" + core::clean_line(name) + "\"", "does not end in f32, f16, bf16, f8e4m3 or f8e5m2",
                         "end the name in its dtype, as in my_norm_f32, and change dtypes in problem.json afterwards");
}

std::string replaced(std::string text, const std::string& word, const std::string& by) {
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size()) {
    text.replace(at, word.size(), by);
  }
  return text;
}
}  // namespace

SourceFiles problem_skeleton(const std::filesystem::path& templates, const std::string& name) {
  const Spelling& spelling = spelling_for(name);
  const std::pair<std::string, std::string> values[] = {
      {"@NAME@", name},
      {"@DTYPE@", std::string(name_of(spelling.dtype))},
      {"@BYTES@", std::to_string(core::size_bytes(spelling.dtype))},
      {"@TYPE@", spelling.type},
      {"@INCLUDE@", spelling.header ? "#include <" + std::string(spelling.header) + ">\n\n" : ""}};
  SourceFiles files;
  for (const char* file : {"problem.json", "reference.cu", "naive.cu", "kernel.cu"}) {
    std::string text = core::read_file(templates / file);
    for (const auto& [word, by] : values) text = replaced(std::move(text), word, by);
    files.emplace(file, std::move(text));
  }
  return files;
}

}  // namespace benchsuite
