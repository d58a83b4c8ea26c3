// torch_worker.py speaks the candidate processes' protocol, descriptors both ways. PyTorch itself and the driver are
// stood in for (torch_worker_fixture.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "sandbox/process/worker.h"

namespace verifier::devices::torch {
namespace {
using core::Json;
using sandbox::process::Channel;
using sandbox::process::Message;
using testing::HasSubstr;
constexpr auto kDeadline = std::chrono::seconds(60);  // a sanitizer's build on a busy machine

// Memory that the judge would lend, with the values of a tensor at an offset.
class Lent {
 public:
  explicit Lent(const std::vector<float>& values) : file_(sandbox::process::make_memory_file("lent", kBytes)) {
    at_ = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    if (at_ == MAP_FAILED) throw std::runtime_error("no memory for a test");
    set(values);
  }
  ~Lent() { ::munmap(at_, kBytes); }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  int fd() const { return file_.get(); }
  void set(const std::vector<float>& values) { std::memcpy(begin(), values.data(), values.size() * sizeof(float)); }
  std::vector<float> values(size_t count) const {
    std::vector<float> all(count);
    std::memcpy(all.data(), begin(), count * sizeof(float));
    return all;
  }
  static Json entry(const std::string& name, size_t slot, bool writable) {
    return {{"name", name},         {"slot", slot},      {"bytes", 12},
            {"writable", writable}, {"offset", kOffset}, {"mapped_bytes", kBytes}};
  }

 private:
  static constexpr size_t kBytes = 4096, kOffset = 256;
  char* begin() const { return static_cast<char*>(at_) + kOffset; }

  core::UniqueFd file_;
  void* at_;
};

class TorchWorker : public testing::Test {
 protected:
  // Opens a candidate process that computes this.
  void open(const std::string& expression, bool compile = false) {
    Message opened = worker_.request({{"op", "open"}, {"expression", expression}, {"compile", compile}}, {}, kDeadline);
    ASSERT_EQ(opened.fds.size(), 1u);
    process_ = opened.json.at("process").get<int>();
    judge_ = Channel(std::move(opened.fds[0]));
    const auto greeting = judge_.receive(std::chrono::steady_clock::now() + kDeadline);
    ASSERT_TRUE(greeting && greeting->json.contains("loaded"));
  }
  Json ask(const Json& request, const std::vector<int>& fds = {}) {
    judge_.send(request, fds);
    auto answer = judge_.receive(std::chrono::steady_clock::now() + kDeadline);
    return answer ? std::move(answer->json) : Json();
  }
  // y of two slots from a and b; a workspace is lent, too, as plans have them.
  Json map_two_slots() {
    const Json three = Json::array({3});
    return ask({{"op", "map"},
                {"buffers",
                 {Lent::entry("a", 0, false), Lent::entry("b", 0, false), Lent::entry("y", 0, true),
                  Lent::entry("partial", 0, true), Lent::entry("a", 1, false), Lent::entry("b", 1, false),
                  Lent::entry("y", 1, true)}},
                {"axes", {{"N", 3}}},
                {"tensors",
                 {{"a", {{"role", "input"}, {"dtype", "f32"}, {"shape", three}}},
                  {"b", {{"role", "input"}, {"dtype", "f32"}, {"shape", three}}},
                  {"y", {{"role", "output"}, {"dtype", "f32"}, {"shape", three}}}}}},
               {a_.fd(), b_.fd(), y_.fd(), workspace_.fd(), b_.fd(), b_.fd(), z_.fd()});
  }
  std::string fault_of(const std::string& expression) {
    open(expression);
    EXPECT_EQ(map_two_slots(), Json({{"ok", true}}));
    const Json answer = ask({{"op", "plan"}, {"launches", Json::array()}});
    judge_ = Channel();
    worker_.request({{"op", "close"}, {"process", process_}}, {}, kDeadline);
    return answer.contains("fault") ? answer.at("fault").at("message").get<std::string>() : answer.dump();
  }

  sandbox::process::Worker worker_ =
      sandbox::process::Worker::start({"/usr/bin/env",
                                       {std::string("PATH=") + std::getenv("PATH"), "python3", "-B",
                                        KW_SOURCE_FOLDER "/verifier/devices/torch/torch_worker_fixture.py"},
                                       {}});
  Channel judge_;
  int process_ = 0;
  Lent a_{{1, 2, 3}}, b_{{10, 20, 30}}, y_{{-1, -1, -1}}, z_{{-1, -1, -1}}, workspace_{{7, 7, 7}};
};

TEST_F(TorchWorker, ComputesWhereTheJudgeLent) {
  EXPECT_EQ(worker_.greeting(), Json({{"role", "library"}}));
  for (const bool compile : {false, true}) {
    open("a + F.double(b)", compile);
    ASSERT_EQ(map_two_slots(), Json({{"ok", true}}));
    ASSERT_EQ(ask({{"op", "plan"}, {"launches", Json::array()}}), Json({{"ok", true}}));
    EXPECT_THAT(y_.values(3), testing::ElementsAre(-1, -1, -1)) << "warmed up on memory that is not its own";
    const Json one = ask({{"op", "go"}, {"slots", 1}, {"hot", false}});
    EXPECT_EQ(one, Json({{"ok", true}, {"us", 1.0}, {"gated", true}}));
    EXPECT_THAT(y_.values(3), testing::ElementsAre(21, 42, 63));
    EXPECT_THAT(z_.values(3), testing::ElementsAre(-1, -1, -1));
    ask({{"op", "go"}, {"slots", 2}, {"hot", false}});
    EXPECT_THAT(z_.values(3), testing::ElementsAre(30, 60, 90));
    EXPECT_TRUE(ask({{"op", "ping"}}).contains("us"));
    EXPECT_THAT(workspace_.values(3), testing::ElementsAre(7, 7, 7));
    judge_ = Channel();  // the candidate process ends, the worker goes on
    EXPECT_EQ(worker_.request({{"op", "close"}, {"process", process_}}, {}, kDeadline).json, Json({{"killed", true}}));
    y_.set({-1, -1, -1});
    z_.set({-1, -1, -1});
  }
}

TEST_F(TorchWorker, SaysWhatItCannotCompute) {
  EXPECT_THAT(fault_of("a +"), HasSubstr("the expression is no Python"));
  EXPECT_THAT(fault_of("(lambda: a)()"), HasSubstr("holds a Lambda"));
  EXPECT_THAT(fault_of("open('/etc/passwd')"), HasSubstr("names open, which is neither an input"));
  EXPECT_THAT(fault_of("a._secret"), HasSubstr("asks for _secret"));
  EXPECT_THAT(fault_of("torch.fail(a)"), HasSubstr("PyTorch: RuntimeError: out of memory"));
  EXPECT_THAT(fault_of("(a + b, a)"), HasSubstr("gives 2 tensors, and the problem has 1 outputs"));
  EXPECT_THAT(fault_of("(a + b).to(torch.float64)"), HasSubstr("y comes as float64 [3] instead of float32 [3]"));
  EXPECT_THAT(fault_of("a.alias()"), HasSubstr("y is a view"));
}

TEST_F(TorchWorker, KnowsWhetherThereIsPyTorch) {
  const Json about = worker_.request({{"op", "about"}}, {}, kDeadline).json;
  EXPECT_NE(about.contains("torch"), about.contains("missing")) << about;
}

}  // namespace
}  // namespace verifier::devices::torch
