// The judging sides of a live campaign: each serves the search of one problem at a time.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "agent/campaign/campaign.h"
#include "agent/campaign/device_session.h"
#include "agent/campaign/live_runner.h"
#include "agent/prompting/facts.h"

namespace agent::campaign {

class Lanes {
 public:
  virtual ~Lanes() = default;
  // How many problems can be searched side by side.
  virtual size_t count() const = 0;
  // Can the lane take attempts? One that cannot may be able to later; a search that it has moves to another.
  virtual bool is_ready(size_t) const { return true; }
  virtual search::AttemptRunner& runner(size_t lane) = 0;
  // Makes the lane's runner take the attempts at this problem, and no others.
  virtual void begin_problem(size_t lane, const benchsuite::Problem& problem) = 0;
  // No more than so many lanes will be used; these are now. The others may be given back.
  virtual void need(size_t /*lanes*/, const std::set<size_t>& /*in_use*/) {}
  // Do confirmations leave the lane free for other attempts?
  virtual bool confirms_beside() const { return false; }
  virtual search::EventLoop& event_loop() = 0;
  // Why a solution cannot run here; nullopt when it can.
  virtual std::optional<std::string> why_not(const sandbox::Solution& solution) const = 0;
  // The device as prompts describe it.
  virtual prompting::DeviceText device_text() const = 0;
  // See LiveRunner.
  virtual void look_closer() = 0;
  virtual void on_trouble(const std::function<void(const std::string&)>& listener) = 0;
};

// Lanes of this host: the GPUs of --device are dealt out to as many lanes as there are problems, or GPUs if those are
// fewer. The lanes of one GPU or of the cpu device are one.
class LiveLanes : public Lanes {
 public:
  // Throws core::SystemError when a worker does not start.
  LiveLanes(results::archive::Recorder& archive, int64_t campaign, const core::Paths& paths,
            const CampaignSettings& settings);

  size_t count() const override { return lanes_.size(); }
  search::AttemptRunner& runner(size_t lane) override { return lanes_[lane].runner; }
  void begin_problem(size_t lane, const benchsuite::Problem& problem) override {
    lanes_[lane].runner.begin_problem(problem);
  }
  // On a GPU a confirmation ends on the processor.
  bool confirms_beside() const override { return lanes_.front().session.on_gpu(); }
  search::EventLoop& event_loop() override { return event_loop_; }
  std::optional<std::string> why_not(const sandbox::Solution& solution) const override {
    return lanes_.front().session.why_not(solution);
  }
  prompting::DeviceText device_text() const override;
  void look_closer() override;
  void on_trouble(const std::function<void(const std::string&)>& listener) override;

 private:
  struct Lane {
    Lane(results::archive::Recorder& archive, int64_t campaign, const core::Paths& paths, const DeviceChoice& choice,
         bool hot, search::EventLoop& event_loop);
    DeviceSession session;
    LiveRunner runner;
  };
  search::EventLoop event_loop_;  // outlives the lanes
  std::deque<Lane> lanes_;
};

}  // namespace agent::campaign
