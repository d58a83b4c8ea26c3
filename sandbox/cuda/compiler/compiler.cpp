#include "sandbox/cuda/compiler/compiler.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <map>
#include <system_error>

#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "sandbox/compilation.h"
#include "sandbox/cuda/inspection/cubin.h"
#include "sandbox/cuda/inspection/ptx_check.h"
#include "sandbox/process/channel.h"
#include "sandbox/process/sealed_memory.h"
#include "sandbox/tokens.h"

namespace sandbox::cuda::compiler {
namespace {
constexpr const char* kPreludeName = "kw_prelude.h";
constexpr const char* kSourceName = "solution.cu";
// Replaces the toolkit's <cuda.h>, whose host functions NVRTC does not accept, with the part that kernels need. The
// struct has the name that libcu++ declares.
constexpr const char* kDriverHeader = R"(#pragma once
typedef struct CUtensorMap_st {
  alignas(128) unsigned long long opaque[16];
} CUtensorMap;
)";
constexpr const char* kOutOfMemoryLog =
    "catastrophic error: out of memory";  // NVRTC reports it as a fault of the source
constexpr size_t kLogBytes = 8192;
constexpr size_t kMostSourceBytes = size_t{1} << 20;

// libcu++ reads the clock in barrier waits to back off. Kernels must not read clocks (ptx_check.h), so this clock
// stands still: waits with a time limit become waits without one.
constexpr const char* kClockHeaders[] = {"cuda/std/__cuda/chrono.h", "cuda/std/__chrono/system_clock.h"};
constexpr std::string_view kReadsClock = R"(asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(__time)::);)";

std::map<std::string, std::string> headers_for(const CompilerSettings& settings, const Nvrtc& nvrtc) {
  std::map<std::string, std::string> headers{{kPreludeName, settings.prelude}, {"cuda.h", kDriverHeader}};
  for (const auto& folder : nvrtc.include_folders()) {
    for (const char* name : kClockHeaders) {
      std::error_code none;
      if (!std::filesystem::is_regular_file(folder / name, none)) continue;
      std::string text = core::read_file(folder / name);
      if (const size_t at = text.find(kReadsClock); at != std::string::npos) {
        headers[name] = text.replace(at, kReadsClock.size(), "__time = 0;");
      }
    }
  }
  return headers;
}

std::vector<std::string> options_for(const CompileRequest& request, const CompilerSettings& settings,
                                     const Nvrtc& nvrtc) {
  std::vector<std::string> options{"-arch=" + settings.architecture, "-std=c++17", "-lineinfo", "--ptxas-options=-v",
                                   // Speeds up compiling cooperative groups with reductions from 942 to 68 ms.
                                   "-D_CG_LIMIT_INCLUDED_DEPENDENCIES", std::string("--pre-include=") + kPreludeName};
  for (const auto* folders : {&nvrtc.include_folders(), &settings.include_folders}) {
    for (const auto& folder : *folders) options.push_back("-I" + folder.string());
  }
  // CUTLASS has functions without an execution space.
  if (!settings.include_folders.empty()) options.push_back("--device-as-default-execution-space");
  for (const auto& [name, value] : request.macros) options.push_back("-D" + name + "=" + std::to_string(value));
  return options;
}

// Allows only literal names below the include folders. The jail stops everything that gets past this check.
std::optional<Rejected> refuse_includes(std::string_view source) {
  const std::vector<Token> tokens = tokenize(source);
  const auto forbidden = [](const Token& at, std::string message) {
    return Rejected{Rejection::forbidden, std::move(message), at.line, ""};
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.is("%:")) return forbidden(token, "digraphs obscure a kernel");
    const bool directive =
        token.is("#") && token.directive >= 0 && i + 1 < tokens.size() && tokens[i + 1].directive == token.directive;
    if (directive && (tokens[i + 1].is("line") || tokens[i + 1].is("include_next"))) {
      return forbidden(token, "#" + tokens[i + 1].text + " is not for kernels");
    }
    const bool include = (directive && tokens[i + 1].is("include")) || token.is("__has_include");
    if (!include) continue;
    const size_t name = i + 2;
    if (name >= tokens.size() || tokens[name].kind != TokenKind::header_name) {
      return forbidden(token, "#include of a computed name");
    }
    const std::string& header = tokens[name].value;
    if (header.empty() || header[0] == '/' || header.find("..") != std::string::npos) {
      return forbidden(token, "#include of <" + core::clean_text(header, 100) + ">, which is not a CUDA header");
    }
  }
  return std::nullopt;
}

// "solution.cu(12): error: identifier "x" is undefined"
Rejected classify(const std::string& log, const std::string& shown_log) {
  Rejected rejected{Rejection::compile_error, "the compiler gave up", std::nullopt, shown_log};
  const size_t error = log.find("error: ");
  if (error == std::string::npos) return rejected;
  const size_t line_begin = log.rfind('\n', error) + 1;
  const std::string line = log.substr(line_begin, log.find('\n', error) - line_begin);
  rejected.message = core::clean_line(line.substr(line.find("error: ") + 7), 400);
  const size_t mark = line.find(std::string(kSourceName) + "(");
  if (mark != std::string::npos) {
    const char* digits = line.data() + mark + std::strlen(kSourceName) + 1;
    int64_t number = 0;
    if (std::from_chars(digits, line.data() + line.size(), number).ec == std::errc()) rejected.line = number;
  }
  return rejected;
}

// __TIME__ and similar macros make a kernel depend on the time of compilation. NVRTC does not let us redefine them, so
// a source that contains them, or all pieces from which ## could make them, is refused.
std::optional<Rejected> refuse_time_of_day(std::string_view source) {
  const std::vector<Token> tokens = tokenize(source);
  for (const std::string_view name : {"__TIME__", "__DATE__", "__TIMESTAMP__"}) {
    std::vector<int> line(name.size() + 1);  // line[n]: of a token that ends the first n characters; 0: none
    line[0] = 1;
    for (size_t begin = 0; begin < name.size(); ++begin) {
      for (const Token& token : tokens) {
        const bool fits = token.kind == TokenKind::identifier && name.substr(begin, token.text.size()) == token.text;
        if (line[begin] > 0 && fits) line[begin + token.text.size()] = token.line;
      }
    }
    if (line[name.size()] == 0) continue;
    return Rejected{
        Rejection::forbidden,
        "holds " + std::string(name) + " or its pieces: a kernel must not depend on the time of compilation",
        line[name.size()], ""};
  }
  return std::nullopt;
}

// The largest number before `words` in ptxas' output, over all kernels.
std::optional<int64_t> largest_before(const std::string& log, const std::string& words) {
  std::optional<int64_t> largest;
  for (size_t at = log.find(words); at != std::string::npos; at = log.find(words, at + 1)) {
    const size_t begin = log.find_last_not_of("0123456789", at - 1) + 1;
    int64_t number = 0;
    if (std::from_chars(log.data() + begin, log.data() + at, number).ec != std::errc()) continue;
    largest = std::max(largest.value_or(0), number);
  }
  return largest;
}

// The part of a log for the author, without the ptxas output that we requested.
std::string without_ptxas(const std::string& log) {
  std::string kept;
  for (const std::string& line : core::split(log, '\n')) {
    if (line.find("ptxas info") == std::string::npos && line.find("bytes stack frame") == std::string::npos) {
      kept += line + "\n";
    }
  }
  kept.erase(kept.find_last_not_of('\n') + 1);
  return core::clean_text(kept, kLogBytes);
}

// Findings in the binary, however the source hid them.
std::optional<Rejected> refuse_binary(const CompileRequest& request, const NvrtcOutput& output) {
  const std::optional<Solution> solution = solution_of(request);
  const bool cooperative =
      !solution || std::ranges::any_of(solution->launches, [](const Launch& launch) { return launch.cooperative; });
  if (auto refused = inspection::check_ptx(output.ptx, cooperative)) return refused;
  try {
    inspection::inspect_cubin(output.cubin);
  } catch (const core::InputError& refused) {
    return Rejected{Rejection::forbidden, refused.problem(), std::nullopt, ""};
  }
  return solution ? refuse_stray_kernel(*solution, inspection::kernels_of(output.cubin)) : std::nullopt;
}
}  // namespace

Compilation compile(const CompileRequest& request, const CompilerSettings& settings, const Nvrtc& nvrtc) {
  const auto began = std::chrono::steady_clock::now();
  if (request.source.size() > kMostSourceBytes) {
    return Rejected{Rejection::limit, "the source is larger than 1 MiB", std::nullopt, ""};
  }
  if (request.source.find('\0') != std::string::npos) {
    return Rejected{Rejection::forbidden, "a zero byte in the source", std::nullopt, ""};
  }
  if (auto refused = refuse_includes(request.source)) return *refused;
  if (auto refused = refuse_time_of_day(request.source)) return *refused;
  const NvrtcOutput output =
      nvrtc.compile(request.source, kSourceName, headers_for(settings, nvrtc), options_for(request, settings, nvrtc));
  if (output.out_of_memory || output.log.find(kOutOfMemoryLog) != std::string::npos) {
    return Rejected{Rejection::limit, "compiling it needs more memory than a compile worker has", std::nullopt, ""};
  }
  if (!output.built) return classify(output.log, without_ptxas(output.log));
  if (auto refused = refuse_binary(request, output)) {
    refused->log = without_ptxas(output.log);
    return *refused;
  }

  Built built;
  built.binary = process::sealed_memory("cubin", output.cubin);
  built.binary_bytes = output.cubin.size();
  built.binary_hash = core::sha256_hex(output.cubin);
  built.ptx = process::sealed_memory("ptx", output.ptx);
  built.ptx_bytes = output.ptx.size();
  built.log = without_ptxas(output.log);
  built.kernels = inspection::kernels_of(output.cubin);
  built.registers = largest_before(output.log, " registers");
  built.shared_bytes = largest_before(output.log, " bytes smem").value_or(0);
  built.local_bytes = largest_before(output.log, " bytes stack frame");
  const auto stores = largest_before(output.log, " bytes spill stores");
  const auto loads = largest_before(output.log, " bytes spill loads");
  if (stores && loads) built.spill_bytes = *stores + *loads;
  built.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
  return built;
}

}  // namespace sandbox::cuda::compiler
