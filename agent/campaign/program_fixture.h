// For tests: runs the real program in a temporary home of its own.
#pragma once

#include <signal.h>
#include <sys/wait.h>

#include <boost/process.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/paths.h"
#include "core/text.h"

namespace agent::campaign::test {

struct Ended {
  int exit_code = 0;  // 128 + signal when it was killed
  std::string out, err;
};

// A folder with an archive and the temporary files of every program started in it; removed with its owner.
class Home {
 public:
  Home() {
    std::string name = (std::filesystem::temp_directory_path() / "kw_home_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for a test");
    folder_ = name;
    std::filesystem::create_directory(temporary());
  }
  ~Home() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  std::filesystem::path archive() const { return folder_ / "archive.db"; }
  std::filesystem::path temporary() const { return folder_ / "tmp"; }
  const std::filesystem::path& folder() const { return folder_; }

  std::map<std::string, std::string> variables;  // of the programs' environment, besides this process's own

  // Runs until the program ends, or sends `signal` after `delay`, which begins once the program has printed `text`.
  Ended run(const std::vector<std::string>& args, int signal = 0, std::chrono::milliseconds delay = {},
            const std::string& text = "") const {
    namespace bp = boost::process;
    const std::filesystem::path out = folder_ / "out", err = folder_ / "err";
    bp::environment environment = boost::this_process::environment();
    environment["TMPDIR"] = temporary().string();
    environment["XDG_DATA_HOME"] = folder_.string();
    for (const auto& [name, value] : variables) environment[name] = value;
    std::vector<std::string> all;
    if (args.empty() || args[0] != "--archive") all = {"--archive", archive().string()};
    all.insert(all.end(), args.begin(), args.end());
    for (const auto& file : {out, err}) std::filesystem::remove(file);
    bp::child child(bp::exe = (core::installed_paths().program_folder / "kernelwright").string(), bp::args = all,
                    environment, bp::std_in<bp::null, bp::std_out> out.string(), bp::std_err > err.string());
    if (signal != 0) {
      while (core::read_file(out).find(text) == std::string::npos && child.running()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
      std::this_thread::sleep_for(delay);
      if (child.running()) ::kill(child.id(), signal);
    }
    child.wait();
    const int status = child.native_exit_code();
    const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return {code, core::read_file(out), core::read_file(err)};
  }

  // Command lines of living processes that were started with this home's temporary folder.
  std::vector<std::string> leftover_processes() const {
    std::vector<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::ifstream file(entry.path() / "cmdline", std::ios::binary);
      std::string line((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      if (line.find(folder_.string()) != std::string::npos) left.push_back(line);
    }
    return left;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace agent::campaign::test
