// kernelwright-hip for tests without a GPU: the same roles, with a compiler that adds a host build to each code object,
// for the test driver to execute (sandbox/hip/test_driver). Never installed.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "core/hash.h"
#include "sandbox/cpu/compiler/compiler.h"
#include "sandbox/gpu/compile_service.h"
#include "sandbox/gpu/run/library_role.h"
#include "sandbox/gpu/run/run_role.h"
#include "sandbox/hip/compiler/compiler.h"
#include "sandbox/hip/compiler/hiprtc.h"
#include "sandbox/hip/run/platform.h"
#include "sandbox/hip/run/rocblas.h"
#include "sandbox/hip/test_driver/host_part_fixture.h"
#include "sandbox/process/sealed_memory.h"
#include "sandbox/process/worker_program.h"
#include "verifier/devices/gpu/device.h"

namespace {
namespace fs = std::filesystem;
using sandbox::Built;
using sandbox::Compilation;

struct Options {
  std::string architecture;
  int device = 0;
  fs::path library, device_headers, hip_headers, scratch;
};

struct Compilers {
  sandbox::gpu::RuntimeCompiler hiprtc;
  sandbox::hip::inspection::Comgr comgr;
  sandbox::hip::compiler::CompilerSettings hip;
  sandbox::cpu::compiler::CompilerSettings host;
};

// What hiprtc says is what counts; a source that it takes must also compile for the host.
Compilation compile_both(const sandbox::CompileRequest& request, const Compilers& compilers) {
  Compilation compiled = sandbox::hip::compiler::compile(request, compilers.hip, compilers.hiprtc, compilers.comgr);
  auto* built = std::get_if<Built>(&compiled);
  if (built == nullptr) return compiled;
  Compilation on_host = sandbox::cpu::compiler::compile(request, compilers.host);
  auto* host = std::get_if<Built>(&on_host);
  if (host == nullptr) return on_host;
  const std::string both = sandbox::hip::test_driver::joined(sandbox::process::read_memory(built->binary.get()),
                                                             sandbox::process::read_memory(host->binary.get()));
  built->binary = sandbox::process::sealed_memory("code object", both);
  built->binary_bytes = both.size();
  built->binary_hash = core::sha256_hex(both);
  return compiled;
}

sandbox::gpu::ReadyCompiler make_ready(const Options& options) {
  const fs::path scratch = fs::canonical(options.scratch), device_headers = fs::canonical(options.device_headers),
                 hip_headers = fs::canonical(options.hip_headers);
  ::setenv("TMPDIR", scratch.c_str(), 1);
  const auto compilers = std::make_shared<Compilers>(Compilers{sandbox::hip::compiler::open_hiprtc(),
                                                               sandbox::hip::inspection::Comgr::open(),
                                                               {options.architecture, device_headers, hip_headers},
                                                               {}});
  compilers->host.host = sandbox::cpu::compiler::find_host_compiler().value();
  compilers->host.device_headers = device_headers;
  compilers->host.dialect = sandbox::Dialect::hip;
  compilers->host.scratch = scratch / "host";
  fs::create_directories(compilers->host.scratch);
  const auto compile = [compilers](const sandbox::CompileRequest& request) {
    return compile_both(request, *compilers);
  };
  sandbox::gpu::require_warm(compile({"warm_up.cu", sandbox::gpu::kWarmUp, {}, sandbox::Build::fast}), "hiprtc",
                             options.architecture);
  return {{{"compiler", "hiprtc"},
           {"compiler_version", "hiprtc and a host compiler, for tests"},
           {"architecture", options.architecture},
           {"architectures", compilers->comgr.architectures()}},
          sandbox::jail::JailProfile::compile,
          {{"/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", device_headers, hip_headers}, {scratch, "/dev/null"}},
          compile};
}
}  // namespace

int main(int argc, char** argv) {
  sandbox::process::WorkerOptions program("The worker program of the hip device in tests.",
                                          {"compile", "run", "judge", "library"});
  Options options;
  program.add("device-headers", options.device_headers).add("hip-headers", options.hip_headers);
  program.add("arch", options.architecture).add("scratch", options.scratch);
  program.add("device", options.device).add("hip-library", options.library);
  return program.run(argc, argv, [&](sandbox::process::Channel& owner) {
    if (program.role() == "compile") {
      sandbox::gpu::serve_compilations(owner, {"see the message", 4096, 40}, [&] { return make_ready(options); });
    }
    const sandbox::hip::run::HipPlatform platform(options.library);
    if (program.role() == "run") sandbox::gpu::run::serve_run_role(owner, platform, options.device);
    if (program.role() == "library") {
      sandbox::gpu::run::serve_library_role(owner, platform, options.device,
                                            [&](const sandbox::gpu::driver::Context& context, const std::string&) {
                                              return sandbox::hip::run::make_rocblas(context, options.library);
                                            });
    }
    if (program.role() == "judge") verifier::devices::gpu::serve_judge_role(owner, platform, options.device);
  });
}
