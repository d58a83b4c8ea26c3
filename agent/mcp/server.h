// Serves one client: answers requests, runs tool calls one after another, and hears of cancellations meanwhile.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/mcp/channel.h"
#include "agent/mcp/messages.h"
#include "agent/mcp/protocol.h"
#include "agent/mcp/tool.h"

namespace agent::mcp {

class Server {
 public:
  using Log = std::function<void(const std::string& line)>;
  // The channel must outlive it. `log` gets a line for each failure of our own.
  Server(Channel& channel, Offer offer, Log log);
  ~Server();

  // Returns when the client has gone, or `stop` says so, which is asked several times a second. Then calls in progress
  // are cancelled; those that only read are still answered.
  void serve(const std::function<bool()>& stop);

 private:
  // Answers of a batch are sent together (revision 2025-03-26).
  struct Batch {
    size_t missing = 0;
    core::Json answers = core::Json::array();
  };
  // A request that waits for its turn, or is being served.
  struct Job {
    core::Json id;
    std::string method;
    Peer peer;
    core::Json token;  // of progress; null: none wanted
    std::shared_ptr<Batch> batch;
    std::function<core::Json(Call&)> run;  // throws Refusal
    bool is_cancelled = false;
  };
  class JobCall;

  bool should_stop();
  void take(const Line& line);
  void take(const Message& message, const std::shared_ptr<Batch>& batch);
  void take(const Request& request, const std::shared_ptr<Batch>& batch);
  void take(const Notification& notification);
  void open_session(const Request& request, const std::shared_ptr<Batch>& batch);
  void listen(const Request& request);
  core::Json answer_at_once(const Request& request, const Peer& peer) const;  // throws Refusal
  std::function<core::Json(Call&)> work_of(const Request& request, const Peer& peer) const;
  std::function<core::Json(Call&)> call_of(const core::Json& params) const;
  std::function<core::Json(Call&)> reading_of(const core::Json& params, const Peer& peer) const;
  core::Json run_tool(const Tool& tool, const core::Json& arguments, Call& call) const;
  void run(Job& job);
  void poll(const Job& job);
  bool is_in_use(const core::Json& id) const;
  void drop(const Job& job);
  void settle(Batch& batch);
  void answer(core::Json message, const std::shared_ptr<Batch>& batch);
  void refuse(const core::Json& id, const Refusal& refusal, const std::shared_ptr<Batch>& batch);

  Channel& channel_;
  Offer offer_;
  Log log_;
  std::function<bool()> stop_;
  std::optional<Peer> handshake_;
  std::deque<Job> jobs_;
  Job* running_ = nullptr;
  std::deque<core::Json> subscriptions_;  // ids of open subscriptions/listen
};

}  // namespace agent::mcp
