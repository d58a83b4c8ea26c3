// The device behind the test driver: host memory, and one thread that executes the work of all streams in order.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sandbox/cpu/runtime/module.h"

namespace sandbox::hip::test_driver {

// What is not as usual, chosen by the name of the library's file: libkw_test_hip.<fault>.so. Faults of launches begin
// with the first kernel in a process that imported memory (a run worker) and is none of ours (kw_*).
enum class Wrong { nothing, two_devices, no_device, out_of_memory, export_refused, illegal_address, lost_device, hang };

class Queue {
 public:
  Queue();
  ~Queue();
  void push(std::function<void()> work);
  void wait();  // until everything pushed before is done
  bool idle();

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool busy_ = false;
  std::thread thread_;
};

struct Event {
  std::atomic<bool> passed{true};
  double ms = 0;
};

struct Kernel {
  cpu::runtime::Module* module = nullptr;
  std::string name;
  std::vector<size_t> parameter_bytes;
};

struct LoadedModule {
  LoadedModule() = default;
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;
  ~LoadedModule() {
    if (symbols != nullptr) ::dlclose(symbols);
  }

  std::unique_ptr<cpu::runtime::Module> module;
  void* symbols = nullptr;
  std::map<std::string, Kernel> kernels;
};

// Physical memory: a memory file.
struct Memory {
  int fd = -1;
  size_t bytes = 0;
};

struct Device {
  Wrong wrong = Wrong::nothing;
  std::atomic<int> error{0};  // the first of the device: every later call returns it
  std::string fault;          // of a kernel, for the error's text; set before `error`
  std::atomic<bool> imported{false};
  std::atomic<size_t> taken{0};  // bytes
  std::mutex mutex;
  std::map<uint64_t, size_t> mapped;  // address -> bytes, that kernels may touch
  Queue queue;
};

// Work for the device's thread, left out after an error. Returns that error's number, else 0.
int enqueue(std::function<void()> work);

}  // namespace sandbox::hip::test_driver
