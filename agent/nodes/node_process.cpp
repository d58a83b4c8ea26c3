#include "agent/nodes/node_process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/nodes/messages.h"
#include "core/error.h"

namespace agent::nodes {
namespace {
constexpr size_t kNonsenseBytes = 200;
constexpr std::chrono::milliseconds kLook{20}, kGrace{10'000};
constexpr std::chrono::milliseconds kTick{200}, kFirstPause{500}, kLongestPause{60'000};

std::string end_words(int status) {
  if (WIFEXITED(status)) return "it ended with exit code " + std::to_string(WEXITSTATUS(status));
  return "it was ended by signal " + std::to_string(WTERMSIG(status));
}
}  // namespace

NodeProcess::NodeProcess(std::vector<std::string> command, search::EventLoop& event_loop, Listener listener)
    : command_(std::move(command)), event_loop_(event_loop), listener_(std::move(listener)) {
  thread_ = std::thread([this] { live(); });
}

NodeProcess::~NodeProcess() {
  stop();
  thread_.join();
}

void NodeProcess::give_up(const std::string& why) {
  const std::lock_guard lock(mutex_);
  given_up_ = why;
}

std::string NodeProcess::why_given_up() {
  const std::lock_guard lock(mutex_);
  return std::exchange(given_up_, "");
}

void NodeProcess::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
}

bool NodeProcess::is_stopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void NodeProcess::post(std::function<void()> message) {
  event_loop_.post([message = std::move(message), here = std::weak_ptr<bool>(here_)] {
    if (!here.expired()) message();
  });
}

void NodeProcess::send(const core::Json& message) {
  std::shared_ptr<core::LineStream> stream;
  {
    const std::lock_guard lock(mutex_);
    stream = stream_;
  }
  if (stream) stream->send(line_of(message));
}

void NodeProcess::pause(std::chrono::milliseconds time) const {
  for (; time > std::chrono::milliseconds(0) && !is_stopping(); time -= kTick) std::this_thread::sleep_for(kTick);
}

void NodeProcess::live() {
  auto time = kFirstPause;
  while (!is_stopping()) {
    brought_something_ = false;
    std::string why;
    try {
      why = talk();
    } catch (const std::exception& error) {
      why = error.what();
    }
    if (is_stopping()) return;
    post([this, why] { listener_.lost(why); });
    time = brought_something_ ? kFirstPause : std::min(2 * time, kLongestPause);
    pause(time);
  }
}

std::string NodeProcess::talk() {
  core::Pipe in, out;
  core::ProcessSetup setup;
  setup.argv = command_;
  setup.input = in.read.get();
  setup.output = out.write.get();
  setup.error = STDERR_FILENO;
  const auto stream = std::make_shared<core::LineStream>(std::move(out.read), std::move(in.write), kMostLineBytes);
  {
    const std::lock_guard lock(mutex_);
    process_ = core::Process(setup);
    stream_ = stream;
  }
  in.read.reset();
  out.write.reset();
  std::string why;
  bool greeted = false;  // a scheduler may keep it waiting until then
  auto heard = std::chrono::steady_clock::now();
  while (why.empty() && !is_stopping()) {
    if (!(why = why_given_up()).empty()) break;
    if (const auto line = stream->next(kTick)) {
      heard = std::chrono::steady_clock::now();
      try {
        core::Json message = message_of(line->text);
        greeted = true;
        brought_something_ = brought_something_ || message.contains("result");
        post([this, message = std::move(message)] { listener_.said(message); });
      } catch (const core::InputError&) {
        why = std::string(kNonsense) + line->text.substr(0, kNonsenseBytes);
      }
    } else if (stream->has_ended()) {
      why = "it ended";
    } else if (greeted && std::chrono::steady_clock::now() - heard > kMostSilence) {
      why = "it gave no sign of life for " + std::to_string(kMostSilence.count()) + " s";
    }
  }
  const int status = end_process(*stream);
  return why == "it ended" ? end_words(status) : why;
}

bool NodeProcess::ends_within(std::chrono::milliseconds time) {
  for (; time > std::chrono::milliseconds(0); time -= kLook) {
    if (process_.has_ended()) return true;
    std::this_thread::sleep_for(kLook);
  }
  return process_.has_ended();
}

// A launcher that is killed cannot end what it started elsewhere: it gets the end of its input, and then a signal,
// first.
int NodeProcess::end_process(core::LineStream& stream) {
  if (is_stopping()) stream.end_output();  // nobody sends beside it then
  if (!ends_within(is_stopping() ? kGrace : kLook)) {
    ::kill(process_.pid(), SIGTERM);
    ends_within(kGrace);
  }
  const std::lock_guard lock(mutex_);
  stream_.reset();
  return process_.end();
}

}  // namespace agent::nodes
