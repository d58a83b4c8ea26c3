#include "results/exporting/names.h"

#include <array>
#include <cctype>
#include <set>

#include "core/text.h"

namespace results::exporting {

std::string safe_name(std::string_view name) {
  static const std::set<std::string_view> kTaken{"alignas",   "alignof",  "and",       "as",
                                                 "asm",       "assert",   "async",     "auto",
                                                 "await",     "bool",     "break",     "case",
                                                 "catch",     "char",     "class",     "const",
                                                 "constexpr", "continue", "def",       "default",
                                                 "del",       "delete",   "do",        "double",
                                                 "elif",      "else",     "enum",      "except",
                                                 "explicit",  "export",   "extern",    "false",
                                                 "finally",   "float",    "for",       "friend",
                                                 "from",      "global",   "goto",      "if",
                                                 "import",    "in",       "inline",    "int",
                                                 "is",        "lambda",   "long",      "mutable",
                                                 "namespace", "new",      "noexcept",  "nonlocal",
                                                 "not",       "nullptr",  "operator",  "or",
                                                 "pass",      "private",  "protected", "public",
                                                 "raise",     "register", "return",    "self",
                                                 "short",     "signed",   "sizeof",    "static",
                                                 "struct",    "stream",   "switch",    "template",
                                                 "this",      "throw",    "torch",     "true",
                                                 "try",       "typedef",  "typename",  "union",
                                                 "unsigned",  "using",    "virtual",   "void",
                                                 "volatile",  "while",    "with",      "workspace",
                                                 "xor",       "yield",    "shape",     "workspace_size",
                                                 "F",         "bitand",   "bitor",     "compl",
                                                 "concept",   "requires", "device",    "kernels",
                                                 "status",    "tensors",  "None",      "True",
                                                 "False",     "std",      "linux",     "unix"};
  return std::string(name) + (kTaken.count(name) > 0 ? "_" : "");
}

std::string identifier_of(std::string_view text) {
  std::string name;
  for (const char c : text) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name.insert(0, "k_");
  return name.substr(0, 64);
}

namespace {
struct TypeNames {
  std::string_view cpp, torch;
};
TypeNames names_of(core::DType dtype) {
  switch (dtype) {
    case core::DType::f16:
      return {"__half", "float16"};
    case core::DType::bf16:
      return {"__nv_bfloat16", "bfloat16"};
    case core::DType::f8e4m3:
      return {"__nv_fp8_e4m3", "float8_e4m3fn"};
    case core::DType::f8e5m2:
      return {"__nv_fp8_e5m2", "float8_e5m2"};
    case core::DType::f32:
      return {"float", "float32"};
    case core::DType::f64:
      return {"double", "float64"};
    case core::DType::i8:
      return {"int8_t", "int8"};
    case core::DType::u8:
      return {"uint8_t", "uint8"};
    case core::DType::i32:
      return {"int32_t", "int32"};
    case core::DType::u32:
      return {"uint32_t", "uint32"};
    case core::DType::i64:
      return {"int64_t", "int64"};
    case core::DType::boolean:
      return {"bool", "bool"};
  }
  return {};
}
}  // namespace

std::string_view cpp_type(core::DType dtype) { return names_of(dtype).cpp; }
std::string_view torch_type(core::DType dtype) { return names_of(dtype).torch; }

std::string python_scalars(const benchsuite::Problem& problem) {
  std::string lines;
  for (const benchsuite::NamedScalar& scalar : problem.scalars) {
    lines += "    " + scalar.name + " = " + core::json_of(scalar.value).dump() + "\n";
  }
  return lines;
}

std::string cpp_string(std::string_view text) {
  constexpr std::string_view kOctal = "01234567";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '?') {
      out += '\\';
      out += c;
    } else if (byte >= 32 && byte < 127) {
      out += c;
    } else {
      out += '\\';
      for (const int shift : {6, 3, 0}) out += kOctal[byte >> shift & 7];
    }
  }
  return out + "\"";
}

namespace {
constexpr size_t kWidest = 116;  // characters of a comment's text

// A backslash at its end would join the next line to it.
std::string comment_line(std::string line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\\')) line.pop_back();
  return line.empty() ? "//\n" : "// " + line + "\n";
}
}  // namespace

std::string as_comment(std::string_view text) {
  std::string out;
  for (std::string line : core::split(core::clean_text(text, size_t{1} << 20), '\n')) {
    while (line.size() > kWidest) {
      const size_t space = line.rfind(' ', kWidest);
      if (space == std::string::npos || space == 0) break;
      out += comment_line(line.substr(0, space));
      line.erase(0, space + 1);
    }
    out += comment_line(line);
  }
  return out;
}

}  // namespace results::exporting
