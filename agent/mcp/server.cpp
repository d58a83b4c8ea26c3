#include "agent/mcp/server.h"

#include <algorithm>
#include <utility>

#include "agent/mcp/schema.h"
#include "core/error.h"
#include "core/suggest.h"
#include "core/text.h"

namespace agent::mcp {
namespace {
using core::Json;
constexpr std::chrono::milliseconds kIdle{100}, kAtOnce{0};
constexpr size_t kMostJobs = 32;  // waiting
constexpr size_t kMostSubscriptions = 16;
constexpr const char* kSubscriptionKey = "io.modelcontextprotocol/subscriptionId";

Json listed(const Tool& tool) {
  Json json{{"name", tool.name},
            {"title", tool.title},
            {"description", tool.description},
            {"inputSchema", tool.input},
            {"annotations",
             {{"title", tool.title},
              {"readOnlyHint", tool.reads_only},
              {"destructiveHint", false},
              {"idempotentHint", tool.reads_only},
              {"openWorldHint", false}}}};
  if (!tool.output.is_null()) json["outputSchema"] = tool.output;
  return json;
}

Json listed(const Resource& resource) {
  return {{"uri", resource.uri},
          {"name", resource.name},
          {"title", resource.title},
          {"description", resource.description},
          {"mimeType", resource.mime_type}};
}

template <typename Things>
Json list_of(const Things& things) {
  Json all = Json::array();
  for (const auto& thing : things) all.push_back(listed(thing));
  return all;
}

Json content_of(const std::string& text) { return Json::array({{{"type", "text"}, {"text", text}}}); }

Json failed(const std::string& why) { return {{"content", content_of(why)}, {"isError", true}}; }

std::string text_in(const Json& params, const char* name) {
  const auto member = params.find(name);
  if (member == params.end() || !member->is_string()) {
    throw Refusal{kInvalidParams, std::string("\"") + name + "\" must be there, and be a text"};
  }
  return member->get<std::string>();
}

// Every list fits one page.
void refuse_cursor(const Json& params) {
  if (params.contains("cursor")) throw Refusal{kInvalidParams, "there is no such page: leave \"cursor\" out"};
}
}  // namespace

// The call of a job, while it runs.
class Server::JobCall : public Call {
 public:
  JobCall(Server& server, const Job& job) : server_(server), job_(job) {}
  const std::string& client() const override { return job_.peer.client; }
  void poll() override { server_.poll(job_); }
  void progress(double done, double total, const std::string& message) override {
    if (job_.token.is_null() || done <= last_ || job_.is_cancelled) return;
    last_ = done;
    Json params{{"progressToken", job_.token}, {"progress", done}, {"total", total}};
    if (job_.peer.version != "2024-11-05") params["message"] = message;
    server_.channel_.send(notification_message("notifications/progress", std::move(params)));
  }

 private:
  Server& server_;
  const Job& job_;
  double last_ = -1;
};

Server::Server(Channel& channel, Offer offer, Log log)
    : channel_(channel), offer_(std::move(offer)), log_(std::move(log)) {}

Server::~Server() = default;

void Server::serve(const std::function<bool()>& stop) {
  stop_ = stop;
  while (!should_stop()) {
    while (const auto line = channel_.next(jobs_.empty() ? kIdle : kAtOnce)) take(*line);
    if (jobs_.empty()) continue;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    run(job);
  }
  for (const Json& id : subscriptions_) {
    channel_.send(result_message(id, complete({{"_meta", {{kSubscriptionKey, id}}}}, {kStatelessVersion, ""}, "")));
  }
}

bool Server::should_stop() { return stop_() || (channel_.has_ended() && jobs_.empty()); }

void Server::take(const Line& line) {
  if (line.is_cut) {
    return refuse(id_in_beginning(line.text), {kInvalidRequest, "a message may have 1 MiB at most"}, nullptr);
  }
  const ParsedLine parsed = parse_line(line.text);
  if (!parsed.is_batch) return take(parsed.messages.front(), nullptr);
  if (!handshake_ || handshake_->version != "2025-03-26") {
    return refuse({}, {kInvalidRequest, "only revision 2025-03-26 knows batches: send one message a line"}, nullptr);
  }
  const auto batch = std::make_shared<Batch>();
  for (const Message& message : parsed.messages) {
    batch->missing += std::holds_alternative<Request>(message) || std::holds_alternative<Malformed>(message) ? 1 : 0;
  }
  for (const Message& message : parsed.messages) take(message, batch);
}

void Server::take(const Message& message, const std::shared_ptr<Batch>& batch) {
  if (const auto* request = std::get_if<Request>(&message)) {
    take(*request, batch);
  } else if (const auto* notification = std::get_if<Notification>(&message)) {
    take(*notification);
  } else if (const auto* malformed = std::get_if<Malformed>(&message)) {
    refuse(malformed->id, {malformed->code, malformed->message}, batch);
  }
}

void Server::take(const Request& request, const std::shared_ptr<Batch>& batch) {
  if (is_in_use(request.id)) {
    return refuse(request.id, {kInvalidRequest, "another request of this id is not answered yet"}, batch);
  }
  if (request.method == "initialize") return open_session(request, batch);
  const auto who = peer_of(request, handshake_);
  if (const auto* refusal = std::get_if<Refusal>(&who)) return refuse(request.id, *refusal, batch);
  const Peer& peer = std::get<Peer>(who);
  try {
    if (peer.is_stateless() && request.method == "subscriptions/listen") return listen(request);
    if (auto work = work_of(request, peer)) {
      if (jobs_.size() >= kMostJobs) throw Refusal{kInternalError, "too many calls wait: wait for their results"};
      jobs_.push_back({request.id, request.method, peer, progress_token(request.params), batch, std::move(work)});
      return;
    }
    Json result = complete(answer_at_once(request, peer), peer, request.method);
    answer(result_message(request.id, std::move(result)), batch);
  } catch (const Refusal& refusal) {
    refuse(request.id, refusal, batch);
  }
}

void Server::take(const Notification& notification) {
  if (notification.method != "notifications/cancelled") return;  // notifications/initialized asks for nothing
  const Json id = notification.params.value("requestId", Json());
  if (running_ != nullptr && running_->id == id) running_->is_cancelled = true;
  for (Job& job : jobs_) {
    if (job.id == id) job.is_cancelled = true;
  }
  std::erase(subscriptions_, id);
}

void Server::open_session(const Request& request, const std::shared_ptr<Batch>& batch) {
  const auto who = peer_of_handshake(request.params);
  if (const auto* refusal = std::get_if<Refusal>(&who)) return refuse(request.id, *refusal, batch);
  handshake_ = std::get<Peer>(who);
  answer(result_message(request.id, handshake_result(*handshake_, offer_.instructions)), batch);
}

// Nothing that is offered changes, so a subscription only stays open.
void Server::listen(const Request& request) {
  if (subscriptions_.size() >= kMostSubscriptions) throw Refusal{kInternalError, "too many subscriptions are open"};
  subscriptions_.push_back(request.id);
  channel_.send(notification_message("notifications/subscriptions/acknowledged",
                                     {{"_meta", {{kSubscriptionKey, request.id}}}, {"notifications", Json::object()}}));
}

Json Server::answer_at_once(const Request& request, const Peer& peer) const {
  const std::string& method = request.method;
  if (method == "ping" && !peer.is_stateless()) return Json::object();
  if (method == "server/discover" && peer.is_stateless()) return discover_result(offer_.instructions);
  if (method == "tools/list" || method == "resources/list" || method == "resources/templates/list") {
    refuse_cursor(request.params);
    if (method == "tools/list") return {{"tools", list_of(offer_.tools)}};
    if (method == "resources/list") return {{"resources", list_of(offer_.resources)}};
    return {{"resourceTemplates", Json::array()}};
  }
  throw Refusal{kMethodNotFound, "there is no method \"" + core::clean_line(method, 100) + "\""};
}

// Empty: the request is answered at once.
std::function<Json(Call&)> Server::work_of(const Request& request, const Peer& peer) const {
  if (request.method == "tools/call") return call_of(request.params);
  if (request.method == "resources/read") return reading_of(request.params, peer);
  return {};
}

std::function<Json(Call&)> Server::call_of(const Json& params) const {
  const std::string name = text_in(params, "name");
  const auto tool =
      std::find_if(offer_.tools.begin(), offer_.tools.end(), [&](const Tool& one) { return one.name == name; });
  if (tool == offer_.tools.end()) {
    std::vector<std::string> known;
    for (const Tool& one : offer_.tools) known.push_back(one.name);
    throw Refusal{kInvalidParams,
                  "Unknown tool: " + core::clean_line(name, 100) + "; " + core::did_you_mean(name, known, "tools")};
  }
  Json arguments = params.value("arguments", Json::object());
  if (!arguments.is_object()) throw Refusal{kInvalidParams, "\"arguments\" must be an object"};
  return
      [this, &tool = *tool, arguments = std::move(arguments)](Call& call) { return run_tool(tool, arguments, call); };
}

std::function<Json(Call&)> Server::reading_of(const Json& params, const Peer& peer) const {
  const std::string uri = text_in(params, "uri");
  const auto resource = std::find_if(offer_.resources.begin(), offer_.resources.end(),
                                     [&](const Resource& one) { return one.uri == uri; });
  if (resource == offer_.resources.end()) {
    throw Refusal{peer.is_stateless() ? kInvalidParams : kResourceNotFound, "Resource not found", {{"uri", uri}}};
  }
  return [&resource = *resource](Call& call) -> Json {
    try {
      const Json content{{"uri", resource.uri}, {"mimeType", resource.mime_type}, {"text", resource.read(call)}};
      return {{"contents", Json::array({content})}};
    } catch (const core::InputError& error) {
      throw Refusal{kInternalError, error.what()};
    }
  };
}

// A failure that the model can do something about is a result that says what.
Json Server::run_tool(const Tool& tool, const Json& arguments, Call& call) const {
  try {
    require_fits(arguments, tool.input, tool.name);
    const ToolResult done = tool.run(arguments, call);
    Json result{{"content", content_of(done.text.empty() ? line_of(done.structured) : done.text)}, {"isError", false}};
    if (!done.structured.is_null()) result["structuredContent"] = done.structured;
    return result;
  } catch (const core::InputError& error) {
    return failed(error.what());
  } catch (const std::exception& error) {
    log_(tool.name + ": " + error.what());
    return failed(std::string("Kernelwright itself failed, which is not the kernel's fault: ") + error.what());
  }
}

void Server::run(Job& job) {
  if (job.is_cancelled) return drop(job);
  running_ = &job;
  try {
    JobCall call(*this, job);
    Json result = job.run(call);
    if (job.is_cancelled) throw Cancelled();
    answer(result_message(job.id, complete(std::move(result), job.peer, job.method)), job.batch);
  } catch (const Cancelled&) {
    drop(job);
  } catch (const Refusal& refusal) {
    refuse(job.id, refusal, job.batch);
  } catch (const std::exception& error) {
    log_(job.method + ": " + error.what());
    refuse(job.id, {kInternalError, error.what()}, job.batch);
  }
  running_ = nullptr;
}

void Server::poll(const Job& job) {
  while (const auto line = channel_.next(kAtOnce)) take(*line);
  if (job.is_cancelled || stop_() || channel_.has_ended()) throw Cancelled();
}

bool Server::is_in_use(const Json& id) const {
  return (running_ != nullptr && running_->id == id && !running_->is_cancelled) ||
         std::any_of(jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.id == id && !job.is_cancelled; }) ||
         std::find(subscriptions_.begin(), subscriptions_.end(), id) != subscriptions_.end();
}

void Server::answer(Json message, const std::shared_ptr<Batch>& batch) {
  if (!batch) return channel_.send(message);
  batch->answers.push_back(std::move(message));
  settle(*batch);
}

// A cancelled request gets no answer.
void Server::drop(const Job& job) {
  if (job.batch) settle(*job.batch);
}

void Server::settle(Batch& batch) {
  if (--batch.missing == 0 && !batch.answers.empty()) channel_.send(batch.answers);
}

void Server::refuse(const Json& id, const Refusal& refusal, const std::shared_ptr<Batch>& batch) {
  answer(error_message(id, refusal.code, refusal.message, refusal.data), batch);
}

}  // namespace agent::mcp
