#include "sandbox/compile_pool.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "sandbox/wire.h"

namespace sandbox {
namespace {
namespace fs = std::filesystem;
constexpr int kDeadlineS = 60;  // unless the worker's greeting names another
constexpr size_t kMostReasonBytes = 300;
constexpr std::string_view kScratchPrefix = "kernelwright-";

// Memory-backed if possible: intermediate files are small and short-lived.
fs::path fast_folder() {
  const fs::path shared_memory = "/dev/shm";
  return ::access(shared_memory.c_str(), W_OK) == 0 ? shared_memory : fs::path("/tmp");
}

// An answer that makes no sense: a candidate may have taken over the worker.
class Nonsense : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Compilation answer_of(process::Worker& worker, const CompileRequest& request, std::chrono::seconds deadline) {
  process::Message answer = worker.request(to_json(request), {}, deadline);
  try {
    return compilation_from_message(std::move(answer));
  } catch (const core::InputError& error) {
    throw Nonsense(core::clean_line(error.what(), kMostReasonBytes));
  }
}
}  // namespace

fs::path make_scratch(const fs::path& temporary_folder) {
  sweep_stale_scratch(temporary_folder);
  const std::string prefix = std::string(kScratchPrefix) + std::to_string(::getpid());
  std::string name = (temporary_folder / (prefix + "-XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) throw core::SystemError("cannot make a scratch folder " + name, errno);
  return name;
}

void sweep_stale_scratch(const fs::path& temporary_folder) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(temporary_folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(kScratchPrefix, 0) != 0) continue;
    const int pid = std::atoi(name.c_str() + kScratchPrefix.size());
    if (pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH) fs::remove_all(entry.path(), ignored);
  }
}

CompilePool::CompilePool(const process::WorkerCommand& command, int workers)
    : command_(command), scratch_(make_scratch(fast_folder())) {
  std::vector<std::future<core::Json>> starts;
  for (int i = 0; i < workers; ++i) {
    std::promise<core::Json> started;
    starts.push_back(started.get_future());
    threads_.emplace_back(&CompilePool::serve, this, static_cast<size_t>(i), std::move(started));
  }
  std::exception_ptr failure;
  for (std::future<core::Json>& start : starts) {
    try {
      greeting_ = start.get();
    } catch (...) {
      failure = std::current_exception();
    }
  }
  if (failure) {
    stop();
    std::rethrow_exception(failure);
  }
}

CompilePool::~CompilePool() { stop(); }

void CompilePool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  std::error_code ignored;
  fs::remove_all(scratch_, ignored);
}

std::future<Compilation> CompilePool::submit(CompileRequest request, std::optional<std::chrono::seconds> deadline) {
  Job job{std::move(request), deadline, {}};
  std::future<Compilation> future = job.promise.get_future();
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
  return future;
}

void CompilePool::on_compiled(std::function<void()> listener) {
  const std::lock_guard lock(listening_);
  compiled_ = std::move(listener);
}

process::Worker CompilePool::start_worker(size_t index) const {
  const fs::path folder = scratch_ / std::to_string(index);
  fs::remove_all(folder);
  fs::create_directory(folder);
  process::WorkerCommand command = command_;
  for (const std::string& arg :
       {std::string("--role"), std::string("compile"), std::string("--scratch"), folder.string()}) {
    command.args.push_back(arg);
  }
  return process::Worker::start(command);
}

void CompilePool::serve(size_t index, std::promise<core::Json> started) {
  std::optional<process::Worker> worker;
  std::chrono::seconds usual{};
  try {
    worker = start_worker(index);
    usual = std::chrono::seconds(worker->greeting().value("deadline_s", kDeadlineS));
    started.set_value(worker->greeting());
  } catch (...) {
    started.set_exception(std::current_exception());
    return;
  }
  while (true) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
    if (stopping_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    const std::chrono::seconds deadline = job.deadline.value_or(usual);
    try {
      if (!worker) worker = start_worker(index);
      job.promise.set_value(answer_of(*worker, job.request, deadline));
    } catch (const Nonsense& nonsense) {
      worker.reset();
      job.promise.set_value(Rejected{
          Rejection::limit, "compiling it led to a meaningless answer: " + std::string(nonsense.what()), {}, ""});
    } catch (const process::WorkerLost& lost) {
      worker.reset();
      const bool late = lost.cause() == process::WorkerLost::Cause::deadline;
      job.promise.set_value(Rejected{Rejection::limit,
                                     late ? "compiling took longer than " + std::to_string(deadline.count()) + " s"
                                          : "compiling it crashed the compile worker: " + std::string(lost.what()),
                                     {},
                                     ""});
    } catch (...) {
      job.promise.set_exception(std::current_exception());
    }
    const std::lock_guard listening(listening_);
    if (compiled_) compiled_();
  }
}

}  // namespace sandbox
