// The pool survives any answer of a compile worker that a candidate has taken over.
#include "sandbox/compile_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace sandbox {
namespace {
using testing::HasSubstr;

// Greets, then gives one of `answers` per request. A file counts the requests, so that a replacement worker continues
// with the next answer.
constexpr const char* kTakenOver = R"py(
import array, json, os, socket, struct, sys
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
say(b'{"role": "compile"}')
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
  else: say(b'{"rejected": "compile_error", "message": "as usual", "line": 1, "log": ""}')
)py";

TEST(CompilePool, AnAnswerWithoutSenseIsHeldAgainstTheCandidateAndEndsTheWorker) {
  const std::string folder = testing::TempDir() + "/kernelwright-taken-over-" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/worker.py") << kTakenOver;
  process::WorkerCommand command{
      "/usr/bin/env", {"python3", folder + "/worker.py", folder, "other,usual,reason,nothing,unsealed,text,usual"}, {}};
  {
    CompilePool pool(command, 1);
    const auto compile = [&] { return std::get<Rejected>(pool.submit({"k.cu", "", {}, Build::fast}).get()); };
    for (const char* what : {"other", "usual", "reason", "nothing", "unsealed", "text", "usual"}) {
      const Rejected rejected = compile();
      if (std::string(what) == "usual") {
        EXPECT_EQ(rejected.message, "as usual");
        continue;
      }
      EXPECT_EQ(rejected.reason, Rejection::limit) << what;
      EXPECT_THAT(rejected.message, HasSubstr("compiling it ")) << what;
    }
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sandbox
