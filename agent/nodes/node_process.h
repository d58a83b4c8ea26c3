// The process that stands for a node here: the launcher's, whose standard input and output are the node's.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "agent/search/event_loop.h"
#include "core/line_stream.h"
#include "core/process.h"
#include "core/strict_json.h"

namespace agent::nodes {

class NodeProcess {
 public:
  struct Listener {
    std::function<void(const core::Json&)> said;       // a message of the node
    std::function<void(const std::string& why)> lost;  // it is gone, and is started again after a pause
  };
  // Starts the command, and again whenever it ends, falls silent or says nonsense, after pauses that grow to a minute
  // while it brings nothing. Calls the listener on the event loop's thread, which outlives it.
  NodeProcess(std::vector<std::string> command, search::EventLoop& event_loop, Listener listener);
  ~NodeProcess();
  NodeProcess(const NodeProcess&) = delete;
  NodeProcess& operator=(const NodeProcess&) = delete;

  // Begins to end it, as its destructor does, which then waits.
  void stop();
  // Counts it as lost, for what it said.
  void give_up(const std::string& why);
  // Dropped while the node is lost.
  void send(const core::Json& message);

 private:
  void live();
  std::string talk();  // from its start to its loss; says why it is lost
  bool is_stopping() const;
  std::string why_given_up();
  bool ends_within(std::chrono::milliseconds time);
  int end_process(core::LineStream& stream);
  void pause(std::chrono::milliseconds time) const;
  void post(std::function<void()> message);

  std::vector<std::string> command_;
  search::EventLoop& event_loop_;
  Listener listener_;
  mutable std::mutex mutex_;
  std::shared_ptr<core::LineStream> stream_;  // null while it is lost
  core::Process process_;
  bool stopping_ = false, brought_something_ = false;
  std::string given_up_;                                             // why; empty: it is not
  const std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  // expires with this: later messages are dropped
  std::thread thread_;
};

}  // namespace agent::nodes
