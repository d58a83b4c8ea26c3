// A shared library that offers the HIP calls that the device makes and executes host builds of the kernels, with memory
// in memory files. A part of tests: it is never installed, and only a test gives its path to a worker. It uses the cpu
// device's runtime of the program that opens it.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "sandbox/hip/test_driver/device_fixture.h"
#include "sandbox/hip/test_driver/host_part_fixture.h"

namespace sandbox::hip::test_driver {
namespace {
using cpu::runtime::Module;

constexpr int kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNoDevice = 100, kInvalidImage = 200, kNotFound = 500,
              kNotReady = 600, kIllegalAddress = 700, kLaunchFailed = 719, kNotSupported = 801, kUnknown = 999;
constexpr size_t kGranule = 64 << 10;
constexpr size_t kMemoryBytes = size_t{128} << 20;  // measuring and the largest checks use what there is
constexpr int kVersion = 60200000;                  // HIP 6.2: descriptors are imported by their address
constexpr int kComputeUnits = 1;
// Less than a card has: the cpu device adds the static variables of all kernels of a module to what a launch takes.
constexpr int kSharedBytes = 60 << 10;
constexpr const char* kArchitecture = "gfx90a:sramecc+:xnack-";
constexpr size_t kArchitectureAt = 1160;  // in hipDeviceProp_tR0600

Wrong wrong_of_name() {
  Dl_info info{};
  ::dladdr(reinterpret_cast<void*>(&wrong_of_name), &info);
  const std::string file = info.dli_fname == nullptr ? "" : info.dli_fname;
  constexpr std::pair<const char*, Wrong> kNames[] = {
      {".no_device.", Wrong::no_device},           {".out_of_memory.", Wrong::out_of_memory},
      {".export_refused.", Wrong::export_refused}, {".illegal_address.", Wrong::illegal_address},
      {".lost_device.", Wrong::lost_device},       {".hang.", Wrong::hang},
      {".two_devices.", Wrong::two_devices}};
  for (const auto& [part, wrong] : kNames) {
    if (file.find(part) != std::string::npos) return wrong;
  }
  return Wrong::nothing;
}

// Never destroyed: the device thread may hang when the process ends.
Device& device() {
  static Device* const one = [] {
    auto* made = new Device;
    made->wrong = wrong_of_name();
    return made;
  }();
  return *one;
}

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <typename T>
T* at(uint64_t address) {
  return reinterpret_cast<T*>(address);
}

// As kw_abi.h lays out what describes a kernel.
struct KernelDescriptor {
  unsigned parameters, warp_lanes, shared_bytes;
  const unsigned* sizes;
};

// On the device's thread, whose thread-local storage holds the modules' shared memory.
std::unique_ptr<LoadedModule> load(std::string_view host_object) {
  const int fd = ::memfd_create("host part", MFD_CLOEXEC);
  if (fd < 0 || ::write(fd, host_object.data(), host_object.size()) != static_cast<ssize_t>(host_object.size())) {
    return nullptr;
  }
  auto loaded = std::make_unique<LoadedModule>();
  try {
    loaded->module = std::make_unique<Module>(Module::load(fd, Build::fast));
  } catch (const std::exception&) {
  }
  // The dynamic linker knows libraries by path: each gets one that none had.
  static size_t slashes = 2000;
  const std::string path = "/proc/self/fd/" + std::string(slashes++ % 4000, '/') + std::to_string(fd);
  if (loaded->module) loaded->symbols = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // the same object
  ::close(fd);
  if (loaded->symbols == nullptr) return nullptr;
  for (const std::string& name : loaded->module->kernels()) {
    const auto* kernel =
        static_cast<const KernelDescriptor*>(::dlsym(loaded->symbols, ("__kw_kernel_" + name).c_str()));
    if (kernel == nullptr) return nullptr;
    loaded->kernels[name] = {loaded->module.get(), name, {kernel->sizes, kernel->sizes + kernel->parameters}};
  }
  return loaded;
}

void go_wrong() {
  const Wrong wrong = device().wrong;
  if (wrong == Wrong::hang) {
    while (true) ::pause();
  }
  device().error = wrong == Wrong::lost_device ? kUnknown : kIllegalAddress;
}

void execute(const Kernel& kernel, const cpu::runtime::KernelLaunch& launch) {
  const bool launches_go_wrong = device().wrong >= Wrong::illegal_address && device().imported;
  if (launches_go_wrong && !kernel.name.starts_with("kw_")) return go_wrong();
  std::vector<cpu::runtime::Buffer> buffers;
  {
    const std::lock_guard lock(device().mutex);
    for (const auto& [address, bytes] : device().mapped)
      buffers.push_back({"memory", at<std::byte>(address), bytes, true});
  }
  const std::optional<Fault> fault = kernel.module->launch(launch, buffers, cpu::runtime::Order::timed, 7);
  if (!fault) return;
  device().fault = fault->message;
  device().error = fault->kind == FaultKind::out_of_bounds ? kIllegalAddress : kLaunchFailed;
}

struct Extent {
  unsigned x, y, z;
};

int launch(void* function, Extent grid, Extent block, unsigned shared_bytes, void** parameters) {
  const auto& kernel = *static_cast<const Kernel*>(function);
  cpu::runtime::KernelLaunch launch{
      kernel.name, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes, {}};
  for (size_t i = 0; i < kernel.parameter_bytes.size(); ++i) {
    const auto* bytes = static_cast<const std::byte*>(parameters[i]);
    launch.args.emplace_back(bytes, bytes + kernel.parameter_bytes[i]);
  }
  return enqueue([&kernel, launch = std::move(launch)] { execute(kernel, launch); });
}

bool take(size_t bytes) {
  const size_t most = device().wrong == Wrong::out_of_memory ? size_t{1} << 20 : kMemoryBytes;
  if (device().taken + bytes > most) return false;
  device().taken += bytes;
  return true;
}

int device_count() { return device().wrong == Wrong::two_devices ? 2 : 1; }
int in_range(int device_index) {
  return device_index >= 0 && device_index < device_count() ? kSuccess : 101;  // hipErrorInvalidDevice
}
}  // namespace

int enqueue(std::function<void()> work) {
  if (device().error != kSuccess) return device().error;
  device().queue.push([work = std::move(work)] {
    if (device().error == kSuccess) work();
  });
  return kSuccess;
}

Queue::Queue() : thread_([this] { serve(); }) {}
Queue::~Queue() = default;  // the only one lives as long as its process

void Queue::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !waiting_.empty(); });
    const std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    work();
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

void Queue::push(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(work));
  changed_.notify_all();
}

void Queue::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && !busy_; });
}

bool Queue::idle() {
  const std::lock_guard lock(mutex_);
  return waiting_.empty() && !busy_;
}
}  // namespace sandbox::hip::test_driver

using namespace sandbox::hip::test_driver;  // everything below is HIP's interface

extern "C" {
int hipInit(unsigned) { return device().wrong == Wrong::no_device ? kNoDevice : kSuccess; }
int hipRuntimeGetVersion(int* version) {
  *version = kVersion;
  return kSuccess;
}
const char* hipGetErrorName(int error) {
  switch (error) {
    case kIllegalAddress:
      return "hipErrorIllegalAddress";
    case kOutOfMemory:
      return "hipErrorOutOfMemory";
    case kNotSupported:
      return "hipErrorNotSupported";
    default:
      return "hipErrorUnknown";
  }
}
const char* hipGetErrorString(int error) {
  if (error == kOutOfMemory) return "out of memory";
  return device().fault.empty() ? "the test driver's error" : device().fault.c_str();
}
int hipGetDeviceCount(int* count) {
  *count = device_count();
  return kSuccess;
}
int hipDeviceGet(int* handle, int index) {
  *handle = index;
  return in_range(index);
}
int hipDeviceGetName(char* name, int bytes, int) {
  std::strncpy(name, "Test GPU", static_cast<size_t>(bytes));
  return kSuccess;
}
int hipDeviceGetPCIBusId(char* name, int bytes, int) {
  std::strncpy(name, "0000:00:00.0", static_cast<size_t>(bytes));
  return kSuccess;
}
int hipDeviceGetUuid(char* uuid, int index) {
  std::fill_n(uuid, 16, static_cast<char>(index));
  return kSuccess;
}
int hipDeviceTotalMem(size_t* bytes, int) {
  *bytes = kMemoryBytes;
  return kSuccess;
}
int hipDeviceGetAttribute(int* value, int attribute, int) {
  constexpr std::pair<int, int> kValues[] = {{63, kComputeUnits}, {87, 64},       {19, 1 << 20},
                                             {74, kSharedBytes},  {10002, 65536}, {72, 65536},
                                             {71, 65536},         {65, 0},        {10, 0}};
  for (const auto& [number, known] : kValues) {
    if (number != attribute) continue;
    *value = known;
    return kSuccess;
  }
  return kInvalidValue;
}
int hipGetDevicePropertiesR0600(void* properties, int index) {
  std::strcpy(static_cast<char*>(properties) + kArchitectureAt, kArchitecture);
  return in_range(index);
}
int hipSetDevice(int index) { return in_range(index); }
int hipSetDeviceFlags(unsigned) { return kSuccess; }
int hipDeviceSetLimit(int, size_t) { return kSuccess; }
int hipMemGetInfo(size_t* free, size_t* total) {
  *total = kMemoryBytes;
  *free = kMemoryBytes - device().taken;
  return kSuccess;
}

int hipStreamCreateWithFlags(void** stream, unsigned) {
  *stream = &device().queue;
  return kSuccess;
}
int hipStreamDestroy(void*) { return kSuccess; }
int hipStreamSynchronize(void*) {
  if (device().error == kSuccess) device().queue.wait();
  return device().error;
}
int hipStreamQuery(void*) {
  if (device().error != kSuccess) return device().error;
  return device().queue.idle() ? kSuccess : kNotReady;
}
int hipEventCreateWithFlags(void** event, unsigned) {
  *event = new Event;
  return kSuccess;
}
int hipEventDestroy(void* event) {
  delete static_cast<Event*>(event);
  return kSuccess;
}
int hipEventRecord(void* event, void*) {
  auto* recorded = static_cast<Event*>(event);
  recorded->passed = false;
  return enqueue([recorded] {
    recorded->ms = now_ms();
    recorded->passed = true;
  });
}
int hipEventQuery(void* event) {
  if (device().error != kSuccess) return device().error;
  return static_cast<Event*>(event)->passed ? kSuccess : kNotReady;
}
int hipEventElapsedTime(float* ms, void* begin, void* end) {
  *ms = static_cast<float>(static_cast<Event*>(end)->ms - static_cast<Event*>(begin)->ms);
  return kSuccess;
}

int hipModuleLoadData(void** module, const void* image) {
  std::unique_ptr<LoadedModule> loaded;
  const std::string_view host_object = host_object_of(static_cast<const char*>(image));
  if (host_object.empty()) return kInvalidImage;
  if (const int failed = enqueue([&] { loaded = load(host_object); })) return failed;
  device().queue.wait();
  *module = loaded.release();
  return *module == nullptr ? kInvalidImage : kSuccess;
}
int hipModuleUnload(void* module) {
  return enqueue([module] { delete static_cast<LoadedModule*>(module); });
}
int hipModuleGetFunction(void** function, void* module, const char* name) {
  auto& kernels = static_cast<LoadedModule*>(module)->kernels;
  const auto found = kernels.find(name);
  if (found == kernels.end()) return kNotFound;
  *function = &found->second;
  return kSuccess;
}
int hipFuncGetAttribute(int* value, int attribute, void*) {
  *value = attribute == 0 ? 1024 : attribute == 4 ? 32 : 0;  // threads of a block, registers
  return kSuccess;
}
int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int, size_t) {
  *blocks = 1;
  return kSuccess;
}
int hipModuleLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared_bytes, void*, void** parameters, void**) {
  return launch(function, {gx, gy, gz}, {bx, by, bz}, shared_bytes, parameters);
}
int hipModuleLaunchCooperativeKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                                     void**) {
  return kNotSupported;
}

int hipMalloc(uint64_t* address, size_t bytes) {
  if (!take(bytes)) return kOutOfMemory;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return kOutOfMemory;
  *address = reinterpret_cast<uint64_t>(memory);
  const std::lock_guard lock(device().mutex);
  device().mapped[*address] = bytes;
  return kSuccess;
}
int hipFree(uint64_t address) {
  device().queue.wait();
  const std::lock_guard lock(device().mutex);
  const auto found = device().mapped.find(address);
  if (found == device().mapped.end()) return kInvalidValue;
  device().taken -= found->second;
  ::munmap(at<void>(address), found->second);
  device().mapped.erase(found);
  return kSuccess;
}
int hipMemcpyHtoDAsync(uint64_t to, const void* from, size_t bytes, void*) {
  return enqueue([=] { std::memcpy(at<void>(to), from, bytes); });
}
int hipMemcpyDtoHAsync(void* to, uint64_t from, size_t bytes, void*) {
  return enqueue([=] { std::memcpy(to, at<void>(from), bytes); });
}
int hipMemcpyDtoDAsync(uint64_t to, uint64_t from, size_t bytes, void*) {
  return enqueue([=] { std::memcpy(at<void>(to), at<void>(from), bytes); });
}
int hipMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void*) {
  return enqueue([=] { std::memset(at<void>(to), value, bytes); });
}
int hipMemsetD32Async(uint64_t to, unsigned value, size_t words, void*) {
  return enqueue([=] { std::fill_n(at<unsigned>(to), words, value); });
}

int hipMemGetAllocationGranularity(size_t* bytes, const void*, int) {
  *bytes = kGranule;
  return kSuccess;
}
int hipMemCreate(void** handle, size_t bytes, const void*, unsigned long long) {
  if (!take(bytes)) return kOutOfMemory;
  auto memory = std::make_unique<Memory>(Memory{::memfd_create("device memory", MFD_CLOEXEC), bytes});
  if (memory->fd < 0 || ::ftruncate(memory->fd, static_cast<off_t>(bytes)) != 0) return kOutOfMemory;
  *handle = memory.release();
  return kSuccess;
}
int hipMemRelease(void* handle) {
  auto* memory = static_cast<Memory*>(handle);
  device().taken -= memory->bytes;
  ::close(memory->fd);
  delete memory;
  return kSuccess;
}
int hipMemExportToShareableHandle(void* fd, void* handle, int, unsigned long long) {
  if (device().wrong == Wrong::export_refused) return kNotSupported;
  const int copy = ::dup(static_cast<Memory*>(handle)->fd);
  std::memcpy(fd, &copy, sizeof copy);
  return copy < 0 ? kInvalidValue : kSuccess;
}
int hipMemImportFromShareableHandle(void** handle, void* fd, int) {
  device().imported = true;
  struct stat file {};
  const int copy = ::dup(*static_cast<const int*>(fd));
  if (copy < 0 || ::fstat(copy, &file) != 0) return kInvalidValue;
  *handle = new Memory{copy, 0};
  return kSuccess;
}
int hipMemAddressReserve(uint64_t* address, size_t bytes, size_t, uint64_t, unsigned long long) {
  void* reserved = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  *address = reinterpret_cast<uint64_t>(reserved);
  return reserved == MAP_FAILED ? kOutOfMemory : kSuccess;
}
int hipMemAddressFree(uint64_t address, size_t bytes) {
  return ::munmap(at<void>(address), bytes) == 0 ? kSuccess : kInvalidValue;
}
int hipMemMap(uint64_t address, size_t bytes, size_t, void* handle, unsigned long long) {
  void* mapped =
      ::mmap(at<void>(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, static_cast<Memory*>(handle)->fd, 0);
  if (mapped == MAP_FAILED) return kInvalidValue;
  const std::lock_guard lock(device().mutex);
  device().mapped[address] = bytes;
  return kSuccess;
}
int hipMemUnmap(uint64_t address, size_t bytes) {
  device().queue.wait();
  const std::lock_guard lock(device().mutex);
  device().mapped.erase(address);
  void* reserved =
      ::mmap(at<void>(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return reserved == MAP_FAILED ? kInvalidValue : kSuccess;
}
// `description`: hipMemAccessDesc, whose flags stand third.
int hipMemSetAccess(uint64_t address, size_t bytes, const void* description, size_t) {
  std::array<int, 3> words{};
  std::memcpy(words.data(), description, sizeof words);
  const int protection = words[2] == 3 ? PROT_READ | PROT_WRITE : PROT_READ;
  return ::mprotect(at<void>(address), bytes, protection) == 0 ? kSuccess : kInvalidValue;
}
}  // extern "C"
