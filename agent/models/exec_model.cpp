#include "agent/models/exec_model.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "agent/models/model.h"
#include "core/error.h"
#include "core/process.h"

namespace agent::models {
namespace {
using Cause = NoCompletion::Cause;
using Clock = std::chrono::steady_clock;
using core::UniqueFd;

constexpr size_t kMostComplaint = 2000;          // bytes of standard error that are kept: the last ones
constexpr size_t kMostInPipe = size_t{1} << 20;  // bytes: no pipe is made larger (fs.pipe-max-size)

// The prompt as a readable file, so that we never write to a process that may not read.
UniqueFd file_with(std::string_view text) {
  UniqueFd fd(::memfd_create("prompt", MFD_CLOEXEC));
  if (!fd) throw core::SystemError("no memory for a prompt", errno);
  while (!text.empty()) {
    const ssize_t written = ::write(fd.get(), text.data(), text.size());
    if (written < 0) throw core::SystemError("no memory for a prompt", errno);
    text.remove_prefix(static_cast<size_t>(written));
  }
  ::lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

// A running command. Its process group dies with this.
class Child {
 public:
  Child(const std::vector<std::string>& argv, std::string_view input) {
    const UniqueFd in = file_with(input);
    core::Pipe out, err;
    process_ = core::Process({.argv = argv, .input = in.get(), .output = out.write.get(), .error = err.write.get()});
    // Debian 12 declares pidfd_open without C linkage.
    ended_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, process_.pid(), 0)));
    for (const UniqueFd* end : {&out.read, &err.read}) ::fcntl(end->get(), F_SETFL, O_NONBLOCK);
    out_ = std::move(out.read);
    err_ = std::move(err.read);
  }

  const UniqueFd& out() const { return out_; }
  const UniqueFd& err() const { return err_; }
  const UniqueFd& ended() const { return ended_; }
  bool has_exited() const { return process_.has_ended(); }
  int collect() { return process_.end(); }  // the wait status

 private:
  core::Process process_;
  UniqueFd out_, err_, ended_;
};

// Reads what is available, at most one pipe's capacity at a time, so that a command that writes faster than this reads
// cannot keep it from checking the limits. Returns false at the end of the file.
bool drain(const UniqueFd& fd, std::string& into) {
  char block[16384];
  for (size_t taken = 0; taken < kMostInPipe;) {
    const ssize_t length = ::read(fd.get(), block, sizeof block);
    if (length > 0) {
      into.append(block, static_cast<size_t>(length));
      taken += static_cast<size_t>(length);
    } else if (length == 0 || (errno != EAGAIN && errno != EINTR)) {
      return false;
    } else if (errno == EAGAIN) {
      return true;
    }
  }
  return true;
}

// A prompt that awaits its answer.
struct Question {
  Question(std::string text, std::function<void(Answer)> tell) : prompt(std::move(text)), answered(std::move(tell)) {}

  std::string prompt;
  std::function<void(Answer)> answered;
  Clock::time_point begin = Clock::now();
  std::optional<Child> child;
  bool out_open = true, err_open = true;
  std::string reply, complaint;

  NoCompletion failed(Cause cause, std::string what) const {
    NoCompletion none;
    none.cause = cause;
    none.what = std::move(what);
    if (!complaint.empty()) none.what += ": " + complaint;
    if (child) none.usage = usage();  // otherwise the command never ran
    none.seconds = seconds();
    return none;
  }
  Usage usage() const {
    return {.input = estimate_tokens(prompt), .output = estimate_tokens(reply), .estimated = true};
  }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin).count(); }
};

class ExecModel : public Model {
 public:
  explicit ExecModel(ExecModelSetup setup) : setup_(std::move(setup)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!wake_) throw core::SystemError("no event descriptor", errno);
    thread_ = std::thread([this] { run(); });
  }
  ~ExecModel() override {
    update([&] { stopping_ = true; });
    thread_.join();
  }

  const std::string& name() const override { return setup_.name; }

  void ask(const Occasion&, const Prompt& prompt, const Sampling&, std::function<void(Answer)> answered) override {
    update([&] { asked_.emplace_back(prompt.as_text(), std::move(answered)); });
  }

  void cancel() override {
    update([&] { cancelling_ = true; });
  }

 private:
  template <typename Change>
  void update(const Change& change) {
    const std::lock_guard lock(mutex_);
    change();
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
  }

  void run() {
    // Leaves signals to other threads.
    sigset_t signals;
    ::sigfillset(&signals);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    bool stopping = false;
    while (!stopping) {
      wait();
      stopping = take_requests();
      for (auto it = running_.begin(); it != running_.end();) {
        const auto question = it++;
        if (const std::optional<Answer> answer = look_at(*question)) finish(question, *answer);
      }
    }
  }

  // Returns true when the thread must stop.
  bool take_requests() {
    bool cancelling = false, stopping = false;
    std::list<Question> asked;
    {
      const std::lock_guard lock(mutex_);
      uint64_t count = 0;
      [[maybe_unused]] const ssize_t length = ::read(wake_.get(), &count, sizeof count);
      asked.swap(asked_);
      stopping = stopping_;
      cancelling = std::exchange(cancelling_, false) || stopping;
    }
    if (cancelling) {
      running_.splice(running_.end(), asked);
      while (!running_.empty()) finish(running_.begin(), running_.front().failed(Cause::cancelled, "cancelled"));
    }
    for (Question& question : asked) start(question);
    running_.splice(running_.end(), asked);
    return stopping;
  }

  void start(Question& question) {
    try {
      question.child.emplace(setup_.argv, question.prompt);
    } catch (const core::SystemError& error) {
      question.complaint = error.what();
    }
  }

  // Returns the answer once there is one.
  std::optional<Answer> look_at(Question& question) {
    if (!question.child) return question.failed(Cause::bad_request, setup_.name);
    Child& child = *question.child;
    const bool exited = child.has_exited();  // checked before the pipes: they then hold all of its output
    if (question.out_open) question.out_open = drain(child.out(), question.reply);
    if (question.err_open) question.err_open = drain(child.err(), question.complaint);
    if (question.complaint.size() > kMostComplaint) {
      question.complaint.erase(0, question.complaint.size() - kMostComplaint);
    }
    if (question.reply.size() > setup_.most_reply_bytes) {
      return question.failed(Cause::not_understood, setup_.name + " wrote more than the " +
                                                        std::to_string(setup_.most_reply_bytes) + " bytes allowed");
    }
    if (exited) return judge(question, child.collect());
    if (Clock::now() >= question.begin + setup_.total) {
      return question.failed(Cause::timed_out, setup_.name + " took too long and was killed");
    }
    return std::nullopt;
  }

  Answer judge(const Question& question, int status) const {
    if (WIFSIGNALED(status)) {
      return question.failed(Cause::cut_off, setup_.name + " was killed by signal " + std::to_string(WTERMSIG(status)));
    }
    if (WEXITSTATUS(status) != 0) {
      return question.failed(Cause::cut_off,
                             setup_.name + " ended with exit code " + std::to_string(WEXITSTATUS(status)));
    }
    if (question.reply.find_first_not_of(" \t\r\n") == std::string::npos) {
      return question.failed(Cause::empty, setup_.name + " wrote nothing");
    }
    Completion completion;
    completion.text = question.reply;
    completion.model = setup_.name;
    completion.usage = question.usage();
    completion.seconds = question.seconds();
    return completion;
  }

  void finish(std::list<Question>::iterator question, Answer answer) {
    const std::function<void(Answer)> answered = std::move(question->answered);
    running_.erase(question);  // kills its processes
    answered(std::move(answer));
  }

  void wait() const {
    std::vector<pollfd> watched = {{wake_.get(), POLLIN, 0}};
    Clock::time_point next = Clock::now() + std::chrono::seconds(10);
    for (const Question& question : running_) {
      if (!question.child) return;
      next = std::min(next, question.begin + setup_.total);
      if (question.out_open) watched.push_back({question.child->out().get(), POLLIN, 0});
      if (question.err_open) watched.push_back({question.child->err().get(), POLLIN, 0});
      watched.push_back({question.child->ended().get(), POLLIN, 0});
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    ::poll(watched.data(), watched.size(), static_cast<int>(std::max<int64_t>(left, 0)));
  }

  const ExecModelSetup setup_;
  const UniqueFd wake_;
  std::mutex mutex_;
  std::list<Question> asked_;
  bool cancelling_ = false, stopping_ = false;
  std::list<Question> running_;  // used by the thread only
  std::thread thread_;
};
}  // namespace

std::vector<std::string> split_command(std::string_view command) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      in_word = false;
      continue;
    }
    if (!std::exchange(in_word, true)) words.emplace_back();
    if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
      words.back() += command[++i];
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) throw core::InputError("exec:" + std::string(command), "has an unterminated quote");
  if (words.empty() || words.front().empty()) {
    throw core::InputError("exec:", "names no command", "write one after the colon: exec:my_model --fast");
  }
  return words;
}

std::unique_ptr<Model> exec_model(ExecModelSetup setup) { return std::make_unique<ExecModel>(std::move(setup)); }

}  // namespace agent::models
