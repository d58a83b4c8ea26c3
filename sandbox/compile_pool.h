// Compile workers side by side, replaced when they are lost.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "core/strict_json.h"
#include "sandbox/compilation.h"
#include "sandbox/process/worker.h"

namespace sandbox {

class CompilePool {
 public:
  // Starts `workers` processes of `command` ("--role compile --scratch <own folder>" is appended). Throws
  // core::SystemError when one does not start.
  CompilePool(const process::WorkerCommand& command, int workers);
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  // The future throws core::SystemError when a worker cannot be replaced or fails on our side. A compilation that kills
  // or outlasts its worker, or after which it does not make sense any more, is Rejected{limit}.
  std::future<Compilation> submit(CompileRequest request);
  // Told after each compilation, on a thread of the pool's; it must be quick. An empty one ends it: once this returns,
  // the former is not told any more.
  void on_compiled(std::function<void()> listener);

  // What the first worker said of itself: compiler, sandbox level.
  const core::Json& greeting() const { return greeting_; }
  // Does this device have a checking build (sandbox/compilation.h)?
  bool has_check_build() const { return greeting_.value("check_build", false); }

 private:
  struct Job {
    CompileRequest request;
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

// Removes scratch folders whose owner no longer lives (after a kill -9).
void sweep_stale_scratch(const std::filesystem::path& temporary_folder);

}  // namespace sandbox
