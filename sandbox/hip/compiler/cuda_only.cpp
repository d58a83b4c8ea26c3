#include "sandbox/hip/compiler/cuda_only.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "core/text.h"
#include "sandbox/tokens.h"

namespace sandbox::hip::compiler {
namespace {
struct Construct {
  std::string_view begin;  // of an identifier, or of the text of an asm
  std::string_view what;
};
constexpr Construct kIdentifiers[] = {{"wmma", "nvcuda::wmma (HIP has __builtin_amdgcn_mfma_* and rocWMMA)"},
                                      {"nvcuda", "nvcuda::wmma (HIP has __builtin_amdgcn_mfma_* and rocWMMA)"},
                                      {"CUtensorMap", "tensor maps"},
                                      {"__grid_constant__", "__grid_constant__"},
                                      {"__cluster_dims__", "clusters"},
                                      {"cluster_group", "clusters"},
                                      {"this_cluster", "clusters"},
                                      {"__pipeline_", "asynchronous copies (cp.async)"},
                                      {"memcpy_async", "asynchronous copies (cp.async)"},
                                      {"__reduce_", "reductions of a warp in one instruction (__reduce_*_sync)"},
                                      {"__match_", "__match_any_sync and __match_all_sync"},
                                      {"__nanosleep", "__nanosleep"},
                                      {"__nv_fp8", "CUDA's types for FP8"},
                                      {"__nv_cvt_", "CUDA's types for FP8"},
                                      {"cuda", "libcu++ (cuda::)"},
                                      {"cute", "CuTe"}};
constexpr std::string_view kHeaders[] = {"mma.h",         "cuda/",      "cute/", "cutlass/",
                                         "cuda_pipeline", "cuda_fp8.h", "cuda.h"};

// PTX has dots in its mnemonics and operands that begin with % or a number after one; AMD's assembler has neither.
bool is_ptx(std::string_view text) {
  const size_t word = text.find_first_not_of(" \t\n{");
  if (word == std::string_view::npos) return false;
  const size_t dot = text.substr(word, text.find_first_of(" \t;", word) - word).find('.');
  return dot != std::string_view::npos && dot > 0;  // not a directive of an assembler
}

std::optional<std::string> construct_at(const std::vector<Token>& tokens, size_t i) {
  const Token& token = tokens[i];
  if (token.kind == TokenKind::header_name) {
    for (const std::string_view header : kHeaders) {
      if (token.value.starts_with(header)) return "<" + core::clean_line(token.value, 60) + ">";
    }
  }
  if (token.kind == TokenKind::string && is_ptx(token.value)) {
    for (size_t before = i; before > 0 && i - before < 4; --before) {
      if (tokens[before - 1].is("asm") || tokens[before - 1].is("__asm__")) return "inline PTX";
    }
  }
  if (token.kind != TokenKind::identifier) return std::nullopt;
  for (const Construct& construct : kIdentifiers) {
    const bool name_of_namespace = construct.begin == "cuda" || construct.begin == "cute" || construct.begin == "wmma";
    const bool fits = name_of_namespace
                          ? token.text == construct.begin && i + 1 < tokens.size() && tokens[i + 1].is("::")
                          : token.text.starts_with(construct.begin);
    if (fits) return std::string(construct.what);
  }
  return std::nullopt;
}
}  // namespace

std::optional<Rejected> find_cuda_only(const std::string& source, const std::string& log) {
  const std::vector<Token> tokens = tokenize(source);
  std::vector<std::string> found;
  std::optional<int64_t> line;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto construct = construct_at(tokens, i);
    if (!construct || std::ranges::find(found, *construct) != found.end()) continue;
    if (!line) line = tokens[i].line;
    found.push_back(*construct);
  }
  if (found.empty()) return std::nullopt;
  return Rejected{Rejection::unsupported,
                  "uses what only CUDA has: " + core::join(found, ", ") +
                      "; keep it within #ifndef __HIP__, or leave hip out of its \"backends\"",
                  line, log};
}

}  // namespace sandbox::hip::compiler
