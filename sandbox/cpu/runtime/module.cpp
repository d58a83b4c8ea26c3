#include "sandbox/cpu/runtime/module.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/unique_fd.h"
#include "sandbox/cpu/compiler/places.h"
#include "sandbox/cpu/inspection/elf_check.h"
#include "sandbox/cpu/runtime/check.h"
#include "sandbox/cpu/runtime/device_state.h"
#include "sandbox/cpu/runtime/line_table.h"
#include "sandbox/cpu/runtime/local_fill.h"
#include "sandbox/cpu/runtime/scheduler.h"

extern "C" void* __tls_get_addr(void* index);

namespace sandbox::cpu::runtime {
namespace {
// As kw_abi.h lays it out.
struct KernelDescriptor {
  unsigned parameters, warp_lanes, shared_bytes;
  const unsigned* sizes;
  void (*run)(void** args);
};

constexpr size_t kMostDynamicShared = 233472;
constexpr size_t kOwnStack = size_t{16} << 10;  // for what device code calls

// Where a loaded module's thread-local storage, that is its __shared__ variables, lies.
struct Placed {
  uintptr_t base = 0, end = 0;
  size_t tls_module = 0;
};

int match(dl_phdr_info* info, size_t, void* wanted) {
  auto* placed = static_cast<Placed*>(wanted);
  if (info->dlpi_addr != placed->base) return 0;
  placed->tls_module = info->dlpi_tls_modid;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD)
      placed->end = std::max(placed->end, placed->base + segment.p_vaddr + segment.p_memsz);
  }
  return 1;
}

// A kernel's parameters: pointers to their bytes, and the bytes, in one piece.
class Arguments {
 public:
  explicit Arguments(const std::vector<std::vector<std::byte>>& values) {
    constexpr size_t kAlignment = sizeof(Chunk);
    size_t bytes = (values.size() * sizeof(void*) + kAlignment - 1) / kAlignment;
    for (const auto& value : values) bytes += (value.size() + kAlignment - 1) / kAlignment;
    memory_.resize(bytes + 1);
    auto* at = reinterpret_cast<std::byte*>(memory_.data());
    auto* to = at + (values.size() * sizeof(void*) + kAlignment - 1) / kAlignment * kAlignment;
    for (size_t i = 0; i < values.size(); ++i) {
      std::memcpy(at + i * sizeof(void*), &to, sizeof(void*));
      std::memcpy(to, values[i].data(), values[i].size());
      to += (values[i].size() + kAlignment - 1) / kAlignment * kAlignment;
    }
  }
  void** pointers() { return reinterpret_cast<void**>(memory_.data()); }
  MemoryRange range() const {
    const auto begin = reinterpret_cast<uintptr_t>(memory_.data());
    return {begin, begin + memory_.size() * sizeof(Chunk)};
  }

 private:
  struct alignas(64) Chunk {  // as a tensor map
    std::byte bytes[64];
  };
  std::vector<Chunk> memory_;
};
}  // namespace

struct Module::State {
  explicit State(size_t stack_bytes) : scheduler(stack_bytes) {}
  ~State() {
    if (handle != nullptr) ::dlclose(handle);
  }

  // Poisons the shared memory of the block that begins: its static variables and the dynamic bytes it was launched
  // with.
  static void begin_block(void* user) {
    State& self = *static_cast<State*>(user);
    for (const std::span<std::byte> part : self.used_shared(self.dynamic_bytes)) {
      std::memset(part.data(), self.poison, part.size());
    }
    if (self.build == Build::check) begin_checked_block();
  }
  static void end_block(void*) { end_checked_block(); }

  // The first byte behind the launch's dynamic shared memory, as an offset from its begin, that is no longer poison;
  // nullopt: none of those that lie close behind it. The checking build watches each access instead.
  std::optional<size_t> written_behind_dynamic() const {
    constexpr size_t kLookedAt = 65536;
    if (dynamic == nullptr) return std::nullopt;
    const size_t end = std::min(dynamic_bytes + kLookedAt, kMostDynamicShared);
    const auto* first = std::find_if(dynamic + dynamic_bytes, dynamic + end,
                                     [&](std::byte byte) { return byte != static_cast<std::byte>(poison); });
    return first == dynamic + end ? std::nullopt : std::optional<size_t>(first - dynamic);
  }

  // What a launch with so much dynamic shared memory uses of all that the module has.
  std::vector<std::span<std::byte>> used_shared(size_t of_dynamic) const {
    if (shared_bytes == 0) return {};
    if (dynamic == nullptr) return {{shared, shared_bytes}};
    std::byte *after = dynamic + kMostDynamicShared, *end = shared + shared_bytes;
    std::vector<std::span<std::byte>> parts{{shared, static_cast<size_t>(dynamic - shared)}, {dynamic, of_dynamic}};
    if (after < end) parts.emplace_back(after, static_cast<size_t>(end - after));
    return parts;
  }

  std::optional<std::string> what_is_unsupported(const KernelLaunch& launch, const KernelDescriptor& kernel) const;
  std::optional<std::string> refuse_launch(const KernelLaunch& launch, const KernelDescriptor* kernel) const;

  void* handle = nullptr;
  Build build = Build::fast;
  inspection::BinaryFacts facts;
  MemoryRange image;
  std::byte* shared = nullptr;  // static and dynamic shared memory
  size_t shared_bytes = 0;
  std::byte* dynamic = nullptr;  // within it; null when the module has none
  size_t dynamic_bytes = 0;      // of the launch in progress
  int poison = 0xFF;
  std::vector<unsigned char> covered;  // by place within the image: 1 where code has run
  Scheduler scheduler;
};

Module::Module(std::unique_ptr<State> state) : state_(std::move(state)) {}
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;
Module::~Module() = default;

Module Module::load(int binary_fd, Build build) {
  keep_device_calls();
  keep_check_entry_points();
  install_signal_handlers();
  auto state = std::make_unique<State>(Limits{}.local_bytes + kOwnStack);
  state->build = build;
  state->facts = inspection::inspect_binary(binary_fd, build);
  // The dynamic linker knows libraries by path: the same descriptor number must not name two of them.
  static int next_fd = 600;
  const core::UniqueFd unique(::fcntl(binary_fd, F_DUPFD_CLOEXEC, 0));
  const std::string path =
      "/proc/self/fd/" + std::string(static_cast<size_t>(next_fd++ % 1000), '/') + std::to_string(unique.get());
  state->handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (state->handle == nullptr) throw core::InputError("", std::string("cannot be loaded: ") + ::dlerror());
  link_map* map = nullptr;
  ::dlinfo(state->handle, RTLD_DI_LINKMAP, &map);
  Placed placed{map->l_addr, 0, 0};
  ::dl_iterate_phdr(match, &placed);
  state->image = {placed.base, placed.end};
  state->covered.assign(build == Build::cover ? placed.end - placed.base : 0, 0);
  __kw_covered = reinterpret_cast<uintptr_t>(state->covered.data()) - placed.base;
  if (placed.tls_module != 0) {
    size_t index[2] = {placed.tls_module, 0};
    state->shared = static_cast<std::byte*>(__tls_get_addr(index));
    state->shared_bytes = state->facts.shared_segment_bytes;
  }
  if (auto* dynamic_base = reinterpret_cast<std::byte* (*)()>(::dlsym(state->handle, "__kw_dynamic_base"))) {
    state->dynamic = dynamic_base();
  }
  read_line_table(unique.get(), state->image.first, build);
  return Module(std::move(state));
}

std::vector<std::string> Module::kernels() const {
  std::vector<std::string> names;
  for (const auto& [name, parameters] : state_->facts.kernels) names.push_back(name);
  return names;
}

void Module::set_shared_poison(uint8_t byte) { state_->poison = byte; }

void Module::keep_stacks() { state_->scheduler.keep_stacks(); }

void Module::fill_locals(uint64_t seed, bool second) {
  const LocalFill fill = local_fill(seed, second);
  __kw_local_bytes = fill.bytes;
  __kw_local_integer = fill.integer;
}

std::vector<int64_t> Module::lines_not_run() const {
  std::set<int64_t> ran, all;
  for (const uint64_t at : state_->facts.covered) {
    const std::optional<int64_t> place = place_of(state_->image.first + at - 1);  // of the call, not of what follows
    if (!place) continue;
    all.insert(*place);
    if (state_->covered.at(at) != 0) ran.insert(*place);
  }
  std::set<int64_t> lines;
  for (const int64_t place : all) {
    if (!ran.contains(place)) lines.insert(compiler::line_of_place(place));
  }
  return {lines.begin(), lines.end()};
}

bool Module::has_filled_locals() const { return state_->facts.fills_locals; }

std::optional<std::string> Module::State::refuse_launch(const KernelLaunch& launch,
                                                        const KernelDescriptor* kernel) const {
  const Limits limits;
  if (kernel == nullptr) return "there is no kernel of this name";
  if (launch.args.size() != kernel->parameters) {
    return "the plan passes " + std::to_string(launch.args.size()) + " arguments, the kernel takes " +
           std::to_string(kernel->parameters);
  }
  for (size_t i = 0; i < launch.args.size(); ++i) {
    if (launch.args[i].size() != kernel->sizes[i]) {
      return "argument " + std::to_string(i + 1) + " has " + std::to_string(launch.args[i].size()) +
             " bytes in the plan and " + std::to_string(kernel->sizes[i]) + " in the kernel";
    }
  }
  if (launch.block[0] * launch.block[1] * launch.block[2] > limits.block_threads)
    return "more than 1024 threads per block";
  const int64_t blocks = launch.cluster[0] * launch.cluster[1] * launch.cluster[2];
  if (blocks > 1 && launch.block[0] * launch.block[1] * launch.block[2] % kernel->warp_lanes != 0)
    return "blocks of a cluster have whole warps";
  const size_t fixed = facts.static_shared_bytes, most = std::min<size_t>(limits.shared_bytes, kernel->shared_bytes);
  if (fixed + launch.shared_bytes > most) {
    return "static and dynamic shared memory together take " + std::to_string(fixed + launch.shared_bytes) +
           " bytes of " + std::to_string(most);
  }
  return std::nullopt;
}

std::optional<std::string> Module::State::what_is_unsupported(const KernelLaunch& launch,
                                                              const KernelDescriptor& kernel) const {
  if (!launch.cooperative) return std::nullopt;
  if (build != Build::check) return "a cooperative launch in another build than the checking one";
  const int64_t of_block = launch.block[0] * launch.block[1] * launch.block[2];
  const int64_t threads = launch.grid[0] * launch.grid[1] * launch.grid[2] * of_block;
  if (of_block % kernel.warp_lanes != 0) return "a cooperative launch of blocks that do not have whole warps";
  if (threads > kMostCooperativeThreads) {
    return "a cooperative launch of " + std::to_string(threads) + " threads, of which at most " +
           std::to_string(kMostCooperativeThreads) + " can run at once here";
  }
  return std::nullopt;
}

std::optional<Fault> Module::launch(const KernelLaunch& launch, const std::vector<Buffer>& buffers, Order order,
                                    uint64_t seed) {
  const auto* kernel =
      static_cast<const KernelDescriptor*>(::dlsym(state_->handle, ("__kw_kernel_" + launch.kernel).c_str()));
  if (const auto refusal = state_->refuse_launch(launch, kernel)) {
    return Fault{FaultKind::invalid_launch, *refusal, launch.kernel, {}, {}, {}};
  }
  if (const auto what = state_->what_is_unsupported(launch, *kernel)) {
    return Fault{FaultKind::unsupported, *what, launch.kernel, {}, {}, {}};
  }
  Arguments arguments(launch.args);
  LaunchContext context;
  context.cooperative = launch.cooperative;
  context.kernel = launch.kernel;
  context.grid = launch.grid;
  context.block = launch.block;
  context.cluster = launch.cluster;
  context.dynamic_shared_bytes = launch.shared_bytes;
  context.warp_lanes = static_cast<int>(kernel->warp_lanes);
  context.run = kernel->run;
  context.args = arguments.pointers();
  context.buffers = &buffers;
  context.order = order;
  context.seed = seed;
  const auto shared = reinterpret_cast<uintptr_t>(state_->shared);
  context.shared = {state_->shared, state_->shared_bytes};
  context.used_shared = state_->used_shared(launch.shared_bytes);
  context.begin_block = &State::begin_block;
  context.user = state_.get();
  state_->dynamic_bytes = launch.shared_bytes;
  constexpr uintptr_t kSystemShared = 1024;  // which the driver takes at the start of it, so that no variable is at 0
  __kw_shared_window = shared / kSystemShared * kSystemShared - kSystemShared;
  if (state_->dynamic != nullptr) std::memset(state_->dynamic, state_->poison, kMostDynamicShared);
  if (state_->build == Build::check) {
    context.end_block = &State::end_block;
    const auto range = [](const std::byte* begin, size_t bytes) {
      const auto address = reinterpret_cast<uintptr_t>(begin);
      return MemoryRange(address, address + bytes);
    };
    const int64_t blocks = launch.cluster[0] * launch.cluster[1] * launch.cluster[2];
    const int64_t grid = launch.grid[0] * launch.grid[1] * launch.grid[2];
    constexpr int64_t kMostTogether = 3, kMostThreads = 16384;  // each with a stack
    const int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
    if (order == Order::seeded && !launch.cooperative && !launch.overlaps_previous) {
      context.together =
          std::min(grid / blocks, std::clamp<int64_t>(kMostThreads / (blocks * threads), 1, kMostTogether));
      context.switches = context.together * blocks * threads > 1;
    }
    constexpr size_t kWord = 16;
    const size_t taken = (launch.shared_bytes + kWord - 1) / kWord * kWord;
    const MemoryRange dynamic = range(state_->dynamic, kMostDynamicShared);
    begin_checked_launch(
        {state_->image, range(state_->shared, state_->shared_bytes),
         range(state_->dynamic, state_->dynamic != nullptr ? launch.shared_bytes : 0), arguments.range(),
         &state_->facts.shared, &buffers, static_cast<size_t>(launch.cooperative ? grid : blocks * context.together),
         state_->dynamic != nullptr ? MemoryRange(dynamic.first + taken, dynamic.second) : MemoryRange(),
         launch.cooperative, launch.overlaps_previous});
  }
  std::optional<Fault> fault = state_->scheduler.run(context);
  if (const auto offset = state_->build == Build::fast && !fault ? state_->written_behind_dynamic() : std::nullopt) {
    fault = Fault{FaultKind::out_of_bounds,
                  "writes at offset " + std::to_string(*offset) + " of dynamic shared memory (" +
                      std::to_string(launch.shared_bytes) + " bytes)",
                  launch.kernel,
                  {},
                  {},
                  {}};
  }
  if (state_->build == Build::check) end_checked_launch();
  return fault;
}

}  // namespace sandbox::cpu::runtime
