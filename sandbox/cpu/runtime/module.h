// A compiled candidate loaded into this process, and its execution on the calling thread. Only disposable processes
// load candidates: after a Fault the module, and the process with it, must be discarded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/compilation.h"
#include "sandbox/fault.h"

namespace sandbox::cpu::runtime {

// The start order of the threads of a block and the blocks of a grid. `timed`: threads forward, and blocks in a few
// runs in a seeded order: about as fast as forward, but not predictable.
enum class Order { forward, reverse, seeded, timed };

// Memory that a kernel may touch. The checking build rejects every other global address; both builds name the buffer in
// a report. The owner puts an unmapped page behind `data`.
struct Buffer {
  std::string name;
  std::byte* data = nullptr;
  size_t bytes = 0;
  bool writable = true;
};

struct KernelLaunch {
  std::string kernel;
  std::array<int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  size_t shared_bytes = 0;                   // dynamic shared memory
  std::vector<std::vector<std::byte>> args;  // each parameter's bytes, in order; sizes must match the kernel's
  std::array<int64_t, 3> cluster{1, 1, 1};   // blocks; the grid is a multiple of it
  bool overlaps_previous = false;            // it may begin before the launch before it has ended
  bool cooperative = false;                  // its blocks may wait for each other; only in the checking build
};

struct Limits {
  size_t shared_bytes = 233472;  // static and dynamic together, as on sm_90; a HIP kernel has less (kw_abi.h)
  int64_t block_threads = 1024;
  size_t local_bytes = size_t{64} << 10;  // per CUDA thread, on its stack; CUDA has 512 KiB
};

class Module {
 public:
  // Inspects the binary (sandbox/cpu/inspection/elf_check.h), then loads it from the descriptor. Throws
  // core::InputError when the inspection refuses it.
  static Module load(int binary_fd, Build build);
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  ~Module();

  std::vector<std::string> kernels() const;
  // Fills the whole shared memory of each block with this byte before the block starts (default 0xFF, a NaN pattern).
  void set_shared_poison(uint8_t byte);
  // Stacks are not overwritten between launches, which takes longer than a short one: for solutions that are trusted.
  void keep_stacks();
  // Draws what local variables hold that nobody sets. `second`: another content for the same seed.
  static void fill_locals(uint64_t seed, bool second = false);
  // Whether code is left that gives local variables this content: the compiler leaves it out where it never counts.
  bool has_filled_locals() const;

  // In the covering build: the lines of the source with a part that has not run since the module was loaded. The side
  // of a condition that computes nothing, but returns or takes a value that is there, is no part.
  std::vector<int64_t> lines_not_run() const;

  // Runs the grid to its end, or to the first fault. Blocking; never throws for what the kernel does.
  std::optional<Fault> launch(const KernelLaunch& launch, const std::vector<Buffer>& buffers, Order order,
                              uint64_t seed);

 private:
  struct State;
  explicit Module(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sandbox::cpu::runtime
