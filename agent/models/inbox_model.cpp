#include "agent/models/inbox_model.h"

#include <cerrno>
#include <condition_variable>
#include <fstream>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "agent/models/model.h"
#include "core/error.h"
#include "core/text.h"

namespace agent::models {
namespace {
namespace fs = std::filesystem;
using Cause = NoCompletion::Cause;
using Clock = std::chrono::steady_clock;

constexpr char kReadMe[] = R"(# An inbox of Kernelwright

A campaign runs with `inbox:` and the name of this folder, and whoever reads this is the model.

- `NAME.prompt.md` is a prompt. Read it and write the answer it asks for.
- Save the answer as `NAME.reply.md`, in this folder: the same NAME, UTF-8 text, in the form the prompt asks for. Write
  it under another name first and rename it; a file that is written in place is taken once it has not changed for a
  moment.
- Both files then move to `answered/`. Prompts that are left here are still waiting, and more of them may come.
- When the campaign ends, the prompts that nobody has answered move to `unanswered/`.
- A prompt whose reply lies in `answered/` is not asked again: remove it there to be asked anew.
)";

void write_aside(const fs::path& file, std::string_view text) {
  const fs::path aside = file.string() + ".part";
  {
    std::ofstream out(aside, std::ios::binary);
    out << text;
    out.flush();
    if (!out) throw core::SystemError("cannot write " + aside.string(), errno);
  }
  std::error_code error;
  fs::rename(aside, file, error);
  if (error) throw core::SystemError("cannot rename " + aside.string(), error.value());
}

std::string file_name_of(const Occasion& occasion, const Prompt& prompt) {
  std::string name;
  for (const char c : occasion.problem) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    name += plain ? c : '-';
  }
  return name + "." + std::to_string(occasion.number) + "." + prompt.hash().substr(0, 12);
}

// A prompt that awaits its answer.
struct Letter {
  std::string name;
  std::string prompt;
  std::function<void(Answer)> answered;
  Clock::time_point begin = Clock::now();
  std::pair<uintmax_t, fs::file_time_type> seen{};  // the reply's size and time at the last look
};

class InboxModel : public Model {
 public:
  explicit InboxModel(InboxModelSetup setup) : setup_(std::move(setup)) {
    try {
      for (const char* folder : {"answered", "unanswered"}) fs::create_directories(setup_.folder / folder);
      write_aside(setup_.folder / "README.md", kReadMe);
    } catch (const std::exception& error) {
      throw core::InputError(setup_.folder.string(), std::string("cannot be an inbox: ") + error.what(),
                             "name a folder that can be written");
    }
    thread_ = std::thread([this] { run(); });
  }
  ~InboxModel() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  const std::string& name() const override { return setup_.name; }

  void ask(const Occasion& occasion, const Prompt& prompt, const Sampling&,
           std::function<void(Answer)> answered) override {
    Letter letter;
    letter.name = file_name_of(occasion, prompt);
    letter.prompt = prompt.as_text();
    letter.answered = std::move(answered);
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(std::move(letter));
    }
    changed_.notify_one();
  }

  void cancel() override {
    {
      const std::lock_guard lock(mutex_);
      cancelling_ = true;
    }
    changed_.notify_one();
  }

  bool keeps_requests() const override { return true; }

 private:
  fs::path prompt_file(const Letter& letter) const { return setup_.folder / (letter.name + ".prompt.md"); }
  fs::path reply_file(const Letter& letter) const { return setup_.folder / (letter.name + ".reply.md"); }
  fs::path unanswered_file(const Letter& letter) const {
    return setup_.folder / "unanswered" / prompt_file(letter).filename();
  }
  fs::path answered_file(const Letter& letter) const {
    return setup_.folder / "answered" / reply_file(letter).filename();
  }

  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      const auto news = [&] { return stopping_ || cancelling_ || !asked_.empty(); };
      if (waiting_.empty()) {
        changed_.wait(lock, news);
      } else {
        changed_.wait_for(lock, setup_.look_every, news);
      }
      std::list<Letter> asked = std::exchange(asked_, {});
      const bool stopping = stopping_, cancelling = std::exchange(cancelling_, false) || stopping;
      lock.unlock();
      for (Letter& letter : asked) lay_down(letter);
      waiting_.splice(waiting_.end(), asked);
      look(cancelling);
      if (stopping) return;
      lock.lock();
    }
  }

  void lay_down(const Letter& letter) const {
    std::error_code ignored;
    fs::remove(unanswered_file(letter), ignored);
    if (fs::exists(answered_file(letter), ignored)) return;
    try {
      write_aside(prompt_file(letter), letter.prompt);
    } catch (const core::SystemError&) {
      // look() sees that it is not there.
    }
  }

  void look(bool cancelling) {
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      const auto letter = it++;
      std::optional<Answer> answer = answer_to(*letter);
      if (!answer && cancelling) {
        std::error_code ignored;
        fs::rename(prompt_file(*letter), unanswered_file(*letter), ignored);
        answer = failed(*letter, Cause::cancelled, "cancelled");
      }
      if (!answer) continue;
      const std::function<void(Answer)> answered = std::move(letter->answered);
      waiting_.erase(letter);
      answered(std::move(*answer));
    }
  }

  std::optional<Answer> answer_to(Letter& letter) const {
    std::error_code error;
    if (fs::exists(answered_file(letter), error)) return reply_in(letter, answered_file(letter));
    const fs::path file = reply_file(letter);
    const uintmax_t size = fs::file_size(file, error);
    if (error || size == 0) {
      if (fs::exists(prompt_file(letter), error)) return std::nullopt;
      return failed(letter, Cause::unreachable,
                    prompt_file(letter).string() + " cannot be written, or was removed without a reply");
    }
    const std::pair seen(size, fs::last_write_time(file, error));
    if (std::exchange(letter.seen, seen) != seen) return std::nullopt;  // may still grow
    Answer answer = reply_in(letter, file);
    fs::rename(file, answered_file(letter), error);
    fs::rename(prompt_file(letter), setup_.folder / "answered" / prompt_file(letter).filename(), error);
    return answer;
  }

  Answer reply_in(const Letter& letter, const fs::path& file) const {
    Completion completion;
    try {
      completion.text = core::read_file(file, setup_.most_reply_bytes);
    } catch (const core::InputError& error) {
      return failed(letter, Cause::not_understood, error.what());
    }
    if (completion.text.find_first_not_of(" \t\r\n") == std::string::npos) {
      return failed(letter, Cause::empty, file.string() + " is empty");
    }
    completion.model = setup_.name;
    completion.usage = {
        .input = estimate_tokens(letter.prompt), .output = estimate_tokens(completion.text), .estimated = true};
    completion.seconds = std::chrono::duration<double>(Clock::now() - letter.begin).count();
    return completion;
  }

  static NoCompletion failed(const Letter& letter, Cause cause, std::string what) {
    NoCompletion none;
    none.cause = cause;
    none.what = std::move(what);
    none.seconds = std::chrono::duration<double>(Clock::now() - letter.begin).count();
    return none;
  }

  const InboxModelSetup setup_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Letter> asked_;
  bool cancelling_ = false, stopping_ = false;
  std::list<Letter> waiting_;  // used by the thread only
  std::thread thread_;
};
}  // namespace

std::unique_ptr<Model> inbox_model(InboxModelSetup setup) { return std::make_unique<InboxModel>(std::move(setup)); }

}  // namespace agent::models
