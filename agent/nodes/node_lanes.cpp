#include "agent/nodes/node_lanes.h"

#include <algorithm>

#include "agent/campaign/device_text.h"
#include "agent/search/interrupt.h"
#include "core/error.h"

namespace agent::nodes {
namespace {
constexpr std::chrono::milliseconds kWait{100};
constexpr int64_t kMostLossesOfAll = 3;  // of each node before any was ready

// A shell takes the launcher apart, as it stands on a command line.
std::vector<std::string> command_of(const campaign::CampaignSettings& settings, const std::string& program) {
  std::vector<std::string> command{"/bin/sh", "-c", "exec " + settings.launcher + " \"$@\"", "launcher"};
  command.insert(command.end(), {program, "node", "--device", settings.device});
  if (settings.hot) command.emplace_back("--hot");
  return command;
}
}  // namespace

NodeLanes::NodeLanes(results::archive::Recorder& archive, int64_t campaign, const campaign::CampaignSettings& settings,
                     const std::string& program, const std::function<void(const std::string&)>& on_trouble)
    : archive_(archive),
      campaign_(campaign),
      choice_(campaign::parse_device(settings.device)),
      trouble_(on_trouble),
      owner_{archive,
             campaign,
             event_loop_,
             [this](const std::string& name, const Greeting& greeting) { greeted(name, greeting); },
             [this](const std::string& what) { noted(what); },
             std::chrono::steady_clock::now()} {
  for (int i = 1; i <= settings.nodes; ++i) {
    runners_.emplace_back("node " + std::to_string(i), command_of(settings, program), owner_);
  }
  await_first();
}

NodeLanes::~NodeLanes() {
  for (NodeRunner& runner : runners_) runner.stop();  // all at once, before the first is waited for
}

void NodeLanes::await_first() {
  const auto is_given_up = [](const NodeRunner& runner) { return runner.losses() >= kMostLossesOfAll; };
  while (std::ranges::none_of(runners_, &NodeRunner::is_ready)) {
    if (search::interrupted()) throw core::SystemError("interrupted before a node was ready");
    if (std::ranges::all_of(runners_, is_given_up)) {
      throw core::SystemError("no node could be started; " + runners_.back().why_lost() +
                              ". Try the launcher by hand, with a program of yours behind it");
    }
    event_loop_.wait(kWait);
    event_loop_.serve();
  }
}

void NodeLanes::noted(const std::string& what) {
  archive_.add_event(campaign_, "our_failure", {{"what", what}});
  if (trouble_) trouble_(what);
}

void NodeLanes::greeted(const std::string& name, const Greeting& greeting) {
  if (device_.empty()) {
    first_ = name;
    device_ = greeting.device;
    text_ = campaign::device_text_from_json(core::JsonView(greeting.text, name));
  }
  if (greeting.device == device_) return;
  throw core::SystemError(name + " has the device " + greeting.device + " and " + first_ + " has " + device_ +
                          ": results of one campaign are of one kind of device; have the launcher ask for it");
}

std::optional<std::string> NodeLanes::why_not(const sandbox::Solution& solution) const {
  return campaign::why_not_on(choice_, text_.architecture, solution);
}

void NodeLanes::look_closer() {
  for (NodeRunner& runner : runners_) runner.look_closer();
}

}  // namespace agent::nodes
