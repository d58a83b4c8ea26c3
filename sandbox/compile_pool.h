// A pool of compile workers. Replaces lost workers.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/strict_json.h"
#include "sandbox/compilation.h"
#include "sandbox/process/worker.h"

namespace sandbox {

class CompilePool {
 public:
  // Starts `workers` processes of `command` ("--role compile --scratch <own folder>" is appended). Throws
  // core::SystemError if one does not start.
  CompilePool(const process::WorkerCommand& command, int workers);
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  // The future throws core::SystemError when a worker cannot be replaced or fails on our side. Rejected{limit}: the
  // compilation crashed its worker, ran out of time, or left the worker unusable. `deadline`: seconds of the wall
  // clock, in place of what the worker's greeting says.
  std::future<Compilation> submit(CompileRequest request, std::optional<std::chrono::seconds> deadline = {});
  // Calls `listener` after each compilation, on a thread of the pool; it must be quick. An empty listener removes the
  // former one: once this returns, the former is never called again.
  void on_compiled(std::function<void()> listener);

  // The first worker's greeting: compiler, sandbox level.
  const core::Json& greeting() const { return greeting_; }
  // True if this device has a checking build (sandbox/compilation.h).
  bool has_check_build() const { return greeting_.value("check_build", false); }

 private:
  struct Job {
    CompileRequest request;
    std::optional<std::chrono::seconds> deadline;
    std::promise<Compilation> promise;
  };
  void serve(size_t index, std::promise<core::Json> started);
  process::Worker start_worker(size_t index) const;
  void stop();

  process::WorkerCommand command_;
  std::filesystem::path scratch_;  // one folder per worker below it; removed at the end
  core::Json greeting_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  std::mutex listening_;
  std::function<void()> compiled_;
  std::vector<std::thread> threads_;
};

// A new folder below this one, for workers of this process. Throws core::SystemError.
std::filesystem::path make_scratch(const std::filesystem::path& temporary_folder);
// Removes scratch folders of processes that no longer run (after a kill -9).
void sweep_stale_scratch(const std::filesystem::path& temporary_folder);

}  // namespace sandbox
