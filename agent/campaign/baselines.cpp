#include "agent/campaign/baselines.h"

#include <optional>

#include "agent/campaign/calibrations.h"
#include "agent/campaign/device_session.h"
#include "agent/campaign/libraries.h"
#include "core/error.h"
#include "verifier/verdicts/bound.h"

namespace agent::campaign {
namespace {
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

  void measure(const Library& library, int64_t problem_id) {
    results::archive::NewBaseline baseline{problem_id, environment_, session_.device(), library.name, {}};
    try {
      sandbox::process::Worker& worker = library.worker->running();
      const core::Json request = open_request(library, *problem_);
      baseline.judgement = session_.judges().with_first(
          [&](verifier::judging::Judge& judge) { return judge.judge_library(worker, request); });
    } catch (const verifier::judging::DeviceSetAside&) {
      throw;
    } catch (const core::SystemError& error) {  // our failure, or a broken installation: says nothing about the library
      listener_.warned(problem_->name + ", " + library.name + " could not be measured: " + error.what());
      return;
    }
    if (calibration_)
      verifier::verdicts::hold_against_floor(baseline.judgement, *problem_, *calibration_, {true, false});
    archive_.add_baseline(baseline);
    listener_.measured(problem_->name, library.name, baseline.judgement);
  }

 private:
  results::archive::Recorder& archive_;
  DeviceSession session_;
  std::optional<verifier::verdicts::Calibration> calibration_;
  int64_t environment_;
  const BaselineListener& listener_;
  const benchsuite::Problem* problem_ = nullptr;
};
}  // namespace

void measure_baselines(results::archive::Recorder& archive, const core::Paths& paths, DeviceChoice choice,
                       const std::vector<const benchsuite::Problem*>& problems, WhichBaselines which,
                       const BaselineListener& listener) {
  if (choice.backend != "cuda") {
    throw core::InputError("--device", "libraries are measured on GPUs only",
                           "choose one, for example --device cuda:0");
  }
  if (choice.all) choice = {choice.backend, 0, false};
  const std::vector<sandbox::cuda::driver::DeviceFacts> devices = cuda_devices();
  if (choice.index >= static_cast<int>(devices.size())) {
    throw core::InputError("--device", "there is no GPU " + std::to_string(choice.index),
                           "kernelwright doctor lists what this host has");
  }
  const std::string device = choice.backend + " " + devices[static_cast<size_t>(choice.index)].name;
  const std::vector<Library> libraries = find_libraries(paths, choice, problems, listener.warned);
  std::optional<Measuring> measuring;
  for (const benchsuite::Problem* problem : problems) {
    const int64_t id = archive.add_problem(*problem, benchsuite::content_hash(*problem));
    std::vector<const Library*> due;
    for (const Library& library : libraries) {
      if (!computes(library.kind, *problem)) continue;
      if (which == WhichBaselines::all || !archive.find_baseline(id, device, library.name)) due.push_back(&library);
    }
    if (due.empty()) continue;
    if (!measuring) measuring.emplace(archive, paths, choice, listener);
    measuring->use_problem(*problem);
    for (const Library* library : due) measuring->measure(*library, id);
  }
}

}  // namespace agent::campaign
