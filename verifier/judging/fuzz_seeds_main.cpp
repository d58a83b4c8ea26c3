// Writes what fuzz targets start from and no file of the repository holds: shared objects, cubins and PTX of shipped
// kernels, one message of each kind, and what models replied in recorded campaigns. Usage: fuzz_seeds <folder>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "core/error.h"
#include "core/paths.h"
#include "core/text.h"
#include "sandbox/cpu/compiler/compiler.h"
#include "sandbox/cuda/compiler/nvrtc.h"
#include "sandbox/hip/compiler/compiler.h"
#include "sandbox/hip/compiler/hiprtc.h"
#include "sandbox/process/sealed_memory.h"
#include "sandbox/wire.h"
#include "verifier/judging/messages.h"
#include "verifier/verdicts/judgement.h"

namespace {
using core::Json;
namespace fs = std::filesystem;

constexpr const char* kKernels[] = {"row_sum_f32", "softmax_f32"};

void write(const fs::path& file, std::string_view bytes) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << bytes;
}

std::string naive_of(const char* problem) {
  return core::read_file(core::installed_paths().problems() / problem / "naive.cu");
}

void write_binaries(const fs::path& folder) {
  const fs::path scratch = folder / "scratch";
  fs::create_directories(scratch);
  const auto host = sandbox::cpu::compiler::find_host_compiler();
  if (!host) throw core::SystemError("there is no host compiler");
  const sandbox::cpu::compiler::CompilerSettings settings{
      *host, fs::canonical(core::installed_paths().device_headers()), sandbox::Dialect::cuda, scratch};
  for (const char* problem : kKernels) {
    for (const sandbox::Build build : {sandbox::Build::fast, sandbox::Build::check}) {
      const auto compiled = sandbox::cpu::compiler::compile({"seed.cu", naive_of(problem), {}, build}, settings);
      const auto* built = std::get_if<sandbox::Built>(&compiled);
      if (built == nullptr) throw core::SystemError(std::get<sandbox::Rejected>(compiled).log);
      write(folder / "elf_check" / (std::string(problem) + "." + std::string(sandbox::name_of(build))),
            sandbox::process::read_memory(built->binary.get()));
    }
  }
  fs::remove_all(scratch);
}

void write_device_code(const fs::path& folder) {
  const sandbox::cuda::compiler::Nvrtc nvrtc = sandbox::cuda::compiler::Nvrtc::open();
  const std::string prelude = core::read_file(core::installed_paths().device_headers() / "kw_prelude.h");
  for (const char* problem : kKernels) {
    const auto output = nvrtc.compile(naive_of(problem), "solution.cu", {{"kw_prelude.h", prelude}},
                                      {"-arch=sm_90", "-std=c++17", "-lineinfo", "--pre-include=kw_prelude.h"});
    if (!output.built) throw core::SystemError(output.log);
    write(folder / "cubin" / problem, output.binary);
    write(folder / "ptx_check" / problem, output.ptx);
  }
}

void write_code_objects(const fs::path& folder) {
  const auto hiprtc = sandbox::hip::compiler::open_hiprtc();
  const core::Paths paths = core::installed_paths();
  for (const char* problem : kKernels) {
    const sandbox::CompileRequest request{"seed.cu", naive_of(problem), {}, sandbox::Build::fast};
    const auto output = hiprtc.compile(
        request.source, "solution.cu", {},
        sandbox::hip::compiler::options_for(request, {"gfx90a", paths.device_headers(), paths.hip_headers()}));
    if (!output.built) throw core::SystemError(output.log);
    write(folder / "code_object" / problem, output.binary);
  }
}

std::vector<verifier::verdicts::Verdict> verdicts() {
  const verifier::verdicts::Where where{"large", "M=7 N=1023", "N(0,1)", "reversed"};
  const sandbox::Fault fault{sandbox::FaultKind::race, "two threads", "k", {{1, 0, 0}}, {{3, 0, 0}}, 7};
  return {verifier::verdicts::Correct{12, 0.25, true},
          verifier::verdicts::CompileFailed{sandbox::Rejection::compile_error, "expected ;", 3},
          verifier::verdicts::InvalidPlan{"too many threads"},
          verifier::verdicts::WrongResult{where, "y", 5, 1.5, -2, 40, 3, 100},
          verifier::verdicts::WrongResult{
              where, "y", 5, 1.5, 0, 40, 3, 100,
              verifier::verdicts::Pattern{verifier::verdicts::PatternKind::zeros, "They are zero."}},
          verifier::verdicts::NotWritten{where, "y", 5, 3, 100},
          verifier::verdicts::WrongNonFinite{where, "y", 5, 1, __builtin_nan("")},
          verifier::verdicts::OrderDependent{where, "y", 5},
          verifier::verdicts::GuardDamaged{where, "y"},
          verifier::verdicts::InputModified{where, "x"},
          verifier::verdicts::Faulted{where, fault},
          verifier::verdicts::TimedOut{where, 2},
          verifier::verdicts::Crashed{std::nullopt, 11},
          verifier::verdicts::ForbiddenCall{where},
          verifier::verdicts::MemoryLimit{"too much"},
          verifier::verdicts::TooFast{"large", 1, 2}};
}

void write_messages(const fs::path& folder) {
  int number = 0;
  // The first byte is the reader's place in messages_fuzz.cpp.
  const auto add = [&](char reader, const Json& json) {
    write(folder / "messages" / std::to_string(number++), std::string(1, reader) + json.dump());
  };
  const fs::path file = core::installed_paths().problems() / "softmax_f32/naive.cu";
  const sandbox::Solution solution = sandbox::load_solution(file);
  const sandbox::TunableBinding binding = sandbox::default_binding(solution);
  const sandbox::LaunchPlan plan = sandbox::bind_plan(solution, binding, {{"M", 7}, {"N", 33}});
  const sandbox::PlannedTensorMap map{"map", "x", core::DType::f32, {64, 64}, {256}, {16, 16}, 32, 64, false};
  verifier::verdicts::Measurement measurement{"events", {}, {1.5, 1.4, 1.6}, verifier::statistics::Outcome::win, false};
  measurement.workloads.push_back({"large", {{10, 15, true, 1980, 1980, false}, {10, 15, false}}, 10, 15, {}, 8});
  add(1, sandbox::to_json(plan.launches.front()));
  add(2, sandbox::to_json(map));
  add(3, sandbox::to_json(plan));
  add(4, sandbox::to_json(sandbox::CompileRequest{"a.cu", "__global__ void k() {}", {{"BLOCK", 4}}}));
  add(5, verifier::judging::to_json(verifier::verdicts::CheckSettings()));
  add(6, verifier::judging::to_json(verifier::verdicts::TimingSettings()));
  add(7, to_json(measurement));
  for (const verifier::verdicts::Verdict& verdict : verdicts()) {
    const Json json = to_json(verdict);
    add(8, to_json(verifier::verdicts::Judgement{verdict, measurement, {1, 2, 3}, 17}));
    add(9, json);
    if (json.contains("fault")) add(0, json["fault"]);
    if (json.contains("fault")) add(12, json);
  }
  add(10, verifier::judging::plan_json(solution, binding));
  add(12, {{"loaded", true}});
  add(12, {{"refused", "is no shared object"}});
  add(13, {{"rejected", "forbidden"}, {"message", "no"}, {"line", 3}, {"log", "kernel.cu:3: no"}});
  write(folder / "messages/frames",
        std::string("\x0b\x02\x00\x00\x00\x00\x00\x00\x00{}\x02\x00\x00\x00\x01\x00\x00\x00[]", 21));
}
void write_replies(const fs::path& folder) {
  int number = 0;
  for (const fs::directory_entry& transcript :
       fs::directory_iterator(core::installed_paths().prompts() / "transcripts")) {
    std::ifstream lines(transcript.path());
    for (std::string line; std::getline(lines, line);) {
      const Json exchange = Json::parse(line);
      if (exchange.contains("reply")) {
        write(folder / "reply" / ("transcript" + std::to_string(number++)), exchange["reply"].get<std::string>());
      }
    }
  }
}
}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  const fs::path folder = fs::absolute(argv[1]);
  try {
    write_messages(folder);
    write_replies(folder);
    write_binaries(folder);
  } catch (const std::exception& error) {
    std::cerr << "fuzz_seeds: " << error.what() << "\n";
    return 2;
  }
  try {
    write_device_code(folder);
  } catch (const core::SystemError& error) {  // cubins are fuzzed from nothing where NVRTC is not
    std::cerr << "fuzz_seeds: no device code: " << error.what() << "\n";
  }
  try {
    write_code_objects(folder);
  } catch (const core::SystemError& error) {  // likewise code objects where hiprtc is not
    std::cerr << "fuzz_seeds: no code objects: " << error.what() << "\n";
  }
}
