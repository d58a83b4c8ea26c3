#include "agent/campaign/baselines.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "agent/campaign/calibrations.h"
#include "agent/campaign/device_session.h"
#include "core/error.h"
#include "verifier/verdicts/bound.h"

namespace agent::campaign {
namespace {
constexpr auto kStartsModes = std::chrono::minutes(10);

// Starts judging on first use: workers take a second or two to start.
class Measuring {
 public:
  Measuring(results::archive::Recorder& archive, const core::Paths& paths, const DeviceChoice& choice,
            const BaselineListener& listener)
      : archive_(archive),
        session_(paths, choice, false, background_compile_workers()),
        calibration_(newest_or_new_calibration(archive, paths, choice, session_.device())),
        environment_(archive.add_environment(session_.environment())),
        listener_(listener) {}

  void use_problem(const benchsuite::Problem& problem) {
    problem_ = &problem;
    session_.judges().use_problem(problem, session_.pool());
  }

  void measure(const Library& library, int64_t problem_id, WhichBaselines which) {
    const bool compiled = library.kind == Library::Kind::pytorch_compile;
    const std::vector<OfMode> judged = compiled && which == WhichBaselines::all
                                           ? judge_modes(library)
                                           : judge(library, compiled ? kCompileModes[0] : "");
    if (is_untrusted(library.kind, *problem_)) library.jailed->end();
    if (judged.empty()) return;
    const OfMode& best = fastest(judged);
    const int64_t environment =
        best.mode.empty() ? environment_ : archive_.add_environment(environment_with(best.mode));
    archive_.add_baseline({problem_id, environment, session_.device(), library.name, best.judgement});
    listener_.measured(problem_->name, library.name, best.mode, best.judgement);
  }

 private:
  // Empty, with a warning: it could not be measured.
  std::vector<OfMode> judge(const Library& library, const std::string& mode) {
    OfMode judged{mode, {}};
    try {
      sandbox::process::Worker& worker =
          (is_untrusted(library.kind, *problem_) ? library.jailed : library.worker)->running();
      const core::Json request = open_request(library, *problem_, mode);
      judged.judgement = session_.judges().with_first(
          [&](verifier::judging::Judge& judge) { return judge.judge_library(worker, request); });
    } catch (const verifier::judging::DeviceSetAside&) {
      throw;
    } catch (const core::SystemError& error) {  // our failure, or a broken installation: says nothing about the library
      warn(library, mode, std::string("could not be measured: ") + error.what());
      return {};
    }
    if (calibration_) {
      verifier::verdicts::hold_against_floor(judged.judgement, *problem_, *calibration_, {true, false});
    }
    return {std::move(judged)};
  }

  // All modes that fit into the time. What one of them lacks is a warning.
  std::vector<OfMode> judge_modes(const Library& library) {
    std::vector<OfMode> all;
    const auto end = std::chrono::steady_clock::now() + kStartsModes;
    for (const char* mode : kCompileModes) {
      if (std::chrono::steady_clock::now() > end) {
        warn(library, mode, "is left out: the modes before it took more than 10 minutes");
        continue;
      }
      for (OfMode& judged : judge(library, mode)) {
        if (!verifier::verdicts::is_correct(judged.judgement.verdict)) {
          warn(library, mode, "is left out: " + verifier::verdicts::sentence_for_people(judged.judgement.verdict));
        }
        all.push_back(std::move(judged));
      }
    }
    return all;
  }

  void warn(const Library& library, const std::string& mode, const std::string& what) const {
    listener_.warned(problem_->name + ", " + library.name + (mode.empty() ? "" : " (" + mode + ")") + " " + what);
  }

  core::Json environment_with(const std::string& mode) const {
    core::Json environment = session_.environment();
    environment["torch_compile_mode"] = mode;
    return environment;
  }

  results::archive::Recorder& archive_;
  DeviceSession session_;
  std::optional<verifier::verdicts::Calibration> calibration_;
  int64_t environment_;
  const BaselineListener& listener_;
  const benchsuite::Problem* problem_ = nullptr;
};
}  // namespace

const OfMode& fastest(const std::vector<OfMode>& modes) {
  const auto speed_up = [](const OfMode& one) {
    const bool timed = verifier::verdicts::is_correct(one.judgement.verdict) && one.judgement.measurement;
    return timed ? one.judgement.measurement->speed_up.value : 0;
  };
  return *std::max_element(modes.begin(), modes.end(),
                           [&](const OfMode& a, const OfMode& b) { return speed_up(a) < speed_up(b); });
}

void measure_baselines(results::archive::Recorder& archive, const core::Paths& paths, DeviceChoice choice,
                       const std::vector<const benchsuite::Problem*>& problems, const std::vector<OwnLibrary>& own,
                       WhichBaselines which, const BaselineListener& listener) {
  if (!benchsuite::is_gpu(choice.backend)) {
    throw core::InputError("--device", "libraries are measured on GPUs only",
                           "choose one, for example --device cuda:0");
  }
  if (!own.empty() && problems.size() != 1) {
    throw core::UsageError("--library", "computes one problem, and there are " + std::to_string(problems.size()),
                           "name the one that it computes");
  }
  if (choice.all) choice = {choice.backend, 0, false};
  const std::vector<sandbox::gpu::driver::DeviceFacts> devices = gpu_devices(paths, choice.backend);
  if (choice.index >= static_cast<int>(devices.size())) {
    throw core::InputError("--device", "there is no GPU " + std::to_string(choice.index),
                           "kernelwright doctor lists what this host has");
  }
  const std::string device = choice.backend_name() + " " + devices[static_cast<size_t>(choice.index)].name;
  const std::vector<Library> libraries = find_libraries(paths, choice, problems, own, listener.warned);
  std::optional<Measuring> measuring;
  for (const benchsuite::Problem* problem : problems) {
    const int64_t id = archive.add_problem(*problem, benchsuite::content_hash(*problem));
    std::vector<const Library*> due;
    if (which == WhichBaselines::all && own.empty() && !problem->pytorch() && problem->equivalents.pytorch.empty() &&
        problem->equivalents.gemm.empty()) {
      listener.warned(problem->name + ": no library is known to compute it; --library NAME=FILE.py times one of yours");
    }
    for (const Library& library : libraries) {
      if (!computes(library.kind, *problem)) continue;
      const bool always = which == WhichBaselines::all || library.kind == Library::Kind::own;
      if (always || !archive.find_baseline(id, device, library.name)) due.push_back(&library);
    }
    if (due.empty()) continue;
    if (!measuring) measuring.emplace(archive, paths, choice, listener);
    measuring->use_problem(*problem);
    for (const Library* library : due) measuring->measure(*library, id, which);
  }
}

}  // namespace agent::campaign
