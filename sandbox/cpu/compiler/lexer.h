// Translates CUDA C++, or HIP's, for the host's compiler and the headers of sandbox/cpu/shim: rejects source that no
// kernel needs or this device cannot run, turns inline PTX into calls, places __shared__ variables, and exports the
// kernels. Every line keeps its number. Both builds compile the same text.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sandbox/compilation.h"

namespace sandbox::cpu::compiler {

struct LexedSource {
  std::string text;
  std::vector<std::string> kernels;  // each extern "C" __global__ function that has a body
  std::set<std::string> headers;     // of the shim, which the text needs besides kw_cuda.h
};

// A gap before each __shared__ variable lets the checking build see overruns of the one before it. Local variables that
// a declaration does not set get a content that is drawn for each launch.
std::variant<LexedSource, Rejected> lex(std::string_view source, Dialect dialect = Dialect::cuda);

}  // namespace sandbox::cpu::compiler
