#include "agent/baselines.h"

#include <optional>

#include "agent/calibrations.h"
#include "agent/libraries.h"
#include "agent/output.h"
#include "agent/table.h"
#include "agent/workshop.h"
#include "core/error.h"
#include "core/text.h"
#include "verifier/verdicts/bound.h"

namespace agent {
namespace {
using core::Json;

void say(const std::string& what, bool json) {
  if (json) {
    print_json(Json{{"event", "warned"}, {"what", what}});
  } else {
    print("{}\n", core::clean_line(what));
  }
}

Json baseline_json(const std::string& problem, const std::string& library,
                   const verifier::verdicts::Judgement& judgement) {
  Json json{{"event", "baseline"},
            {"problem", problem},
            {"library", library},
            {"verdict", name_of(judgement.verdict)},
            {"sentence", verifier::verdicts::sentence_for_people(judgement.verdict)}};
  if (!judgement.measurement || judgement.measurement->workloads.empty()) return json;
  json["speed_up"] = judgement.measurement->speed_up.value;
  json["time_us"] = judgement.measurement->workloads[0].candidate_us;
  return json;
}

// Judging starts once something is to be judged: workers take a second or two to come up.
class Measuring {
 public:
  Measuring(results::archive::Recorder& archive, const core::Paths& paths, const DeviceChoice& choice, bool json)
      : archive_(archive),
        workshop_(paths, choice, false, background_compile_workers()),
        calibration_(newest_or_new_calibration(archive, paths, choice, workshop_.device())),
        environment_(archive.add_environment(workshop_.environment())),
        json_(json) {}

  void use_problem(const benchsuite::Problem& problem) {
    problem_ = &problem;
    workshop_.judges().use_problem(problem, workshop_.pool());
  }

  void measure(const Library& library, int64_t problem_id) {
    results::archive::NewBaseline baseline{problem_id, environment_, workshop_.device(), library.name, {}};
    try {
      sandbox::process::Worker& worker = library.worker->running();
      const Json request = open_request(library, *problem_);
      baseline.judgement = workshop_.judges().with_first(
          [&](verifier::judging::Judge& judge) { return judge.judge_library(worker, request); });
    } catch (const verifier::judging::DeviceSetAside&) {
      throw;
    } catch (const core::SystemError& error) {  // ours, or of its installation: no finding
      say(problem_->name + ", " + library.name + " could not be measured: " + error.what(), json_);
      return;
    }
    if (calibration_)
      verifier::verdicts::hold_against_floor(baseline.judgement, *problem_, *calibration_, {true, false});
    archive_.add_baseline(baseline);
    if (json_) {
      print_json(baseline_json(problem_->name, library.name, baseline.judgement));
    } else {
      print("{}\n", baseline_text(problem_->name, library.name, baseline.judgement));
    }
    std::fflush(stdout);
  }

 private:
  results::archive::Recorder& archive_;
  Workshop workshop_;
  std::optional<verifier::verdicts::Calibration> calibration_;
  int64_t environment_;
  bool json_;
  const benchsuite::Problem* problem_ = nullptr;
};
}  // namespace

void measure_baselines(results::archive::Recorder& archive, const core::Paths& paths, DeviceChoice choice,
                       const std::vector<const benchsuite::Problem*>& problems, WhichBaselines which, bool json) {
  if (choice.backend != "cuda") {
    throw core::InputError("--device", "libraries are measured on GPUs only", "take one, as in --device cuda:0");
  }
  if (choice.all) choice = {choice.backend, 0, false};
  const std::vector<sandbox::cuda::driver::DeviceFacts> devices = cuda_devices();
  if (choice.index >= static_cast<int>(devices.size())) {
    throw core::InputError("--device", "there is no GPU " + std::to_string(choice.index),
                           "kernelwright doctor lists what this host has");
  }
  const std::string device = choice.backend + " " + devices[static_cast<size_t>(choice.index)].name;
  const std::vector<Library> libraries =
      find_libraries(paths, choice, problems, [&](const std::string& what) { say(what, json); });
  std::optional<Measuring> measuring;
  for (const benchsuite::Problem* problem : problems) {
    const int64_t id = archive.add_problem(*problem, benchsuite::content_hash(*problem));
    std::vector<const Library*> due;
    for (const Library& library : libraries) {
      if (!computes(library.kind, *problem)) continue;
      if (which == WhichBaselines::all || !archive.find_baseline(id, device, library.name)) due.push_back(&library);
    }
    if (due.empty()) continue;
    if (!measuring) measuring.emplace(archive, paths, choice, json);
    measuring->use_problem(*problem);
    for (const Library* library : due) measuring->measure(*library, id);
  }
}

std::string baseline_text(const std::string& problem, const std::string& library,
                          const verifier::verdicts::Judgement& judgement) {
  const std::string who = problem + ", " + library + ": ";
  if (!verifier::verdicts::is_correct(judgement.verdict) || !judgement.measurement ||
      judgement.measurement->workloads.empty()) {
    return who + name_of(judgement.verdict) + ": " + verifier::verdicts::sentence_for_people(judgement.verdict);
  }
  const verifier::statistics::SpeedUp& s = judgement.measurement->speed_up;
  return who + format_speed_up(s.value, s.low, s.high) + " over naive, " +
         format_time_us(judgement.measurement->workloads[0].candidate_us);
}

}  // namespace agent
