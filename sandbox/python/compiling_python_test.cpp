// The jail of a Python that starts compilers: a script in it tries what it may do and what it may not.
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "core/paths.h"
#include "sandbox/jail/jail_fixture.h"
#include "sandbox/process/worker.h"
#include "sandbox/python/python_role.h"

namespace sandbox::python {
namespace {
namespace fs = std::filesystem;
using jail::AbstractSocket;

// Prints what went otherwise than it should, and exits with 1 then.
constexpr const char* kAttempts = R"python(
import ctypes, json, os, signal, socket, subprocess, sys

scratch, beside, port, landlock = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "1"
wrong = []

def refused(what, attempt):
    try:
        attempt()
        wrong.append(what + " works")
    except (OSError, subprocess.CalledProcessError):
        pass

with open(scratch + "/seven.c", "w") as file:
    file.write("#include <stdio.h>\nint seven(void) { return EOF + 8; }\n")
built = subprocess.run(["cc", "-shared", "-fPIC", "-o", scratch + "/seven.so", scratch + "/seven.c"], capture_output=True,
                       text=True)
if built.returncode != 0:
    wrong.append("cc fails: " + built.stderr)
elif ctypes.CDLL(scratch + "/seven.so").seven() != 7:
    wrong.append("what cc made gives another number")
found = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True)
if "libc.so" not in found.stdout:
    wrong.append("ldconfig finds nothing: " + found.stderr)
os.rename(scratch + "/seven.c", scratch + "/eight.c")
subprocess.run([sys.executable, "-c", "pass"], check=True)

def forked(call):
    child = os.fork()
    if child == 0:
        try:
            call()
            os._exit(0)
        except OSError:
            os._exit(1)
    if os.waitpid(child, 0)[1] != 0:
        raise OSError

refused("a socket", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).connect(("127.0.0.1", port)))
refused("a socket of a child's",
        lambda: forked(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).connect(("127.0.0.1", port))))
refused("a local socket", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).connect("\0" + sys.argv[5]))
refused("another session", lambda: forked(os.setsid))
refused("another process group", lambda: forked(lambda: os.setpgid(0, 0)))
refused("a signal", lambda: os.kill(os.getppid() or 1, 0))
refused("namespaces", lambda: forked(lambda: ctypes.CDLL(None, use_errno=True).unshare(0x10000000) == 0 or
                                             (_ for _ in ()).throw(OSError())))
if landlock:
    refused("writing beside", lambda: open(beside, "w"))
    refused("writing beside by a child", lambda: subprocess.run(["cp", "/etc/ld.so.cache", beside], check=True,
                                                                stderr=subprocess.DEVNULL))
    refused("reading /etc/passwd", lambda: open("/etc/passwd"))
    refused("listing /", lambda: os.listdir("/"))
    if json.loads(sys.argv[-1])["sandbox_level"] < 2:
        wrong.append("Landlock is there and not reported")
    refused("listing the folder around it", lambda: os.listdir(os.path.dirname(scratch)))
for what in wrong:
    print("in the jail:", what, file=sys.stderr)
sys.exit(1 if wrong else 0)
)python";

fs::path python() {
  for (const char* place : {"/usr/bin/python3", "/usr/local/bin/python3"}) {
    if (fs::exists(place)) return place;
  }
  return {};
}

// Folders of a test: one to write to, and a name beside it.
class Folders {
 public:
  Folders() {
    std::string name = (fs::temp_directory_path() / "kw_jail_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for a test");
    parent_ = name;
    fs::create_directory(scratch());
  }
  ~Folders() { fs::remove_all(parent_); }
  Folders(const Folders&) = delete;
  Folders& operator=(const Folders&) = delete;
  fs::path scratch() const { return parent_ / "scratch"; }
  fs::path beside() const { return parent_ / "beside"; }

 private:
  fs::path parent_;
};

std::vector<std::string> environment(const fs::path& scratch) {
  return {"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG=C.UTF-8", "HOME=" + scratch.string(),
          "TMPDIR=" + scratch.string()};
}

// Listens on a port of this host.
class LocalPort {
 public:
  LocalPort() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    const bool listens = ::bind(fd_, any, size) == 0 && ::listen(fd_, 4) == 0;
    if (listens && ::getsockname(fd_, any, &size) == 0) port_ = ntohs(address.sin_port);
  }
  ~LocalPort() { ::close(fd_); }
  LocalPort(const LocalPort&) = delete;
  LocalPort& operator=(const LocalPort&) = delete;
  int port() const { return port_; }  // 0: it could not listen

 private:
  int fd_, port_ = 0;
};

class CompilingPython : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (python().empty()) GTEST_SKIP() << "there is no python3";
  }
  Folders folders_;
};

TEST_P(CompilingPython, CompilesAndReachesNothingElse) {
  const AbstractSocket socket;
  const LocalPort port;
  ASSERT_TRUE(socket.listens() && port.port() > 0);
  PythonRoleSettings settings;
  settings.interpreter = python();
  settings.gpu = GetParam();
  settings.scratch = folders_.scratch();
  settings.environment = environment(folders_.scratch());
  settings.arguments = {"-B",
                        "-c",
                        kAttempts,
                        folders_.scratch().string(),
                        folders_.beside().string(),
                        std::to_string(port.port()),
                        jail::host_has_landlock() ? "1" : "0",
                        "kernelwright-test-" + std::to_string(::getpid())};
  EXPECT_EQ(jail::exit_of_child([&]() -> int { become_python(settings); }), 0);
  EXPECT_TRUE(fs::exists(folders_.scratch() / "eight.c"));
  EXPECT_FALSE(fs::exists(folders_.beside()));
}

// Starts a process, greets, and stays.
constexpr const char* kSleeper = R"python(
import socket, struct, subprocess, sys, time

started = subprocess.Popen(["sleep", "300"])
text = sys.argv[-1].encode()
socket.socket(fileno=3).sendall(struct.pack("<II", len(text), 0) + text)
time.sleep(300)
)python";

process::WorkerCommand sleeper(const fs::path& scratch, bool gpu) {
  const core::Paths paths = core::installed_paths();
  std::vector<std::string> args{"--device-headers", paths.device_headers().string(),      "--role",
                                "python",           "--interpreter=" + python().string(), "--scratch",
                                scratch.string()};
  for (const std::string& argument : {std::string("-B"), std::string("-c"), std::string(kSleeper), scratch.string()}) {
    args.push_back("--argument=" + argument);
  }
  for (const std::string& variable : environment(scratch)) args.push_back("--variable=" + variable);
  if (gpu) args.emplace_back("--gpu");
  return {paths.worker("cpu"), std::move(args), {}};
}

// Processes of a group. A process that ended and that nobody waited for does not count.
int processes_in(int group) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (!std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; })) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    const size_t after = text.rfind(')');
    char state = 0;
    int parent = 0, its_group = 0;
    if (after == std::string::npos ||
        std::sscanf(text.c_str() + after + 1, " %c %d %d", &state, &parent, &its_group) != 3)
      continue;
    count += its_group == group && state != 'Z' && state != 'X' ? 1 : 0;
  }
  return count;
}

bool empties(int group) {
  for (int i = 0; i < 200 && processes_in(group) > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(25));
  return processes_in(group) == 0;
}

TEST_P(CompilingPython, WhatItStartedEndsWithIt) {
  std::optional<process::Worker> worker = process::Worker::start(sleeper(folders_.scratch(), GetParam()));
  const int group = worker->pid();
  EXPECT_EQ(processes_in(group), 3);  // who waits outside, Python, and what it started
  worker.reset();
  EXPECT_TRUE(empties(group));
}

TEST_P(CompilingPython, WhatItStartedEndsWithItsOwner) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const int status = jail::status_of_child([&]() -> int {
    const process::Worker worker = process::Worker::start(sleeper(folders_.scratch(), GetParam()));
    const int group = worker.pid();
    if (processes_in(group) != 3 || ::write(ends[1], &group, sizeof group) != sizeof group) return 1;
    ::kill(::getpid(), SIGKILL);
    return 1;
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  ::close(ends[1]);
  int group = 0;
  ASSERT_EQ(::read(ends[0], &group, sizeof group), static_cast<ssize_t>(sizeof group));
  ::close(ends[0]);
  EXPECT_TRUE(empties(group));
}

INSTANTIATE_TEST_SUITE_P(OnGpusAndElsewhere, CompilingPython, testing::Bool(),
                         [](const auto& one) { return one.param ? "Gpu" : "Cpu"; });

}  // namespace
}  // namespace sandbox::python
