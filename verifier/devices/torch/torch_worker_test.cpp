// torch_worker.py, and reference_worker.py for torch.compile, speak the candidate processes' protocol, descriptors both
// ways. PyTorch itself and the driver are stood in for (torch_worker_fixture.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
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
  static Json entry(const std::string& name, size_t slot, bool writable, bool kept, const std::string& memory = "") {
    return {{"name", name},      {"memory", memory.empty() ? name + std::to_string(slot) : memory},
            {"kept", kept},      {"slot", slot},
            {"bytes", 12},       {"writable", writable},
            {"offset", kOffset}, {"mapped_bytes", kBytes}};
  }

 private:
  static constexpr size_t kBytes = 4096, kOffset = 256;
  char* begin() const { return static_cast<char*>(at_) + kOffset; }

  core::UniqueFd file_;
  void* at_;
};

class TorchWorker : public testing::Test {
 protected:
  explicit TorchWorker(const std::vector<std::string>& arguments = {}) : worker_(start(arguments)) {}

  static sandbox::process::Worker start(const std::vector<std::string>& arguments) {
    std::vector<std::string> all{std::string("PATH=") + std::getenv("PATH"), "python3", "-B",
                                 KW_SOURCE_FOLDER "/verifier/devices/torch/torch_worker_fixture.py"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return sandbox::process::Worker::start({"/usr/bin/env", all, {}});
  }
  // Opens a candidate process that computes this.
  void open(const std::string& equivalent, const std::string& mode = "", const std::string& file = "") {
    Json request{{"op", "open"}, {"equivalent", equivalent}};
    if (!mode.empty()) request["compile"] = mode;
    if (!file.empty()) request["file"] = file;
    open_with(request);
  }
  void open_with(const Json& request) {
    Message opened = worker_.request(request, {}, kDeadline);
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
  // y from a and b.
  Json map(const Json& buffers, const std::vector<int>& fds, bool given = false) {
    const Json three = Json::array({3});
    Json request{{"op", "map"},
                 {"buffers", buffers},
                 {"axes", {{"N", 3}}},
                 {"scalars", {{"pick", 1}}},
                 {"tensors",
                  {{"a", {{"role", "input"}, {"dtype", "f32"}, {"shape", three}}},
                   {"b", {{"role", "input"}, {"dtype", "f32"}, {"shape", three}}},
                   {"y", {{"role", "output"}, {"dtype", "f32"}, {"shape", three}}}}}};
    if (given) request["tensors"]["b"]["given"] = true;
    return ask(request, fds);
  }
  // In two slots; a workspace is lent, too, as plans have them. `kept`: all but the second slot's y are mapped already.
  Json map_two_slots(bool given = false, bool kept = false) {
    const std::vector<int> all{a_.fd(), b_.fd(), y_.fd(), workspace_.fd(), b_.fd(), b_.fd(), z_.fd()};
    return map({Lent::entry("a", 0, false, kept), Lent::entry("b", 0, false, kept), Lent::entry("y", 0, true, kept),
                Lent::entry("partial", 0, true, kept), Lent::entry("a", 1, false, kept),
                Lent::entry("b", 1, false, kept), Lent::entry("y", 1, true, false)},
               kept ? std::vector<int>{z_.fd()} : all, given);
  }
  std::string fault_of(const std::string& equivalent, const std::string& mode = "", const std::string& file = "") {
    open(equivalent, mode, file);
    return fault_of_opened();
  }
  std::string fault_of_opened() {
    EXPECT_EQ(map_two_slots(), Json({{"ok", true}}));
    const Json answer = ask({{"op", "plan"}, {"launches", Json::array()}});
    judge_ = Channel();
    worker_.request({{"op", "close"}, {"process", process_}}, {}, kDeadline);
    return answer.contains("fault") ? answer.at("fault").at("message").get<std::string>() : answer.dump();
  }

  sandbox::process::Worker worker_;
  Channel judge_;
  int process_ = 0;
  Lent a_{{1, 2, 3}}, b_{{10, 20, 30}}, y_{{-1, -1, -1}}, z_{{-1, -1, -1}}, workspace_{{7, 7, 7}};
};

TEST_F(TorchWorker, ComputesWhereTheJudgeLent) {
  EXPECT_EQ(worker_.greeting(), Json({{"role", "library"}}));
  for (const char* mode : {"", "default", "reduce-overhead"}) {  // the last one's outputs are overwritten by each call
    open("a + F.double(b)", mode);
    ASSERT_EQ(map_two_slots(), Json({{"ok", true}}));
    ASSERT_EQ(ask({{"op", "plan"}, {"launches", Json::array()}}), Json({{"ok", true}}));
    EXPECT_THAT(y_.values(3), testing::ElementsAre(-1, -1, -1)) << "warmed up on memory that is not its own";
    const Json one = ask({{"op", "go"}, {"slots", 1}, {"hot", false}});
    EXPECT_EQ(one, Json({{"ok", true}, {"us", 1.0}, {"gated", true}}));
    EXPECT_THAT(y_.values(3), testing::ElementsAre(21, 42, 63));
    EXPECT_THAT(z_.values(3), testing::ElementsAre(-1, -1, -1));
    ask({{"op", "go"}, {"slots", 2}, {"hot", false}});
    EXPECT_THAT(z_.values(3), testing::ElementsAre(30, 60, 90)) << mode;
    EXPECT_THAT(y_.values(3), testing::ElementsAre(21, 42, 63)) << mode;
    EXPECT_TRUE(ask({{"op", "ping"}}).contains("us"));
    z_.set({-1, -1, -1});
    ASSERT_EQ(map_two_slots(false, true), Json({{"ok", true}}));  // with what is mapped already
    ASSERT_EQ(ask({{"op", "plan"}, {"launches", Json::array()}}), Json({{"ok", true}}));
    a_.set({2, 2, 3});
    ask({{"op", "go"}, {"slots", 2}, {"hot", false}});
    EXPECT_THAT(y_.values(3), testing::ElementsAre(22, 42, 63)) << mode;
    EXPECT_THAT(z_.values(3), testing::ElementsAre(30, 60, 90)) << mode;
    a_.set({1, 2, 3});
    EXPECT_THAT(workspace_.values(3), testing::ElementsAre(7, 7, 7));
    const Json again{Lent::entry("a", 0, false, true), Lent::entry("b", 0, false, true),
                     Lent::entry("y", 0, true, true, "partial0")};  // what was a workspace
    ASSERT_EQ(map(again, {}), Json({{"ok", true}}));
    ASSERT_EQ(ask({{"op", "plan"}, {"launches", Json::array()}}), Json({{"ok", true}}));
    ask({{"op", "go"}, {"slots", 1}, {"hot", false}});
    EXPECT_THAT(workspace_.values(3), testing::ElementsAre(21, 42, 63)) << mode;
    workspace_.set({7, 7, 7});
    judge_ = Channel();  // the candidate process ends, the worker goes on
    EXPECT_EQ(worker_.request({{"op", "close"}, {"process", process_}}, {}, kDeadline).json, Json({{"killed", true}}));
    y_.set({-1, -1, -1});
    z_.set({-1, -1, -1});
  }
}

TEST_F(TorchWorker, ComputesFunctions) {
  const std::string head = "def equivalent(b, N, a):\n";
  for (const std::string body : {"  y = F.double(b)\n  return a + y\n", "  return {'y': a + b + b}\n",
                                 "  for i in range(N - 1):\n    a = a + b\n  return (a,)\n",
                                 "  if N > 3 and b:\n    return b\n  y = a + b\n  y += b\n  return y\n"}) {
    open(head + body);
    ASSERT_EQ(map_two_slots(), Json({{"ok", true}}));
    ASSERT_EQ(ask({{"op", "plan"}, {"launches", Json::array()}}), Json({{"ok", true}})) << body;
    ask({{"op", "go"}, {"slots", 1}, {"hot", false}});
    EXPECT_THAT(y_.values(3), testing::ElementsAre(21, 42, 63)) << body;
    judge_ = Channel();
    worker_.request({{"op", "close"}, {"process", process_}}, {}, kDeadline);
    y_.set({-1, -1, -1});
  }
}

TEST_F(TorchWorker, ComputesAFileOfTheUsers) {
  std::string folder = (std::filesystem::temp_directory_path() / "kw_library_XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string file = folder + "/ours.py";
  std::ofstream(folder + "/kw_neighbour.py") << "def twice(x):\n    return x + x\n";
  const auto fault_of_file = [&](const std::string& text) {
    std::ofstream(file) << text;
    return fault_of("", "", file);
  };
  EXPECT_EQ(fault_of_file("from kw_neighbour import twice\n\ndef equivalent(b, N, a):\n"
                          "    assert N == 3\n    return {'y': a + twice(b)}\n"),
            R"({"ok":true})");
  open("", "", file);
  map_two_slots();
  ask({{"op", "plan"}, {"launches", Json::array()}});
  ask({{"op", "go"}, {"slots", 1}, {"hot", false}});
  EXPECT_THAT(y_.values(3), testing::ElementsAre(21, 42, 63));
  judge_ = Channel();
  worker_.request({{"op", "close"}, {"process", process_}}, {}, kDeadline);
  EXPECT_THAT(fault_of_file("import kw_absent\n"), HasSubstr("ours.py does not load: ModuleNotFoundError: No module"));
  EXPECT_THAT(fault_of_file("def other(a):\n    return a\n"), HasSubstr("defines no function equivalent(...)"));
  EXPECT_THAT(fault_of_file("def equivalent(a, c):\n    return a\n"),
              HasSubstr("has the parameter c: its parameters are inputs, axes and scalars by name: a, b, N, pick"));
  EXPECT_THAT(fault_of_file("def equivalent(a):\n    return a.alias()\n"), HasSubstr("y is a view"));
  std::filesystem::remove_all(folder);
}

TEST_F(TorchWorker, RefusesFunctionsThatAreMoreThanPlainCode) {
  const auto function = [](const std::string& body) { return "def equivalent(a, b):\n  " + body + "\n"; };
  EXPECT_THAT(fault_of(function("return open('/etc/passwd')")), HasSubstr("names open, which is neither an input"));
  EXPECT_THAT(fault_of(function("import os")), HasSubstr("holds a Import"));
  EXPECT_THAT(fault_of(function("while a: b = a")), HasSubstr("holds a While"));
  EXPECT_THAT(fault_of(function("x = [x for x in a]")), HasSubstr("holds a ListComp"));
  EXPECT_THAT(fault_of(function("torch.fail = 1")), HasSubstr("assigns to a part"));
  EXPECT_THAT(fault_of(function("return a.__class__")), HasSubstr("asks for __class__"));
  EXPECT_THAT(fault_of(function("return a +")), HasSubstr("is no Python: invalid syntax (line 2)"));
  EXPECT_THAT(fault_of(function("return {'z': a}")), HasSubstr("gives z, and the outputs are y"));
  const std::string not_one = "is not one function \"def equivalent(...):\" of inputs, axes and scalars";
  EXPECT_THAT(fault_of("def other(a):\n  return a\n"), HasSubstr(not_one));
  EXPECT_THAT(fault_of("def equivalent(c):\n  return c\n"), HasSubstr(not_one));
  EXPECT_THAT(fault_of("def equivalent(a=open):\n  return a\n"), HasSubstr(not_one));
  EXPECT_THAT(fault_of("def equivalent(a) -> open:\n  return a\n"), HasSubstr(not_one));
  EXPECT_THAT(fault_of(function("return a") + "torch.fail(1)\n"), HasSubstr(not_one));
}

TEST_F(TorchWorker, KnowsScalarsByName) {
  open("[a, a + b][pick]");
  ASSERT_EQ(map_two_slots(), Json({{"ok", true}}));
  ASSERT_EQ(ask({{"op", "plan"}, {"launches", Json::array()}}), Json({{"ok", true}}));
  ask({{"op", "go"}, {"slots", 1}, {"hot", false}});
  EXPECT_THAT(y_.values(3), testing::ElementsAre(11, 22, 33));
}

TEST_F(TorchWorker, WarmsUpOnTheContentOfGivenInputs) {
  for (const bool given : {false, true}) {
    open("a + torch.valid(b)");
    ASSERT_EQ(map_two_slots(given), Json({{"ok", true}}));
    EXPECT_EQ(ask({{"op", "plan"}, {"launches", Json::array()}}).contains("ok"), given);
    judge_ = Channel();
    worker_.request({{"op", "close"}, {"process", process_}}, {}, kDeadline);
  }
}

TEST_F(TorchWorker, SaysWhatItCannotCompute) {
  EXPECT_THAT(fault_of("a +"), HasSubstr("the equivalent is no Python"));
  EXPECT_THAT(fault_of("(lambda: a)()"), HasSubstr("holds a Lambda"));
  EXPECT_THAT(fault_of("open('/etc/passwd')"), HasSubstr("names open, which is neither an input"));
  EXPECT_THAT(fault_of("a._secret"), HasSubstr("asks for _secret"));
  EXPECT_THAT(fault_of("torch.fail(a)"), HasSubstr("PyTorch: RuntimeError: out of memory"));
  EXPECT_THAT(fault_of("(a + b, a)"), HasSubstr("gives 2 tensors, and the problem has 1 outputs"));
  EXPECT_THAT(fault_of("(a + b).to(torch.float64)"), HasSubstr("y comes as float64 [3] instead of float32 [3]"));
  EXPECT_THAT(fault_of("a.alias()"), HasSubstr("y is a view"));
  EXPECT_THAT(fault_of("a + b", "max-autotune-no-cudagraphs"), HasSubstr("PyTorch: RuntimeError: no valid choices"));
}

TEST_F(TorchWorker, KnowsWhetherThereIsPyTorch) {
  const Json about = worker_.request({{"op", "about"}}, {}, kDeadline).json;
  EXPECT_NE(about.contains("torch"), about.contains("missing")) << about;
}

// torch.compile of forward(): whatever the plan says, and however reference.py is written.
class CompiledReference : public TorchWorker {
 protected:
  CompiledReference() : TorchWorker({"reference"}) {}

  void open_forward(const std::string& source, const std::string& mode = "default") {
    open_with({{"op", "open"},
               {"what", "compiled"},
               {"source", source},
               {"tf32", false},
               {"scalars", {{"pick", 1}}},
               {"mode", mode}});
  }
  std::string fault_of_forward(const std::string& source, const std::string& mode = "default") {
    open_forward(source, mode);
    return fault_of_opened();
  }
};

TEST_F(CompiledReference, ComputesWhereTheJudgeLent) {
  const std::string writes_to_its_input = "def forward(a, b, pick):\n    return b.add_(b).add_(a)\n";
  const std::string executes_a_module = R"python(
import types

def made():
    module = types.ModuleType("imported")
    exec("def twice(x): return x + x", module.__dict__)
    return module.twice

twice = made()

def forward(**inputs):
    return (inputs["a"] + twice(inputs["b"]),)
)python";
  for (const std::string& source : {writes_to_its_input, executes_a_module}) {
    for (const char* mode : {"default", "reduce-overhead"}) {
      open_forward(source, mode);
      ASSERT_EQ(map_two_slots(), Json({{"ok", true}}));
      ASSERT_EQ(ask({{"op", "plan"}, {"launches", Json::array()}}), Json({{"ok", true}})) << source;
      ask({{"op", "go"}, {"slots", 2}, {"hot", false}});
      EXPECT_THAT(y_.values(3), testing::ElementsAre(21, 42, 63)) << source;
      EXPECT_THAT(z_.values(3), testing::ElementsAre(30, 60, 90)) << source;
      EXPECT_THAT(b_.values(3), testing::ElementsAre(10, 20, 30)) << source;
      judge_ = Channel();
      EXPECT_EQ(worker_.request({{"op", "close"}, {"process", process_}}, {}, kDeadline).json,
                Json({{"killed", true}}));
      y_.set({-1, -1, -1});
      z_.set({-1, -1, -1});
    }
  }
}

TEST_F(CompiledReference, SaysWhatItCannotCompute) {
  const std::string sum = "def forward(a, b, pick):\n    return a + b\n";
  EXPECT_EQ(fault_of_forward(sum), R"({"ok":true})");
  EXPECT_EQ(fault_of_forward(sum, "max-autotune-no-cudagraphs"),
            "PyTorch: RuntimeError: no valid choices; written meanwhile: cc: no such header");
  EXPECT_EQ(fault_of_forward(sum), R"({"ok":true})");
  EXPECT_THAT(fault_of_forward("import kw_absent\n"), HasSubstr("reference.py does not load: ModuleNotFoundError"));
  EXPECT_THAT(fault_of_forward("def forward(a, b, pick):\n    return a, b\n"), HasSubstr("gives 2 tensors"));
  EXPECT_THAT(fault_of_forward("def forward(a, b, pick):\n    return a.alias()\n"), HasSubstr("y is a view"));
  EXPECT_THAT(fault_of_forward("def forward(a, b, pick):\n    return (a + b).to('float64')\n"),
              HasSubstr("y comes as float64 [3] instead of float32 [3]"));
}

}  // namespace
}  // namespace verifier::devices::torch
