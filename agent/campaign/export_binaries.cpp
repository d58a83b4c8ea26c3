#include "agent/campaign/export_binaries.h"

#include <unistd.h>

#include <future>
#include <map>
#include <set>

#include "agent/campaign/devices.h"
#include "core/error.h"
#include "sandbox/compile_pool.h"

namespace agent::campaign {
namespace {
struct Job {
  std::string kernel;
  std::future<sandbox::Compilation> compilation;
};

std::string bytes_of(const sandbox::Built& built) {
  std::string bytes(built.binary_bytes, '\0');
  if (::pread(built.binary.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw core::SystemError("a compiled kernel cannot be read back");
  }
  return bytes;
}

// The architecture to compile a kernel for when `asked` is wanted: the one it was measured on, with its own features,
// if that is the same; "" if the kernel is not meant for it.
std::string architecture_for(const results::exporting::Package& package, size_t kernel, const std::string& asked) {
  const bool is_hip = own_dialect(package.kernels[kernel].solution) == sandbox::Dialect::hip;
  if (is_hip != asked.starts_with("gfx")) return "";
  for (const results::exporting::Route& route : package.routes) {
    if (route.kernel != kernel) continue;
    if (route.architecture.empty())
      return sandbox::gpu::driver::runs_on(asked, package.kernels[kernel].solution.arch) ? asked : "";
    if (results::exporting::capability_of(route.architecture) == results::exporting::capability_of(asked))
      return route.architecture;
  }
  return "";
}
}  // namespace

results::exporting::KernelBinaries compile_exported(const core::Paths& paths,
                                                    const results::exporting::Package& package,
                                                    const std::vector<std::string>& architectures) {
  results::exporting::KernelBinaries binaries;
  std::map<std::string, std::vector<sandbox::CompileRequest>> requests;  // by architecture
  const auto request = [&](const std::string& architecture, const std::string& id, const sandbox::Solution& solution,
                           const sandbox::TunableBinding& binding) {
    binaries[id];
    if (!architecture.empty()) {
      requests[architecture].push_back({id, solution.source, {binding.begin(), binding.end()}, sandbox::Build::fast});
    }
  };
  for (const std::string& asked : architectures) {
    for (size_t i = 0; i < package.kernels.size(); ++i) {
      const results::exporting::ExportedKernel& kernel = package.kernels[i];
      request(architecture_for(package, i, asked), kernel.id, kernel.solution, kernel.binding);
    }
    if (package.own && !asked.starts_with("gfx"))
      request(asked, "naive", package.own->naive, sandbox::default_binding(package.own->naive));
  }
  for (const auto& [architecture, wanted] : requests) {
    sandbox::CompilePool pool(gpu_compile_worker(paths, architecture), 1);
    std::vector<Job> jobs;
    for (const sandbox::CompileRequest& one : wanted) jobs.push_back({one.file, pool.submit(one)});
    for (Job& job : jobs) {
      const sandbox::Compilation compilation = job.compilation.get();
      if (const auto* rejected = std::get_if<sandbox::Rejected>(&compilation)) {
        throw core::InputError(job.kernel, "does not compile for " + architecture + ": " + rejected->message,
                               "leave out this architecture, or the kernel");
      }
      binaries[job.kernel].push_back({architecture, bytes_of(std::get<sandbox::Built>(compilation))});
    }
  }
  return binaries;
}

void check_exported(const core::Paths& paths, const results::exporting::Package& package) {
  std::set<std::string> architectures;
  for (const results::exporting::Route& route : package.routes) {
    const sandbox::Solution& solution = package.kernels[route.kernel].solution;
    const std::string least = own_dialect(solution) == sandbox::Dialect::hip ? "gfx90a" : solution.arch;
    architectures.insert(!route.architecture.empty() ? route.architecture : least.empty() ? "sm_80" : least);
  }
  compile_exported(paths, package, {architectures.begin(), architectures.end()});
}

}  // namespace agent::campaign
