// The lanes of a campaign on nodes: one for each node.
#pragma once

#include <deque>
#include <string>

#include "agent/campaign/lanes.h"
#include "agent/nodes/node_runner.h"

namespace agent::nodes {

class NodeLanes : public campaign::Lanes {
 public:
  // Starts all nodes with the settings' launcher, and waits until one of them is ready. `program`: kernelwright on a
  // node. Throws core::SystemError when none comes, or a node cannot take part.
  NodeLanes(results::archive::Recorder& archive, int64_t campaign, const campaign::CampaignSettings& settings,
            const std::string& program, const std::function<void(const std::string&)>& on_trouble);

  ~NodeLanes() override;

  size_t count() const override { return runners_.size(); }
  bool is_ready(size_t lane) const override { return runners_[lane].is_ready(); }
  search::AttemptRunner& runner(size_t lane) override { return runners_[lane]; }
  void begin_problem(size_t lane, const benchsuite::Problem& problem) override {
    runners_[lane].begin_problem(problem);
  }
  void need(size_t lanes, const std::set<size_t>& in_use) override;
  bool confirms_beside() const override { return true; }
  search::EventLoop& event_loop() override { return event_loop_; }
  std::optional<std::string> why_not(const sandbox::Solution& solution) const override;
  prompting::DeviceText device_text() const override { return text_; }
  void look_closer() override;
  void on_trouble(const std::function<void(const std::string&)>& listener) override { trouble_ = listener; }

 private:
  void greeted(const std::string& name, const Greeting& greeting);
  void noted(const std::string& what);
  NodeRunner* other(const NodeRunner& than);
  bool spares(const NodeRunner& runner) const;
  void await_first();

  results::archive::Recorder& archive_;
  int64_t campaign_;
  std::string launcher_;  // as it stands on the command line
  campaign::DeviceChoice choice_;
  std::string first_;   // the node that greeted first
  std::string device_;  // its device's name, which all must have
  prompting::DeviceText text_;
  std::function<void(const std::string&)> trouble_;
  search::EventLoop event_loop_;  // outlives the runners
  NodeRunner::Owner owner_;
  std::deque<NodeRunner> runners_;
};

}  // namespace agent::nodes
