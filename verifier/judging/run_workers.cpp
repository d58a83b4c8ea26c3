#include "verifier/judging/run_workers.h"

#include <string>
#include <utility>

#include "core/error.h"

namespace verifier::judging {
namespace {
using core::Json;
using sandbox::process::Worker;
constexpr auto kWorkerDeadline = std::chrono::seconds(20);
constexpr int kSpares =
    4;  // two confirmations, one after the other, need so many; a GPU's worker takes most of a second to start
constexpr int kProofs = 2;  // a device that fails so many in a row is set aside
}  // namespace

RunWorkers::RunWorkers(sandbox::process::WorkerCommand command, Kind kind) : command_(std::move(command)), kind_(kind) {
  if (kind_ == Kind::forking) {
    incumbent_ = Worker::start(command_);
    return;
  }
  incumbent_ = Worker::launch(command_);
  candidate_ = Worker::launch(command_);
  incumbent_->await_greeting();
  candidate_->await_greeting();
  // Only now: starting beside the first two, they would slow them.
  for (int i = 0; i < kSpares; ++i) spares_.push_back(Worker::launch(command_));
}

Worker& RunWorkers::worker_of(Side side) {
  return kind_ == Kind::one_per_side && side == Side::candidate ? *candidate_ : *incumbent_;
}

OpenProcess RunWorkers::open(Side side, const sandbox::Built& built, sandbox::Build build) {
  sandbox::process::Message answer = worker_of(side).request({{"op", "open"}, {"build", sandbox::name_of(build)}},
                                                             {built.binary.get()}, kWorkerDeadline);
  if (answer.fds.size() != 1) throw core::SystemError("the run worker opened no candidate process");
  return {side, answer.json.at("process").get<int>(), std::move(answer.fds[0])};
}

Json RunWorkers::close(OpenProcess& process) {
  process.judge_end.reset();  // a GPU's worker serves the candidate process until then
  return worker_of(process.side).request({{"op", "close"}, {"process", process.id}}, {}, kWorkerDeadline).json;
}

void RunWorkers::prove(Worker& worker) {
  if (known_good_) worker.request({{"op", "prove"}}, {known_good_.get()}, kWorkerDeadline);
}

void RunWorkers::set_known_good(core::UniqueFd cubin) {
  known_good_ = std::move(cubin);
  prove(*incumbent_);
  prove(*candidate_);
}

// A worker that has shown that its device computes.
Worker RunWorkers::next() {
  for (int left = kProofs - 1;; --left) {
    try {
      Worker worker = std::move(spares_.front());
      spares_.pop_front();
      spares_.push_back(Worker::launch(command_));
      worker.await_greeting();
      prove(worker);
      return worker;
    } catch (const std::exception& error) {
      if (left > 0) continue;
      throw DeviceSetAside(std::string("the device failed ") + std::to_string(kProofs) +
                           " times in a row and is set aside: " + error.what() +
                           ". Look at nvidia-smi and the kernel's log; a reset or a restart of the machine may help");
    }
  }
}

void RunWorkers::replace(Side side) {
  std::optional<Worker>& place = kind_ == Kind::one_per_side && side == Side::candidate ? candidate_ : incumbent_;
  place.reset();  // ended before the next one is used: what it held of the device is free again
  if (kind_ == Kind::forking) {
    place = Worker::start(command_);
  } else {
    place = next();
  }
}

void RunWorkers::replace_all() {
  replace(Side::incumbent);
  if (kind_ == Kind::one_per_side) replace(Side::candidate);
}

}  // namespace verifier::judging
