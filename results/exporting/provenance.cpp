#include "results/exporting/provenance.h"

#include <algorithm>
#include <cstdio>

#include "core/hash.h"
#include "core/text.h"
#include "verifier/statistics/statistics.h"

namespace results::exporting {
namespace {
using core::Json;

std::string rounded(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

bool is_shipped(const ExportedKernel& kernel) {
  return kernel.attempt.origin == "naive" || kernel.attempt.origin == "seed";
}

std::string author_of(const ExportedKernel& kernel) {
  if (is_shipped(kernel)) return "shipped with Kernelwright";
  if (kernel.attempt.origin == "user") return "added by the archive's user";
  return "proposed by " + core::clean_line(kernel.attempt.origin, 200);
}

// The first incumbent, which a win beats.
std::string naive_words(const Package& package) {
  return package.own ? "the naive solution" : "forward() in eager PyTorch";
}

std::string confirmation_of(const Package& package, const ExportedKernel& kernel) {
  if (kernel.confirmed()) {
    return "confirmed: won against " + naive_words(package) + " twice, in fresh processes on fresh inputs";
  }
  return "NOT CONFIRMED: found correct once (effort " + kernel.attempt.effort + ")";
}

Json figures_of(const ExportedKernel& kernel) {
  Json figures = Json::array();
  if (!kernel.attempt.measurement) return figures;
  for (const verifier::verdicts::WorkloadTiming& timing : kernel.attempt.measurement->workloads) {
    Json figure{{"workload", timing.workload},
                {"median_us", timing.candidate_us},
                {"pairs", timing.pairs.size()},
                {"speed_up",
                 {{"over", kernel.attempt.against},
                  {"value", timing.speed_up.value},
                  {"low", timing.speed_up.low},
                  {"high", timing.speed_up.high},
                  {"confidence", 0.99}}}};
    std::vector<double> times;
    for (const verifier::statistics::Pair& pair : verifier::statistics::steady_pairs(timing.pairs))
      times.push_back(pair.candidate_us);
    if (!times.empty()) {
      const verifier::statistics::Interval interval = verifier::statistics::median_with_interval(std::move(times));
      figure["interval_us"] = {interval.low, interval.high};
    }
    if (timing.bound_us) figure["bound_us"] = *timing.bound_us;
    if (timing.weight != 1) figure["weight"] = timing.weight;
    figures.push_back(std::move(figure));
  }
  return figures;
}

// Computes what no kernel does.
Json fallback_of(const Package& package) {
  if (package.own) {
    return {{"name", "naive"}, {"solution_hash", package.own->naive.hash()}, {"licence", "the problem's own"}};
  }
  const std::string& source = package.problem->files.find(benchsuite::kPytorchFile)->second;
  return {{"name", "forward() of reference.py"},
          {"sha256", core::file_sha256_hex(source)},
          {"licence", "the problem's own"}};
}
}  // namespace

core::Json provenance_json(const Package& package, const std::string& format, const std::string& made) {
  Json kernels = Json::array();
  for (const ExportedKernel& kernel : package.kernels) {
    const archive::RecordedAttempt& attempt = kernel.attempt;
    kernels.push_back({{"name", kernel.id},
                       {"solution", attempt.solution},
                       {"solution_hash", kernel.solution.hash()},
                       {"tunables", kernel.binding},
                       {"origin", attempt.origin},
                       {"author", author_of(kernel)},
                       {"licence", is_shipped(kernel) ? "Apache-2.0" : "not stated"},
                       {"least_architecture", kernel.solution.arch},
                       {"archive", package.archive},
                       {"campaign", attempt.campaign},
                       {"attempt", attempt.id},
                       {"judged", attempt.made},
                       {"device", attempt.device},
                       {"architecture", kernel.architecture},
                       {"measured_on_gpu", kernel.measured_on_gpu()},
                       {"confirmed", kernel.confirmed()},
                       {"effort", attempt.effort},
                       {"verdict", name_of(attempt.verdict)},
                       {"verdict_sentence", verifier::verdicts::sentence_for_people(attempt.verdict)},
                       {"environment", attempt.environment},
                       {"clock", attempt.measurement ? attempt.measurement->clock : ""},
                       {"figures", figures_of(kernel)}});
  }
  Json routes = Json::array();
  for (const Route& route : package.routes) {
    routes.push_back({{"kernel", package.kernels[route.kernel].id},
                      {"architecture", route.architecture.empty() ? "any" : route.architecture},
                      {"workload", route.workload},
                      {"axes", route.shape},
                      {"measured_there", route.measured && !route.architecture.empty()}});
  }
  return {{"format", format},
          {"exported", made},
          {"by", "Kernelwright"},
          {"problem", package.problem->name},
          {"problem_hash", benchsuite::content_hash(*package.problem)},
          {"kernels", std::move(kernels)},
          {"routes", std::move(routes)},
          {"fallback", fallback_of(package)},
          {"launch_code_licence", "Apache-2.0"}};
}

std::string provenance_text(const Package& package) {
  std::string out = "Exported by Kernelwright for the problem " + package.problem->name + " (" +
                    benchsuite::content_hash(*package.problem).substr(0, 12) + "); details are in provenance.json.\n";
  for (const ExportedKernel& kernel : package.kernels) {
    const archive::RecordedAttempt& attempt = kernel.attempt;
    const std::string tunables = sandbox::describe(kernel.binding);
    out += "\n`" + kernel.id + "`: the solution " + core::clean_line(attempt.solution, 100) + " (" +
           kernel.solution.hash().substr(0, 12) + ")" + (tunables.empty() ? "" : " with " + tunables) + ", " +
           author_of(kernel) + ". Attempt " + std::to_string(attempt.id) +
           (attempt.campaign.empty() ? "" : " of campaign " + attempt.campaign) + ", " + attempt.made + ", on " +
           core::clean_line(attempt.device, 100) + (kernel.measured_on_gpu() ? "" : ", which is not a GPU") + "; " +
           confirmation_of(package, kernel) + ". " + verifier::verdicts::sentence_for_people(attempt.verdict) + "\n";
    if (!attempt.measurement) continue;
    for (const verifier::verdicts::WorkloadTiming& timing : attempt.measurement->workloads) {
      out += "  - " + timing.workload + ": " + rounded(timing.candidate_us, 2) + " us, " +
             rounded(timing.speed_up.value, 2) + "x over " +
             (attempt.against == "naive" ? naive_words(package) : core::clean_line(attempt.against, 100)) + " [" +
             rounded(timing.speed_up.low, 2) + ", " + rounded(timing.speed_up.high, 2) + "]\n";
    }
  }
  return out;
}

std::string dispatch_text(const Package& package) {
  std::string out =
      "A launch uses the kernel measured on the device's architecture at the nearest shape; the distance of shapes is "
      "that of the logarithms of their axes. If none was measured on that architecture, or it cannot run there (shared "
      "memory, residency), a kernel listed for any architecture is used, otherwise " +
      std::string(package.own ? "the naive one, which runs anywhere" : "forward() of reference.py, in eager PyTorch") +
      ".\n\n"
      "| architecture | nearest to | kernel |\n|---|---|---|\n";
  for (const Route& route : package.routes) {
    out += "| " +
           (route.architecture.empty() ? "any" : route.architecture + (route.measured ? "" : " (not measured there)")) +
           " | " + sandbox::describe(route.shape) + " | " + package.kernels[route.kernel].id + " |\n";
  }
  return out + "| otherwise | | " + (package.own ? "naive" : "forward()") + " |\n";
}

std::string status_line(const Package& package) {
  std::string out;
  if (!package.all_confirmed()) out += "**Not all kernels here are confirmed**: see below. ";
  const bool on_gpu = std::any_of(package.kernels.begin(), package.kernels.end(),
                                  [](const ExportedKernel& kernel) { return kernel.measured_on_gpu(); });
  if (!on_gpu) {
    out +=
        "**Measured on the cpu device only**, which runs the same source on the host: its speed on a GPU is unknown, "
        "and it was not judged there.";
  }
  return out.empty() ? "Each kernel was judged correct and confirmed." : out;
}

std::string licence_text(const Package& package) {
  std::string out = "the launch code and the tests are under Apache-2.0 (LICENSE)";
  for (const ExportedKernel& kernel : package.kernels) {
    out +=
        "; " + kernel.id +
        (is_shipped(kernel) ? ": Apache-2.0"
                            : ": not stated; it was " + author_of(kernel) + ", whose rights, if any, we cannot grant");
  }
  return out + (package.own ? ". The naive kernel and the reference come" : ". reference.py comes") +
         " with the problem" +
         (std::all_of(package.kernels.begin(), package.kernels.end(), is_shipped)
              ? ", under Apache-2.0 for shipped problems.\n"
              : ".\n");
}

}  // namespace results::exporting
