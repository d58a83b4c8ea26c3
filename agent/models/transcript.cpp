#include "agent/models/transcript.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/strict_json.h"
#include "core/text.h"

namespace agent::models {
namespace {
using core::Json;
using core::JsonView;

constexpr int kVersion = 1;
constexpr size_t kMostBytes = size_t{512} << 20;

Json to_json(const TranscriptHeader& header) {
  return {{"kernelwright_transcript", kVersion}, {"model", header.model},   {"date", header.date},
          {"kernelwright", header.kernelwright}, {"device", header.device}, {"note", header.note}};
}

Json to_json(const Usage& usage) {
  return {{"input", usage.input},
          {"cache_read", usage.cache_read},
          {"cache_written", usage.cache_written},
          {"output", usage.output},
          {"estimated", usage.estimated}};
}

Json to_json(const TranscriptEntry& entry) {
  Json json = {
      {"problem", entry.occasion.problem}, {"number", entry.occasion.number}, {"prompt_hash", entry.prompt_hash}};
  std::visit(
      [&](const auto& answer) {
        json["usage"] = to_json(answer.usage);
        json["tries"] = answer.tries;
        json["seconds"] = answer.seconds;
      },
      entry.answer);
  if (const auto* completion = std::get_if<Completion>(&entry.answer)) {
    json["model"] = completion->model;
    json["reply"] = completion->text;
    json["complete"] = completion->complete;
  } else {
    const auto& none = std::get<NoCompletion>(entry.answer);
    json["no_reply"] = name_of(none.cause);
    json["what"] = none.what;
  }
  return json;
}

std::string line_of(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n"; }

TranscriptHeader header_from(const JsonView& view) {
  if (!view.has("kernelwright_transcript")) {
    view.fail("is not a transcript's first line", "a transcript begins with {\"kernelwright_transcript\": 1, ...}");
  }
  if (const int64_t version = view.at("kernelwright_transcript").integer(); version != kVersion) {
    view.fail("is a transcript of version " + std::to_string(version) + ", this program reads version " +
              std::to_string(kVersion));
  }
  view.expect_object({"kernelwright_transcript", "model", "date", "kernelwright", "device"}, {"note"});
  return {view.at("model").string(), view.at("date").string(), view.at("kernelwright").string(),
          view.at("device").string(), view.has("note") ? view.at("note").string() : ""};
}

Usage usage_from(const JsonView& view) {
  view.expect_object({"input", "output"}, {"cache_read", "cache_written", "estimated"});
  const auto count = [&](const char* key) { return view.has(key) ? view.at(key).integer(0) : 0; };
  return {.input = count("input"),
          .cache_read = count("cache_read"),
          .cache_written = count("cache_written"),
          .output = count("output"),
          .estimated = view.has("estimated") && view.at("estimated").boolean()};
}

template <typename T>
T with_costs(T answer, const JsonView& view) {
  if (view.has("usage")) answer.usage = usage_from(view.at("usage"));
  if (view.has("tries")) answer.tries = static_cast<int>(view.at("tries").integer(1, 1'000'000));
  if (view.has("seconds")) answer.seconds = view.at("seconds").number();
  return answer;
}

TranscriptEntry entry_from(const JsonView& view) {
  view.expect_object({"problem", "number", "prompt_hash"},
                     {"model", "reply", "complete", "no_reply", "what", "usage", "tries", "seconds"});
  if (view.has("reply") == view.has("no_reply")) view.fail("needs either a reply or a no_reply");
  TranscriptEntry entry;
  entry.occasion = {view.at("problem").string(), view.at("number").integer(1)};
  entry.prompt_hash = view.at("prompt_hash").string();
  if (view.has("reply")) {
    Completion completion;
    completion.text = view.at("reply").string();
    if (view.has("model")) completion.model = view.at("model").string();
    if (view.has("complete")) completion.complete = view.at("complete").boolean();
    entry.answer = with_costs(std::move(completion), view);
  } else {
    NoCompletion none;
    const std::string name = view.at("no_reply").string();
    const auto cause = core::enum_from_name<NoCompletion::Cause>(name);
    if (!cause) view.at("no_reply").fail("is an unknown cause: \"" + name + "\"");
    none.cause = *cause;
    if (view.has("what")) none.what = view.at("what").string();
    entry.answer = with_costs(std::move(none), view);
  }
  return entry;
}
}  // namespace

Transcript read_transcript(const std::filesystem::path& file) {
  const std::string text = core::read_file(file, kMostBytes);
  Transcript transcript;
  bool has_header = false;
  size_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    const std::string where = file.string() + ":" + std::to_string(++number);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const Json json = core::parse_json(line, where);
    const JsonView view(json, where);
    if (std::exchange(has_header, true)) {
      transcript.entries.push_back(entry_from(view));
    } else {
      transcript.header = header_from(view);
    }
  }
  if (!has_header) throw core::InputError(file.string(), "is empty; a transcript has at least a header");
  return transcript;
}

void write_transcript(const Transcript& transcript, const std::filesystem::path& file) {
  const std::filesystem::path aside = file.string() + "." + std::to_string(::getpid()) + ".part";
  {
    std::ofstream out(aside, std::ios::binary);
    out << line_of(to_json(transcript.header));
    for (const TranscriptEntry& entry : transcript.entries) out << line_of(to_json(entry));
    out.flush();
    if (!out) throw core::SystemError("cannot write " + aside.string(), errno);
  }
  std::error_code error;
  std::filesystem::rename(aside, file, error);
  if (error) throw core::SystemError("cannot rename " + aside.string(), error.value());
}

namespace {

class ReplayModel : public Model {
 public:
  ReplayModel(std::string name, Transcript transcript) : name_(std::move(name)) {
    for (TranscriptEntry& entry : transcript.entries) {
      recorded_[entry.occasion.problem].push_back({entry.occasion.number, std::move(entry.answer)});
    }
    thread_ = std::thread([this] { run(); });
  }
  ~ReplayModel() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  const std::string& name() const override { return name_; }

  void ask(const Occasion& occasion, const Prompt&, const Sampling&, std::function<void(Answer)> answered) override {
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back({take(occasion), std::move(answered)});
    }
    changed_.notify_one();
  }

  // Does nothing: recorded answers are already complete.
  void cancel() override {}

 private:
  struct Recorded {
    int64_t number;
    std::optional<Answer> answer;  // nullopt: delivered
  };
  struct Asked {
    Answer answer;
    std::function<void(Answer)> answered;
  };

  Answer take(const Occasion& occasion) {
    Recorded* best = nullptr;
    for (Recorded& recorded : recorded_[occasion.problem]) {
      if (!recorded.answer) continue;
      if (recorded.number == occasion.number) {
        best = &recorded;
        break;
      }
      if (best == nullptr) best = &recorded;
    }
    if (best != nullptr) return *std::exchange(best->answer, std::nullopt);
    NoCompletion none;
    none.cause = NoCompletion::Cause::exhausted;
    none.what = name_ + " has no more replies for " + occasion.problem;
    return none;
  }

  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stopping_ || !asked_.empty(); });
      if (asked_.empty()) return;
      Asked next = std::move(asked_.front());
      asked_.pop_front();
      lock.unlock();
      next.answered(std::move(next.answer));
      lock.lock();
    }
  }

  std::string name_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::vector<Recorded>> recorded_;
  std::deque<Asked> asked_;
  bool stopping_ = false;
  std::thread thread_;
};
}  // namespace

std::unique_ptr<Model> replay_model(std::string name, Transcript transcript) {
  return std::make_unique<ReplayModel>(std::move(name), std::move(transcript));
}

}  // namespace agent::models
