// Names and literals in exported code.
#pragma once

#include <string>
#include <string_view>

#include "benchsuite/problem.h"
#include "core/dtype.h"

namespace results::exporting {

// A problem's name as an identifier in C++ and Python; keywords of either get a '_'.
std::string safe_name(std::string_view name);

// Any text as an identifier: other characters become '_'. Never empty.
std::string identifier_of(std::string_view text);

// The C++ type in host and device code: "float", "__half", "int32_t".
std::string_view cpp_type(core::DType dtype);
// "float32", as PyTorch, NumPy and FlashInfer-Bench call it.
std::string_view torch_type(core::DType dtype);

// A line of Python for each of the problem's scalars, indented by four: "    eps = 1e-05\n".
std::string python_scalars(const benchsuite::Problem& problem);

// A text as a C++ string literal, quotes included. Bytes beyond ASCII become escapes.
std::string cpp_string(std::string_view text);

// Each line of a text as a C++ comment, protected against a backslash at its end.
std::string as_comment(std::string_view text);

}  // namespace results::exporting
