#include "agent/nodes/node_lanes.h"

#include <unistd.h>

#include <algorithm>

#include "agent/campaign/device_text.h"
#include "agent/search/interrupt.h"
#include "core/error.h"

namespace agent::nodes {
namespace {
constexpr std::chrono::milliseconds kWait{100};
constexpr int64_t kMostLossesOfAll = 3;  // of each node before any was ready

constexpr size_t kLeast = 2;  // nodes to keep: one finds wins, and another confirms them

// Launchers hand their environment on, and nodes ask no models.
std::string forget_keys() {
  std::string script;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable, name = text.substr(0, text.find('='));
    const bool plain = name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == std::string::npos;
    if (plain && name.ends_with("_API_KEY")) script += "unset " + name + "; ";
  }
  return script;
}

// A shell takes the launcher apart, as it stands on a command line.
std::vector<std::string> command_of(const campaign::CampaignSettings& settings, int node, const std::string& program) {
  const std::string number = forget_keys() + "export KERNELWRIGHT_NODE=" + std::to_string(node) + "; ";
  std::vector<std::string> command{"/bin/sh", "-c", number + "exec " + settings.launcher + " \"$@\"", "launcher"};
  command.insert(command.end(), {program, "node", "--device", settings.device});
  if (settings.hot) command.emplace_back("--hot");
  return command;
}
}  // namespace

NodeLanes::NodeLanes(results::archive::Recorder& archive, int64_t campaign, const campaign::CampaignSettings& settings,
                     const std::string& program, const std::function<void(const std::string&)>& on_trouble)
    : archive_(archive),
      campaign_(campaign),
      launcher_(settings.launcher),
      choice_(campaign::parse_device(settings.device)),
      trouble_(on_trouble),
      owner_{archive,
             campaign,
             event_loop_,
             [this](const std::string& name, const Greeting& greeting) { greeted(name, greeting); },
             [this](const std::string& what) { noted(what); },
             [this](const NodeRunner& than) { return other(than); },
             [this](const NodeRunner& runner) { return spares(runner); },
             std::chrono::steady_clock::now()} {
  for (int i = 0; i < settings.nodes; ++i) {
    runners_.emplace_back("node " + std::to_string(i), command_of(settings, i, program), owner_);
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
                              ". Try the launcher by hand: " + launcher_ + " hostname");
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
  if (greeting.device != device_) {
    throw core::SystemError(name + " has the device " + greeting.device + " and " + first_ + " has " + device_ +
                            ": results of one campaign are of one kind of device; have the launcher ask for it");
  }
  for (const NodeRunner& runner : runners_) {
    if (greeting.gpu.empty() || !runner.is_ready() || runner.greeting().gpu != greeting.gpu) continue;
    if (runner.name() == name) continue;
    throw core::SystemError(
        name + " and " + runner.name() +
        " have the same GPU, and would disturb each other's times: give each its own. On one host: --launcher 'env "
        "CUDA_VISIBLE_DEVICES=$KERNELWRIGHT_NODE' (AMD: HIP_VISIBLE_DEVICES)");
  }
}

// The one that has least to do.
NodeRunner* NodeLanes::other(const NodeRunner& than) {
  NodeRunner* best = nullptr;
  const auto load = [](const NodeRunner& runner) { return runner.visits() + runner.in_progress(); };
  for (NodeRunner& runner : runners_) {
    if (&runner == &than || !runner.is_ready() || runner.is_looked_at()) continue;
    if (best == nullptr || load(runner) < load(*best)) best = &runner;
  }
  return best;
}

bool NodeLanes::spares(const NodeRunner& runner) const {
  return std::ranges::any_of(runners_, [&](const NodeRunner& one) { return &one != &runner && one.is_ready(); });
}

// Those that wait for a scheduler are given up before those that are there.
void NodeLanes::need(size_t lanes, const std::set<size_t>& in_use) {
  size_t kept = 0;
  for (const NodeRunner& runner : runners_) kept += runner.is_stopped() ? 0 : 1;
  for (const bool ready : {false, true}) {
    for (size_t lane = 0; lane < runners_.size() && kept > std::max(lanes, kLeast); ++lane) {
      NodeRunner& runner = runners_[lane];
      if (runner.is_stopped() || runner.is_ready() != ready || in_use.contains(lane) || runner.visits() > 0) continue;
      archive_.add_event(campaign_, "given_back", {{"node", runner.name()}, {"why", "no problem is left for it"}});
      runner.stop();
      --kept;
    }
  }
}

std::optional<std::string> NodeLanes::why_not(const sandbox::Solution& solution) const {
  return campaign::why_not_on(choice_, text_.architecture, solution);
}

void NodeLanes::look_closer() {
  for (NodeRunner& runner : runners_) runner.look_closer();
}

}  // namespace agent::nodes
