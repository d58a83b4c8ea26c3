// CandidateProcesses that do what no honest candidate process does: their judge must get the truth, or nothing.
#include "sandbox/cpu/run/candidate_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <sstream>
#include <thread>

#include "core/error.h"
#include "sandbox/cpu/run/candidate_process.h"
#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu::run {
namespace {
using core::Json;
using namespace std::chrono_literals;

void stop() { ::raise(SIGSTOP); }
bool is_stopped(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::stringstream text;
  text << file.rdbuf();
  return text.str().find(") T ") != std::string::npos;
}

// A process that holds candidate processes as a run worker does, with its owner's end here.
class Holder {
 public:
  explicit Holder(const CandidateProcesses::Serve& serve) {
    auto [ours, theirs] = process::Channel::make_pair();
    pid_ = ::fork();
    if (pid_ == 0) {
      ours = process::Channel();
      try {
        CandidateProcesses processes(theirs, serve);
        while (true) {
          processes.serve_judges();
          process::Message request = theirs.receive();
          if (request.json.at("op") == "open") {
            processes.open(std::move(request));
          } else {
            processes.close(request.json.at("process").get<int>());
          }
        }
      } catch (const std::exception&) {
        ::_exit(0);
      }
    }
    owner_ = std::move(ours);
  }
  ~Holder() {
    owner_ = process::Channel();
    ::waitpid(pid_, nullptr, 0);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  // The judge's end of a new candidate process.
  process::Channel open(int binary_fd) {
    owner_.send({{"op", "open"}, {"build", "fast"}}, {binary_fd});
    process::Message answer = owner_.receive();
    process_ = answer.json.at("process").get<int>();
    return process::Channel(std::move(answer.fds.at(0)));
  }
  Json close() {
    owner_.send({{"op", "close"}, {"process", process_}});
    return owner_.receive().json;
  }
  int process() const { return process_; }

 private:
  pid_t pid_ = -1;
  process::Channel owner_;
  int process_ = 0;
};

std::optional<process::Message> ask(process::Channel& judge, const char* op) {
  judge.send({{"op", op}});
  return judge.receive(std::chrono::steady_clock::now() + 5s);
}
core::UniqueFd any_file() { return process::make_memory_file("test", 1); }

// Greets and stops as a candidate process does, then answers each request by `answer`.
CandidateProcesses::Serve dishonest(const std::function<void(process::Channel&)>& answer) {
  return [answer](process::Channel worker, const core::UniqueFd&, Build) {
    worker.send({{"loaded", true}});
    stop();
    while (true) {
      worker.receive();
      answer(worker);
    }
  };
}

// Keeps a processor busy for so long.
void work_for(std::chrono::microseconds time) {
  const auto spent = [] { return std::clock() * 1e6 / CLOCKS_PER_SEC; };
  const double begin = spent();
  while (spent() - begin < static_cast<double>(time.count())) {
  }
}

TEST(CandidateProcesses, StandStillBetweenRequests) {
  const Built kernel = test::built(R"(extern "C" __global__ void k(float* y) { y[0] = 1; })");
  Holder holder([](process::Channel worker, core::UniqueFd file, Build build) {
    serve_candidate(std::move(worker), std::move(file), build, CandidateLimits{});
  });
  process::Channel judge = holder.open(kernel.binary.get());
  ASSERT_TRUE(judge.receive().json.contains("loaded"));
  EXPECT_TRUE(is_stopped(holder.process()));
  for (int i = 0; i < 3; ++i) {
    const auto answer = ask(judge, "ping");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->json.at("ok"), true);
    EXPECT_TRUE(is_stopped(holder.process()));
  }
  EXPECT_TRUE(holder.close().contains("killed"));
}

TEST(CandidateProcesses, WhoeverAnswersEarlyIsTimedUntilItStops) {
  Holder holder(dishonest([](process::Channel& worker) {
    worker.send({{"ok", true}});
    work_for(30ms);
    stop();
  }));
  process::Channel judge = holder.open(any_file().get());
  ASSERT_TRUE(judge.receive().json.contains("loaded"));
  for (int i = 0; i < 2; ++i) {
    const auto answer = ask(judge, "go");
    ASSERT_TRUE(answer);
    EXPECT_GE(answer->json.at("elapsed_us").get<double>(), 30e3);
    EXPECT_TRUE(is_stopped(holder.process()));
  }
}

TEST(CandidateProcesses, TheTimeIsNotTheCandidatesToTell) {
  Holder holder(dishonest([](process::Channel& worker) {
    work_for(10ms);
    worker.send({{"ok", true}, {"elapsed_us", 1.0}});
    stop();
  }));
  process::Channel judge = holder.open(any_file().get());
  judge.receive();
  EXPECT_GE(ask(judge, "go")->json.at("elapsed_us").get<double>(), 10e3);
}

// Other programs on this host make a candidate process wait, each launch of it for another while.
TEST(CandidateProcesses, OnlyWhatAProcessorSpentCounts) {
  Holder holder(dishonest([](process::Channel& worker) {
    std::this_thread::sleep_for(200ms);
    worker.send({{"ok", true}});
    stop();
  }));
  process::Channel judge = holder.open(any_file().get());
  judge.receive();
  EXPECT_LT(ask(judge, "go")->json.at("elapsed_us").get<double>(), 100e3);
}

TEST(CandidateProcesses, WhoeverBreaksTheProtocolIsHeardNoMore) {
  const auto twice = [](process::Channel& worker) {
    worker.send({{"ok", true}});
    worker.send({{"ok", true}});  // the second one for the launch to come
    stop();
  };
  const auto silent = [](process::Channel&) { stop(); };
  const auto descriptors = [](process::Channel& worker) {
    worker.send({{"ok", true}}, {0});
    stop();
  };
  const auto half = [](process::Channel& worker) {
    const char part[] = {100, 0, 0, 0};
    EXPECT_EQ(::write(worker.fd(), part, sizeof part), 4);
    stop();
  };
  const auto no_object = [](process::Channel& worker) {
    worker.send(Json::array({1}));
    stop();
  };
  for (const std::function<void(process::Channel&)>& answer :
       std::vector<std::function<void(process::Channel&)>>{twice, silent, descriptors, half, no_object}) {
    Holder holder(dishonest(answer));
    process::Channel judge = holder.open(any_file().get());
    ASSERT_TRUE(judge.receive().json.contains("loaded"));
    EXPECT_THROW(ask(judge, "go"), process::ChannelClosed);
    EXPECT_TRUE(holder.close().contains("killed"));
  }
}

// The run worker stays free for its owner.
TEST(CandidateProcesses, WhoeverDoesNotStopCanBeClosed) {
  Holder holder(dishonest([](process::Channel& worker) {
    worker.send({{"ok", true}});
    while (true) std::this_thread::sleep_for(1s);
  }));
  process::Channel judge = holder.open(any_file().get());
  judge.receive();
  judge.send({{"op", "go"}});
  EXPECT_FALSE(judge.receive(std::chrono::steady_clock::now() + 50ms));
  EXPECT_TRUE(holder.close().contains("killed"));
}

TEST(CandidateProcesses, HowACandidateProcessEndedIsItsOwnersToKnow) {
  Holder holder(dishonest([](process::Channel&) { ::_exit(3); }));
  process::Channel judge = holder.open(any_file().get());
  judge.receive();
  EXPECT_THROW(ask(judge, "go"), process::ChannelClosed);
  EXPECT_EQ(holder.close().at("exit"), 3);
}

}  // namespace
}  // namespace sandbox::cpu::run
