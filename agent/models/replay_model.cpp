#include "agent/models/replay_model.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace agent {
namespace {

class ReplayModel : public Model {
 public:
  ReplayModel(std::string name, Transcript transcript) : name_(std::move(name)) {
    for (Exchange& exchange : transcript.exchanges) {
      recorded_[exchange.occasion.problem].push_back({exchange.occasion.number, std::move(exchange.answer)});
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

  // What was asked keeps its answer: that is complete already.
  void cancel() override {}

 private:
  struct Recorded {
    int64_t number;
    std::optional<Answer> answer;  // nullopt: given
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

}  // namespace agent
