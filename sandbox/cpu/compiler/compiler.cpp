#include "sandbox/cpu/compiler/compiler.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <set>
#include <system_error>

#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "sandbox/compilation.h"
#include "sandbox/cpu/compiler/diagnostics.h"
#include "sandbox/cpu/compiler/host_process.h"
#include "sandbox/cpu/compiler/lexer.h"
#include "sandbox/cpu/compiler/places.h"
#include "sandbox/cpu/compiler/source_rules.h"
#include "sandbox/cpu/inspection/elf_check.h"
#include "sandbox/process/sealed_memory.h"

namespace sandbox::cpu::compiler {
namespace {
namespace fs = std::filesystem;
constexpr const char* kBinaryName = "kernel.so";
constexpr size_t kMostSourceBytes = size_t{1} << 20;

constexpr const char* kCommonFlags[] = {"-x",
                                        "c++",
                                        "-std=c++17",
                                        "-nostdinc",
                                        "-nostdinc++",
                                        "-shared",
                                        "-fPIC",
                                        "-nostdlib",
                                        "-fvisibility=hidden",
                                        "-fno-exceptions",
                                        "-fno-rtti",
                                        "-fno-threadsafe-statics",
                                        "-march=native",
                                        "-g1",
                                        "-ffp-contract=fast",
                                        "-fno-math-errno",
                                        "-fno-strict-aliasing",
                                        "-fwrapv",
                                        "-fno-stack-protector",
                                        "-ftrivial-auto-var-init=pattern",  // of what the lexer does not fill
                                        "-fstack-clash-protection",  // a large frame meets the page below the stack
                                        "-fno-jump-tables",          // a switch jumps to no computed address
                                        "-fcf-protection=none",
                                        "-fno-asynchronous-unwind-tables",
                                        "-fno-ident",
                                        "-Wno-attributes",
                                        "-Wl,--build-id=none,-z,noexecstack,-z,relro,-z,now"};
constexpr const char* kCheckFlags[] = {"-O1", "-fno-omit-frame-pointer",
                                       "-fsanitize=thread,alignment,bounds,object-size,integer-divide-by-zero",
                                       "-fno-sanitize-recover=all",
                                       // A source must not learn which build it is in.
                                       "-U__SANITIZE_THREAD__", "-DKW_CHECKED"};  // undefined in shim/kw_abi.h

// Each branch of the source stays one: no instruction takes the place of two sides.
constexpr const char* kCoverFlags[] = {"-O1", "-fsanitize-coverage=trace-pc", "-DKW_COVERED"};  // as above
constexpr const char* kCoverFlagsOfGcc[] = {"-fno-if-conversion", "-fno-if-conversion2", "-fno-ssa-phiopt",
                                            "-fno-tree-loop-if-convert"};

// HIP's operations without masks are told apart by where they are called, in the order of the code: the compiler must
// neither copy nor merge calls, nor move branches elsewhere.
constexpr const char* kHipFlags[] = {"-fno-thread-jumps",
                                     "-fno-split-paths",
                                     "-fno-crossjumping",
                                     "-fno-tree-tail-merge",
                                     "-fno-reorder-blocks",
                                     "-fno-reorder-blocks-and-partition",
                                     "-fno-guess-branch-probability"};
constexpr const char* kHipFlagsOfClang[] = {"-mllvm", "-disable-block-placement"};

// An error's remedy is in its first lines; one error brings many.
std::vector<std::string> command(const CompileRequest& request, const CompilerSettings& settings,
                                 const std::optional<Solution>& solution, const std::set<std::string>& headers) {
  std::vector<std::string> argv{settings.host.program.string()};
  argv.insert(argv.end(), std::begin(kCommonFlags), std::end(kCommonFlags));
  if (request.build == Build::check) {
    argv.insert(argv.end(), std::begin(kCheckFlags), std::end(kCheckFlags));
    if (settings.host.clang) {
      argv.insert(argv.end(), {"-mllvm", "-tsan-distinguish-volatile=1"});
    } else {
      argv.insert(argv.end(), {"--param", "tsan-distinguish-volatile=1"});
    }
    for (const std::string& name : check_entry_points()) argv.push_back("-Wl,--wrap=" + name);
  } else if (request.build == Build::cover) {
    argv.insert(argv.end(), std::begin(kCoverFlags), std::end(kCoverFlags));
    if (!settings.host.clang) argv.insert(argv.end(), std::begin(kCoverFlagsOfGcc), std::end(kCoverFlagsOfGcc));
  } else {
    argv.push_back("-O2");
  }
  argv.push_back(settings.host.clang ? "-ferror-limit=5" : "-fmax-errors=5");
  // The binary does not depend on the folder of compilation.
  argv.push_back("-ffile-prefix-map=" + settings.scratch.string() + "=.");
  argv.push_back("-ffile-prefix-map=" + settings.device_headers.string() + "=kw");
  if (!settings.host.clang) argv.push_back("-fno-use-linker-plugin");
  if (settings.dialect != Dialect::cuda) {
    argv.insert(argv.end(),
                {"-DKW_HIP", settings.dialect == Dialect::hip ? "-DKW_WAVE=64" : "-DKW_WAVE=32", "-Wno-psabi"});
    if (settings.host.clang) {
      argv.insert(argv.end(), std::begin(kHipFlagsOfClang), std::end(kHipFlagsOfClang));
    } else {
      argv.insert(argv.end(), std::begin(kHipFlags), std::end(kHipFlags));
    }
  }
  // NVRTC defines these for the architecture that the solution needs.
  if (solution && solution->arch.starts_with("sm_")) {
    const int arch = std::atoi(solution->arch.c_str() + 3);
    argv.push_back("-DKW_ARCH=" + std::to_string(arch * 10));
    if (solution->arch == "sm_90a") argv.push_back("-D__CUDA_ARCH_FEAT_SM90_ALL=1");
    if (solution->arch == "sm_100a") argv.push_back("-D__CUDA_ARCH_FEAT_SM100_ALL=1");
  }
  for (const auto& [name, value] : request.macros) argv.push_back("-D" + name + "=" + std::to_string(value));
  argv.push_back("-I" + settings.device_headers.string());
  argv.insert(argv.end(), {"-include", (settings.device_headers / "kw_cuda.h").string()});
  for (const std::string& header : headers) {
    argv.insert(argv.end(), {"-include", (settings.device_headers / header).string()});
  }
  argv.insert(argv.end(), {"-o", kBinaryName, kSourceName, "-lm"});
  return argv;
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw core::SystemError("cannot write " + path.string(), errno);
}

// Empties the scratch folder when it goes.
struct ScratchFolder {
  explicit ScratchFolder(const fs::path& path) : folder(path) {}
  ~ScratchFolder() {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) fs::remove_all(entry.path(), ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  fs::path folder;
};

std::optional<Rejected> rejected_by_limits(const ProcessResult& result, const CompilerSettings& settings,
                                           const std::string& log) {
  const auto limit = [&](const std::string& message) { return Rejected{Rejection::limit, message, std::nullopt, log}; };
  if (result.timed_out || result.signal == SIGXCPU) {
    return limit("compiling takes longer than " + std::to_string(static_cast<int>(settings.deadline_s)) + " s");
  }
  for (const char* sign : {"out of memory", "virtual memory exhausted", "Cannot allocate memory", "std::bad_alloc",
                           "Killed signal terminated program", "memory exhausted"}) {
    if (result.output.find(sign) != std::string::npos) {
      return limit("compiling takes more than " + std::to_string(settings.memory_bytes >> 20) + " MiB");
    }
  }
  if (result.output.find("File too large") != std::string::npos ||
      result.output.find("relocation truncated") != std::string::npos) {
    return limit("the binary becomes too large");
  }
  if (result.signal != 0) return limit("the compiler died of signal " + std::to_string(result.signal));
  return std::nullopt;
}
}  // namespace

std::optional<HostCompiler> find_host_compiler() {
  struct Name {
    const char* base;
    bool clang;
    int newest, oldest;
  };
  for (const Name& name : {Name{"g++", false, 16, 12}, Name{"clang++", true, 23, 14}}) {
    std::vector<std::string> names{name.base};
    for (int version = name.newest; version >= name.oldest; --version) {
      names.push_back(std::string(name.base) + "-" + std::to_string(version));
    }
    for (const std::string& candidate : names) {
      for (const char* folder : {"/usr/bin", "/usr/local/bin"}) {
        std::error_code error;
        // Later calls are in a jail where links through /etc lead nowhere.
        const fs::path program = fs::canonical(fs::path(folder) / candidate, error);
        if (error) continue;
        const ProcessResult shown = run_process({program.string(), "--version"}, "/", {});
        const ProcessResult dumped = run_process({program.string(), "-dumpversion"}, "/", {});
        if (std::atoi(dumped.output.c_str()) < name.oldest) continue;
        return HostCompiler{program, name.clang, core::split(shown.output, '\n').at(0)};
      }
    }
  }
  return std::nullopt;
}

Compilation compile(const CompileRequest& request, const CompilerSettings& settings) {
  const auto began = std::chrono::steady_clock::now();
  if (request.source.size() > kMostSourceBytes) {
    return Rejected{Rejection::limit, "the source is larger than 1 MiB", std::nullopt, ""};
  }
  const std::optional<Solution> solution = solution_of(request);
  if (solution) {  // whether this device can run the plan is decided before the source is read
    if (const auto reason = why_not(*solution, request.build))
      return Rejected{Rejection::unsupported, *reason, std::nullopt, ""};
  }
  auto lexed = lex(request.source, settings.dialect);
  if (auto* rejected = std::get_if<Rejected>(&lexed)) return std::move(*rejected);
  const auto& source = std::get<LexedSource>(lexed);
  const ScratchFolder scratch(settings.scratch);
  write_file(settings.scratch / kSourceName, request.build == Build::cover ? spread_lines(source.text) : source.text);
  ProcessLimits limits;
  limits.deadline_s = settings.deadline_s;
  limits.memory_bytes = settings.memory_bytes;
  const ProcessResult result =
      run_process(command(request, settings, solution, source.headers), settings.scratch, limits);
  std::string log = clean_log(result.output, request.file);
  if (result.signal != 0 || result.timed_out || result.exit_code != 0) {
    if (auto rejected = rejected_by_limits(result, settings, log)) return *rejected;
    return classify_diagnostics(result.output, request.file);
  }
  const std::string bytes = core::read_file(settings.scratch / kBinaryName);
  Built built;
  built.binary = process::sealed_memory("kernel", bytes);
  built.binary_bytes = bytes.size();
  built.binary_hash = core::sha256_hex(bytes);
  built.log = std::move(log);
  try {
    const inspection::BinaryFacts facts = inspection::inspect_binary(built.binary.get(), request.build);
    built.kernels = facts.kernels;
    built.shared_bytes = static_cast<int64_t>(facts.static_shared_bytes);
    if (solution) {
      if (auto stray = refuse_stray_kernel(*solution, facts.kernels)) return std::move(*stray);
    }
  } catch (const inspection::BinaryRefused& refusal) {
    return Rejected{refusal.reason(), refusal.what(), std::nullopt, built.log};
  }
  built.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
  return built;
}

std::vector<std::string> check_entry_points() {
  std::vector<std::string> names{"memcpy", "memset", "memmove", "memcmp",  "frexp",  "frexpf",
                                 "modf",   "modff",  "remquo",  "remquof", "sincos", "sincosf"};
  const auto add = [&](const std::string& name) { names.push_back("__tsan_" + name); };
  for (const char* name : {"init", "func_entry", "func_exit", "read_range", "write_range", "vptr_update", "vptr_read",
                           "memcpy", "memset", "memmove", "atomic_thread_fence", "atomic_signal_fence"}) {
    add(name);
  }
  for (const char* kind : {"", "unaligned_", "volatile_", "unaligned_volatile_"}) {
    for (const char* access : {"read", "write"}) {
      for (const char* bytes : {"1", "2", "4", "8", "16"}) add(std::string(kind) + access + bytes);
    }
  }
  for (const char* bits : {"8", "16", "32", "64"}) {
    for (const char* operation :
         {"load", "store", "exchange", "fetch_add", "fetch_sub", "fetch_and", "fetch_or", "fetch_xor", "fetch_nand",
          "compare_exchange_strong", "compare_exchange_weak", "compare_exchange_val"}) {
      add(std::string("atomic") + bits + "_" + operation);
    }
  }
  for (const char* finding : {"type_mismatch_v1", "out_of_bounds", "divrem_overflow"}) {
    names.push_back(std::string("__ubsan_handle_") + finding + "_abort");
  }
  return names;
}

}  // namespace sandbox::cpu::compiler
