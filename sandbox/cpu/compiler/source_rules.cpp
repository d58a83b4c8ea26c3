#include "sandbox/cpu/compiler/source_rules.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/text.h"

namespace sandbox::cpu::compiler {
namespace {

constexpr std::string_view kOurs[] = {
    "cuda_fp16.h",      "cuda_bf16.h", "cuda_fp8.h", "mma.h", "cooperative_groups.h", "cooperative_groups/reduce.h",
    "math_constants.h", "cuda.h"};
// HIP's own, and of CUDA's those that HIP lacks.
constexpr std::string_view kOursInHip[] = {"hip/hip_fp16.h", "hip/hip_bf16.h", "hip/hip_cooperative_groups.h"};
constexpr std::string_view kBuiltInHip[] = {"hip/hip_runtime.h", "hip/hip_runtime_api.h", "hip/hip_vector_types.h",
                                            "hip/device_functions.h", "hip/math_functions.h"};
constexpr std::string_view kCudaAlone[] = {"cuda_fp8.h", "mma.h", "math_constants.h"};
constexpr std::string_view kBuiltIn[] = {
    "cuda_runtime.h",  "cuda_runtime_api.h",         "vector_types.h",     "vector_functions.h", "device_functions.h",
    "builtin_types.h", "device_launch_parameters.h", "sm_20_intrinsics.h", "sm_30_intrinsics.h", "math_functions.h",
    "host_defines.h",  "device_atomic_functions.h"};
// CUDA headers that this device lacks.
constexpr std::string_view kToolkit[] = {"cuda_fp6.h",
                                         "cuda_fp4.h",
                                         "cuda_pipeline.h",
                                         "cuda_pipeline_primitives.h",
                                         "cuda_awbarrier.h",
                                         "cuda_awbarrier_primitives.h",
                                         "cuda_device_runtime_api.h",
                                         "cudaTypedefs.h",
                                         "curand.h",
                                         "curand_kernel.h",
                                         "cublas_v2.h",
                                         "cublasLt.h",
                                         "nvshmem.h",
                                         "nvshmemx.h",
                                         "texture_types.h",
                                         "surface_types.h",
                                         "cooperative_groups/scan.h",
                                         "cooperative_groups/memcpy_async.h"};
constexpr std::string_view kToolkitFolders[] = {
    "cuda/", "cub/", "thrust/", "cute/", "cutlass/", "nv/", "cccl/", "cooperative_groups/", "crt/", "cccl/"};
// Standard headers: no device compiler that compiles at run time has them.
constexpr std::string_view kStandard[] = {
    "stdint.h", "stddef.h",  "stdio.h", "stdlib.h",    "string.h", "math.h",     "float.h",          "limits.h",
    "assert.h", "stdbool.h", "cstdint", "cstddef",     "cstdio",   "cstdlib",    "cstring",          "cmath",
    "cfloat",   "climits",   "cassert", "type_traits", "limits",   "algorithm",  "utility",          "tuple",
    "array",    "vector",    "string",  "iostream",    "numeric",  "functional", "initializer_list", "memory",
    "bit",      "complex",   "iostream"};

constexpr std::string_view kAttributes[] = {
    "aligned", "packed",    "always_inline", "noinline",        "unused",    "const",
    "pure",    "may_alias", "vector_size",   "ext_vector_type", "noreturn",  "warn_unused_result",
    "nonnull", "device",    "host",          "global",          "shared",    "constant",
    "hot",     "cold",      "flatten",       "deprecated",      "nodiscard", "maybe_unused",
    "likely",  "unlikely",  "fallthrough",   "launch_bounds"};

constexpr std::string_view kUnsupportedWords[] = {"__managed__",
                                                  "__cluster_dims__",
                                                  "__block_size__",
                                                  "__int128",
                                                  "__int128_t",
                                                  "__uint128_t",
                                                  "__float128",
                                                  "thread_local",
                                                  "__thread",
                                                  "cudaTextureObject_t",
                                                  "cudaSurfaceObject_t",
                                                  "tex1D",
                                                  "tex1Dfetch",
                                                  "tex2D",
                                                  "tex2DLayered",
                                                  "tex3D",
                                                  "surf1Dread",
                                                  "surf2Dread",
                                                  "surf2Dwrite",
                                                  "__nv_tma_descriptor"};

// Macros of kw_prelude.h that sources may read.
constexpr std::string_view kPublic[] = {"KW_WAVE", "KW_WHOLE_WAVE"};
// Names that no source may contain: host functions, which are not part of the device language, and switches that would
// blind the checking build's sanitizers.
constexpr std::string_view kReservedPrefixes[] = {"__kw_", "KW_", "__tsan_", "__ubsan_", "__sanitizer_", "__wrap_"};
constexpr std::string_view kHostPrefixes[] = {"no_sanitize",
                                              "__no_sanitize",
                                              "disable_sanitizer",
                                              "__disable_sanitizer",
                                              "__builtin_ia",
                                              "__builtin_aarch",
                                              "__builtin_arm",
                                              "__builtin_neon",
                                              "__builtin_sve",
                                              "__builtin_sme",
                                              "__builtin_frame",
                                              "__builtin_return",
                                              "__builtin_extract_return",
                                              "__builtin_frob",
                                              "__builtin_apply",
                                              "__builtin_eh",
                                              "__builtin_unwind",
                                              "__builtin_dwarf",
                                              "__builtin_init_dwarf",
                                              "__builtin_setjmp",
                                              "__builtin_longjmp",
                                              "__builtin_thread_pointer",
                                              "__builtin_set_thread_pointer",
                                              "__builtin_cpu",
                                              "__builtin_alloca",
                                              "__builtin___clear_cache",
                                              "__builtin___emutls"};
// Macros that differ between builds or times of compilation: a kernel that reads them could be a different one there.
constexpr std::string_view kBuildPrefixes[] = {"__SANITIZE",
                                               "__OPTIMIZE",
                                               "__NO_INLINE",
                                               "__has_feature",
                                               "__has_extension",
                                               "__builtin_constant_p",
                                               "__builtin_is_constant_evaluated",
                                               "__builtin_object_size",
                                               "__builtin_dynamic_object_size",
                                               "__TIME__",
                                               "__DATE__",
                                               "__TIMESTAMP__"};
// Words of these rules that macros must not paste together.
constexpr std::string_view kUnpasteable[] = {"asm",        "__asm",   "__asm__",  "__attribute",  "__attribute__",
                                             "__declspec", "_Pragma", "__thread", "thread_local", "__has_include"};

template <size_t n>
bool among(const std::string_view (&names)[n], std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

Rejected reject(Rejection reason, int line, std::string message) { return {reason, std::move(message), line, ""}; }

std::string without_underscores(const std::string& name) {
  const bool wrapped = name.size() > 4 && name.starts_with("__") && name.substr(name.size() - 2) == "__";
  return wrapped ? name.substr(2, name.size() - 4) : name;
}

std::optional<Rejected> check_attribute_name(const Token& name) {
  if (among(kAttributes, without_underscores(name.text))) return std::nullopt;
  return reject(Rejection::forbidden, name.line,
                "the attribute " + core::clean_line(name.text, 60) + " is not for kernels");
}

// __attribute__((a, b(arguments)))
std::optional<Rejected> check_attributes(const std::vector<Token>& tokens, size_t at) {
  int depth = 0;
  for (size_t i = at + 1; i < tokens.size(); ++i) {
    if (tokens[i].is("(")) ++depth;
    if (tokens[i].is(")") && --depth == 0) break;
    if (depth == 0) break;
    if (depth != 2 || tokens[i].kind != TokenKind::identifier) continue;
    if (auto rejected = check_attribute_name(tokens[i])) return rejected;
  }
  return std::nullopt;
}

// [[gnu::a, b]]; also an index that happens to open with two brackets, whose words are left alone.
std::optional<Rejected> check_bracket_attributes(const std::vector<Token>& tokens, size_t at) {
  for (size_t i = at + 2; i < tokens.size() && !tokens[i].is("]"); ++i) {
    if (tokens[i].is("using")) return check_attribute_name(tokens[i]);
    if (i + 2 < tokens.size() && tokens[i + 1].is("::")) {
      const std::string space = without_underscores(tokens[i].text);
      if (space != "gnu" && space != "clang" && space != "nv") continue;
      if (auto rejected = check_attribute_name(tokens[i + 2])) return rejected;
    }
  }
  return std::nullopt;
}

std::optional<Rejected> check_word(const std::vector<Token>& tokens, size_t at) {
  const Token& token = tokens[at];
  const std::string& text = token.text;
  if (among(kPublic, text)) {
    const bool changed = at > 0 && tokens[at].directive >= 0 && tokens[at - 1].directive == tokens[at].directive &&
                         (tokens[at - 1].is("define") || tokens[at - 1].is("undef"));
    if (!changed) return std::nullopt;
    return reject(Rejection::forbidden, token.line, text + " is predefined and stays as it is");
  }
  for (std::string_view prefix : kReservedPrefixes) {
    if (text.starts_with(prefix)) {
      return reject(Rejection::forbidden, token.line, "names that begin with " + std::string(prefix) + " are reserved");
    }
  }
  for (std::string_view prefix : kHostPrefixes) {
    if (text.starts_with(prefix)) {
      return reject(Rejection::forbidden, token.line,
                    core::clean_line(text, 60) + " is no part of the device language");
    }
  }
  for (std::string_view prefix : kBuildPrefixes) {
    if (!text.starts_with(prefix)) continue;
    return reject(
        Rejection::forbidden, token.line,
        core::clean_line(text, 60) + " tells one build from another, and a kernel is the same in all; leave it out");
  }
  if (text == "__has_include_next" || text.starts_with("__has_embed")) {
    return reject(Rejection::forbidden, token.line, text + " looks for files");
  }
  if (text == "__has_include") {
    const bool literal =
        at + 2 < tokens.size() && tokens[at + 1].is("(") && tokens[at + 2].kind == TokenKind::header_name;
    if (!literal || !among(kOurs, tokens[at + 2].value)) {
      return reject(Rejection::forbidden, token.line, "__has_include of anything but a CUDA header of this device");
    }
  }
  if (text == "__attribute__" || text == "__attribute") return check_attributes(tokens, at);
  const bool long_double = text == "long" && at + 1 < tokens.size() && tokens[at + 1].is("double");
  if (among(kUnsupportedWords, text) || long_double) {
    return reject(Rejection::unsupported, token.line,
                  (long_double ? "long double" : text) + std::string(" is unsupported on the cpu device"));
  }
  return std::nullopt;
}

bool is_pragma_of_kernels(const std::string& what) {
  return what == "unroll" || what == "nounroll" || what == "once" || what.starts_with("nv_") ||
         what.starts_with("diag_");
}

std::optional<Rejected> check_pragma(const std::vector<Token>& tokens, size_t at) {
  const Token& pragma = tokens[at];
  const std::string what =
      at + 1 < tokens.size() && tokens[at + 1].directive == pragma.directive ? tokens[at + 1].text : "";
  if (what.empty() || is_pragma_of_kernels(what)) return std::nullopt;
  return reject(Rejection::forbidden, pragma.line, "#pragma " + core::clean_line(what, 60) + " is not for kernels");
}

// _Pragma("unroll 4"): the literal must be plain to see.
std::optional<Rejected> check_pragma_operator(const std::vector<Token>& tokens, size_t at) {
  const bool literal = at + 3 < tokens.size() && tokens[at + 1].is("(") && tokens[at + 2].kind == TokenKind::string &&
                       tokens[at + 3].is(")");
  const std::string text = literal ? tokens[at + 2].text : "";
  if (text.starts_with('"')) {
    const size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", 1);
    if (is_pragma_of_kernels(text.substr(1, end - 1))) return std::nullopt;
  }
  return reject(Rejection::forbidden, tokens[at].line,
                "a _Pragma of kernels is written with a string, such as _Pragma(\"unroll 4\")");
}

std::optional<Rejected> check_directive(const std::vector<Token>& tokens, size_t at) {
  static constexpr std::string_view kAllowed[] = {"include", "define", "undef", "if",    "ifdef",   "ifndef",
                                                  "elif",    "else",   "endif", "error", "warning", "pragma"};
  const Token& hash = tokens[at];
  if (at + 1 >= tokens.size() || tokens[at + 1].directive != hash.directive) return std::nullopt;  // a lone #
  const Token& name = tokens[at + 1];
  if (!among(kAllowed, name.text)) {
    return reject(Rejection::forbidden, name.line, "#" + core::clean_line(name.text, 60) + " is not for kernels");
  }
  return name.is("pragma") ? check_pragma(tokens, at + 1) : std::nullopt;
}
// <: means [, except in <::x, where a template argument begins with ::.
bool is_digraph_bracket(const std::vector<Token>& tokens, size_t at) {
  const auto follows = [&](size_t i, std::string_view text) {
    return i < tokens.size() && tokens[i].begin == tokens[i - 1].end && tokens[i].text.substr(0, text.size()) == text;
  };
  if (!tokens[at].is("<") || !follows(at + 1, ":")) return false;
  return tokens[at + 1].is(":") || follows(at + 2, ":") || follows(at + 2, ">");
}

// Rules that need only the tokens around tokens[at].
std::optional<Rejected> check_token(const std::vector<Token>& tokens, size_t at) {
  const Token& token = tokens[at];
  if (token.is("%:") || token.is("<%") || token.is("%>") || is_digraph_bracket(tokens, at)) {
    return reject(Rejection::forbidden, token.line, "digraphs hide what a kernel says");
  }
  if (token.is("<<<")) {
    return reject(Rejection::unsupported, token.line,
                  "launching kernels from kernels is unsupported on the cpu device");
  }
  if (token.is("#") && token.directive >= 0 && (at == 0 || tokens[at - 1].directive != token.directive)) {
    return check_directive(tokens, at);
  }
  if (token.is("[") && at + 1 < tokens.size() && tokens[at + 1].is("[")) return check_bracket_attributes(tokens, at);
  if (token.is("_Pragma")) return check_pragma_operator(tokens, at);
  return token.kind == TokenKind::identifier ? check_word(tokens, at) : std::nullopt;
}
}  // namespace

std::optional<Rejected> check_source(std::string_view source, const std::vector<Token>& tokens) {
  const auto line_at = [&](size_t at) {
    return 1 + static_cast<int>(std::count(source.begin(), source.begin() + static_cast<ptrdiff_t>(at), '\n'));
  };
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\0') return reject(Rejection::forbidden, line_at(i), "a zero byte in the source");
    if (source[i] == '\r' && (i + 1 == source.size() || source[i + 1] != '\n')) {
      return reject(Rejection::forbidden, line_at(i), "a carriage return that ends no line");
    }
  }
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (auto rejected = check_token(tokens, i)) return rejected;
  }
  std::vector<std::string_view> prefixes(std::begin(kReservedPrefixes), std::end(kReservedPrefixes));
  prefixes.insert(prefixes.end(), std::begin(kHostPrefixes), std::end(kHostPrefixes));
  prefixes.insert(prefixes.end(), std::begin(kBuildPrefixes), std::end(kBuildPrefixes));
  prefixes.emplace_back("__has_embed");
  const std::vector<std::string_view> words(std::begin(kUnpasteable), std::end(kUnpasteable));
  if (const auto pasted = find_pasted_word(tokens, words, prefixes)) {
    return reject(Rejection::forbidden, pasted->line,
                  "with ## of this macro, words of the source could make " + pasted->word +
                      ", which a source must not hide; rename them");
  }
  return std::nullopt;
}

std::variant<HeaderRule, Rejected> header_rule(const std::string& name, int line, Dialect dialect) {
  if (dialect != Dialect::cuda) {
    if (among(kOursInHip, name)) return HeaderRule::ours;
    if (among(kBuiltInHip, name)) return HeaderRule::built_in;
    if (among(kCudaAlone, name)) return HeaderRule::ours;  // it refuses HIP itself, where an #if lets it
  } else if (among(kOursInHip, name) || among(kBuiltInHip, name)) {
    return reject(Rejection::compile_error, line,
                  "the header <" + name + "> is HIP's, and this is compiled as CUDA; judge it in the dialect hip");
  }
  if (among(kOurs, name)) return HeaderRule::ours;
  if (among(kBuiltIn, name)) return HeaderRule::built_in;
  const std::string shown = "<" + core::clean_line(name, 100) + ">";
  const bool climbs = name.find("..") != std::string::npos || name.starts_with("/");
  const bool in_toolkit = among(kToolkit, name) ||
                          std::ranges::any_of(kToolkitFolders, [&](auto folder) { return name.starts_with(folder); });
  if (in_toolkit && !climbs) {
    return reject(Rejection::unsupported, line, "the header " + shown + " is unsupported on the cpu device");
  }
  if (among(kStandard, name)) {
    return reject(Rejection::compile_error, line,
                  "device code has no standard headers such as " + shown +
                      "; fixed-width integers, limits and mathematics are predefined");
  }
  return reject(Rejection::forbidden, line, "#include of " + shown + ", which is no CUDA header");
}

std::optional<std::string> why_not(const Solution& solution, Build build) {
  if (build == Build::check) return std::nullopt;
  for (const Launch& launch : solution.launches) {
    if (!launch.cooperative) continue;
    return "a cooperative launch (kernel " + launch.kernel +
           ") is unsupported on the cpu device, but for its checking build";
  }
  return std::nullopt;
}

}  // namespace sandbox::cpu::compiler
