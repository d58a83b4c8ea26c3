#include "sandbox/cuda/compiler/compiler.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <system_error>

#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "sandbox/compilation.h"
#include "sandbox/cuda/inspection/cubin.h"
#include "sandbox/cuda/inspection/ptx_check.h"
#include "sandbox/gpu/source_check.h"
#include "sandbox/process/channel.h"
#include "sandbox/process/sealed_memory.h"

namespace sandbox::cuda::compiler {
namespace {
constexpr const char* kPreludeName = "kw_prelude.h";
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
  options.insert(options.end(), settings.more_options.begin(), settings.more_options.end());
  return options;
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
std::optional<Rejected> refuse_binary(const CompileRequest& request, const gpu::RuntimeCompilerOutput& output) {
  const std::optional<Solution> solution = solution_of(request);
  const bool cooperative =
      !solution || std::ranges::any_of(solution->launches, [](const Launch& launch) { return launch.cooperative; });
  if (auto refused = inspection::check_ptx(output.ptx, cooperative)) return refused;
  try {
    inspection::inspect_cubin(output.binary);
  } catch (const core::InputError& refused) {
    return Rejected{Rejection::forbidden, refused.problem(), std::nullopt, ""};
  }
  return solution ? refuse_stray_kernel(*solution, inspection::kernels_of(output.binary)) : std::nullopt;
}
}  // namespace

Compilation compile(const CompileRequest& request, const CompilerSettings& settings, const Nvrtc& nvrtc) {
  const auto began = std::chrono::steady_clock::now();
  if (auto refused = gpu::refuse_source(request.source)) return *refused;
  const gpu::RuntimeCompilerOutput output = nvrtc.compile(
      request.source, gpu::kSourceName, headers_for(settings, nvrtc), options_for(request, settings, nvrtc));
  if (output.out_of_memory || output.log.find(kOutOfMemoryLog) != std::string::npos) {
    return Rejected{Rejection::limit, "compiling it needs more memory than a compile worker has", std::nullopt, ""};
  }
  if (!output.built) return gpu::rejected_by_compiler(output.log, without_ptxas(output.log));
  if (auto refused = refuse_binary(request, output)) {
    refused->log = without_ptxas(output.log);
    return *refused;
  }

  Built built;
  built.binary = process::sealed_memory("cubin", output.binary);
  built.binary_bytes = output.binary.size();
  built.binary_hash = core::sha256_hex(output.binary);
  built.ptx = process::sealed_memory("ptx", output.ptx);
  built.ptx_bytes = output.ptx.size();
  built.log = without_ptxas(output.log);
  built.kernels = inspection::kernels_of(output.binary);
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
