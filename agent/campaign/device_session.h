// The owner of everything that judging on one device needs: judges, compile workers, NVIDIA's tools, the host's facts.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "agent/campaign/devices.h"
#include "agent/campaign/judges/host_check.h"
#include "agent/campaign/judges/judge_pool.h"
#include "agent/search/event_loop.h"
#include "core/paths.h"
#include "core/strict_json.h"
#include "sandbox/compile_pool.h"
#include "sandbox/process/turns.h"
#include "verifier/devices/cuda/profiler.h"
#include "verifier/devices/cuda/sanitizers.h"

namespace agent::campaign {

class DeviceSession {
 public:
  // Starts every worker. `hot`: GPUs are timed with a warm L2 cache. `event_loop`: of the owner's thread, when several
  // sessions share it; it outlives the session. Throws core::SystemError when a worker does not start.
  DeviceSession(const core::Paths& paths, const DeviceChoice& choice, bool hot, int compile_workers,
                search::EventLoop* event_loop = nullptr);
  // The same with other judge settings.
  DeviceSession(const core::Paths& paths, const DeviceChoice& choice, const verifier::judging::JudgeSettings& settings,
                int compile_workers, search::EventLoop* event_loop = nullptr);

  // The name that results are recorded under: "cpu", "cpu-hip", "cuda NVIDIA H200".
  const std::string& device() const { return device_; }
  std::string backend() const { return choice_.backend_name(); }
  // Names one GPU in the world, the first of the session; empty for a processor.
  std::string gpu() const { return judge_greeting_.value("uuid", ""); }
  bool on_gpu() const { return benchsuite::is_gpu(choice_.backend); }
  bool hot() const { return hot_; }
  // Why a solution cannot run here: another backend, or a newer architecture. nullopt when it can.
  std::optional<std::string> why_not(const sandbox::Solution& solution) const;
  sandbox::CompilePool& pool() { return pool_; }
  judges::JudgePool& judges() { return judges_; }
  // The event loop of the thread that owns the session.
  search::EventLoop& event_loop() { return event_loop_ != nullptr ? *event_loop_ : own_event_loop_; }
  bool has_sanitizer() const { return sanitizer_.has_value(); }
  // Runs compute-sanitizer on a candidate that won its confirmation on a GPU and returns its finding. nullopt: no
  // finding, or compute-sanitizer is not installed (doctor says so). Throws core::SystemError when it does not work.
  // Callable from any thread that outlives the session. `drawer`: Judge::open_inputs().
  std::optional<verifier::verdicts::Verdict> examine(const verifier::judging::Builds& candidate,
                                                     const benchsuite::Problem& problem,
                                                     verifier::reference::ReferenceChannel* drawer);
  // Begins to start what examine() needs, which takes about a second, and does not wait for it.
  void prepare_examination();
  // On a GPU, begins to look for races and bounds of a candidate on the cpu device (HostCheck). The cpu device has done
  // that already when it judges: it returns nullopt. Callable from any thread.
  std::optional<std::future<judges::HostCheck::Finding>> begin_host_check(const benchsuite::Problem& problem,
                                                                          const verifier::judging::Builds& candidate);
  bool has_profiler() const { return profiler_program_.has_value(); }
  // The hardware counters of a candidate's launches; empty if there is no profiler. Throws core::SystemError when it
  // does not work; after three times in a row the profiler stays off. Callable from any thread that outlives the
  // session.
  std::vector<verifier::verdicts::Counters> profile(const verifier::judging::Builds& candidate,
                                                    const benchsuite::Problem& problem,
                                                    verifier::reference::ReferenceChannel* drawer);
  // Everything that may influence a result: program version, processor, kernel, compiler, sandbox levels of run,
  // compile and judge workers. Never names the host or its user.
  core::Json environment() const;

 private:
  // Those of this process, for one thread, at the first GPU.
  sandbox::process::Turns turns_of_first() const;

  core::Paths paths_;
  bool hot_;
  search::EventLoop own_event_loop_;  // outlives everything that posts to it
  search::EventLoop* event_loop_;     // of the owner
  judges::JudgePool judges_;
  core::Json run_greeting_, judge_greeting_;  // of the first judge
  DeviceChoice choice_;
  std::string device_;
  sandbox::CompilePool pool_;
  verifier::judging::JudgedDevice first_;           // of all devices
  std::optional<std::filesystem::path> sanitizer_;  // compute-sanitizer, on a GPU
  std::mutex examining_;
  std::optional<verifier::devices::cuda::Sanitizers> sanitizers_;  // by prepare_examination(), or on first use
  std::optional<std::filesystem::path> profiler_program_;          // ncu, on a GPU
  std::mutex checking_;
  std::optional<judges::HostCheck> host_check_;  // started on first use
  std::mutex profiling_;
  std::optional<verifier::devices::cuda::Profiler> profiler_;  // started on first use
  int profiler_failures_ = 0;                                  // in a row
};

// Number of compile workers that do not disturb the judge: one per core except the core it times on.
int background_compile_workers();

// The processor's name from the text of /proc/cpuinfo; "unknown" if it has none.
std::string processor_name(std::string_view cpuinfo);

// "AVX-512: vectors of 64 bytes; FMA; conversions of f16 in hardware". Empty if unknown.
std::string vector_words(std::string_view cpuinfo);

}  // namespace agent::campaign
