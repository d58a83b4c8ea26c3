// The pool survives any answer of a compile worker that a candidate has taken over.
#include "sandbox/compile_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace sandbox {
namespace {
using testing::HasSubstr;

// Greets, then gives one of `answers` per request. A file counts the requests, so that a replacement worker continues
// with the next answer.
constexpr const char* kTakenOver = R"py(
import array, json, os, socket, struct, sys, time
folder, answers = sys.argv[1], sys.argv[2].split(",")
owner = socket.socket(fileno=3)
def say(text, fds=()):
  head = struct.pack("<II", len(text), len(fds))
  rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
  owner.sendmsg([head + text], rights)
def hear():
  head = owner.recv(8, socket.MSG_WAITALL)
  if len(head) < 8: sys.exit(0)
  owner.recv(struct.unpack("<II", head)[0], socket.MSG_WAITALL)
say(b'{"role": "compile", "deadline_s": 1}' if "late" in answers else b'{"role": "compile"}')
built = b'{"log": "", "compile_ms": 1, "kernels": {}}'
while True:
  hear()
  count = os.path.getsize(folder + "/tries") if os.path.exists(folder + "/tries") else 0
  with open(folder + "/tries", "a") as tries: tries.write(".")
  kind = answers[count]
  if kind == "other": say(b'{"what": "ever"}')
  elif kind == "reason": say(b'{"rejected": "because", "message": "", "line": null, "log": ""}')
  elif kind == "nothing": say(built)
  elif kind == "unsealed": say(built, [os.memfd_create("binary")])
  elif kind == "text": say(b'not JSON')
  elif kind == "late":
    time.sleep(3)
    say(built)
  else: say(b'{"rejected": "compile_error", "message": "as usual", "line": 1, "log": ""}')
)py";

// Such a worker, and a folder of its own.
class TakenOver {
 public:
  explicit TakenOver(const std::string& answers) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/worker.py") << kTakenOver;
    pool_.emplace(process::WorkerCommand{"/usr/bin/env", {"python3", folder_ + "/worker.py", folder_, answers}, {}}, 1);
  }
  ~TakenOver() {
    pool_.reset();
    std::filesystem::remove_all(folder_);
  }
  Rejected compile(std::optional<std::chrono::seconds> deadline = {}) {
    return std::get<Rejected>(pool_->submit({"k.cu", "", {}, Build::fast}, deadline).get());
  }

 private:
  const std::string folder_ = testing::TempDir() + "/kernelwright-taken-over-" + std::to_string(::getpid());
  std::optional<CompilePool> pool_;
};

TEST(CompilePool, AnAnswerWithoutSenseIsHeldAgainstTheCandidateAndEndsTheWorker) {
  TakenOver worker("other,usual,reason,nothing,unsealed,text,usual");
  for (const char* what : {"other", "usual", "reason", "nothing", "unsealed", "text", "usual"}) {
    const Rejected rejected = worker.compile();
    if (std::string(what) == "usual") {
      EXPECT_EQ(rejected.message, "as usual");
      continue;
    }
    EXPECT_EQ(rejected.reason, Rejection::limit) << what;
    EXPECT_THAT(rejected.message, HasSubstr("compiling it ")) << what;
  }
}

TEST(CompilePool, OnesOwnDeadlineHoldsInPlaceOfTheWorkers) {
  TakenOver worker("late,late");
  EXPECT_THAT(worker.compile().message, HasSubstr("compiling took longer than 1 s"));
  EXPECT_THAT(worker.compile(std::chrono::seconds(60)).message, HasSubstr("meaningless answer"));
}

}  // namespace
}  // namespace sandbox
