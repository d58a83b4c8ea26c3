#include "sandbox/cuda/driver/context.h"

namespace sandbox::cuda::driver {
namespace {
constexpr unsigned kSpinWhileWaiting = 1;   // CU_CTX_SCHED_SPIN: waits return microseconds sooner
constexpr unsigned kNonBlockingStream = 1;  // CU_STREAM_NON_BLOCKING
}  // namespace

Context::Context(const Driver& driver, int device_index) : driver_(driver), facts_(device_facts(driver, device_index)) {
  require(driver_->cuDeviceGet(&device_, device_index), "cuDeviceGet");
  require(driver_->cuCtxCreate(&context_, kSpinWhileWaiting, device_), "cuCtxCreate");
  require(driver_->cuStreamCreate(&stream_, kNonBlockingStream), "cuStreamCreate");
}

Context::~Context() { driver_->cuCtxDestroy(context_); }

int Context::attribute(Attribute which) const {
  int value = 0;
  require(driver_->cuDeviceGetAttribute(&value, static_cast<int>(which), device_), "cuDeviceGetAttribute");
  return value;
}

void Context::synchronize() const { require(driver_->cuStreamSynchronize(stream_), "cuStreamSynchronize"); }

void Context::copy_to_host(void* to, DevicePtr from, size_t bytes) const {
  if (bytes == 0) return;
  require(driver_->cuMemcpyDtoHAsync(to, from, bytes, stream_), "cuMemcpyDtoHAsync");
  synchronize();
}

void Context::copy_to_device(DevicePtr to, const void* from, size_t bytes) const {
  if (bytes == 0) return;
  require(driver_->cuMemcpyHtoDAsync(to, from, bytes, stream_), "cuMemcpyHtoDAsync");
  synchronize();
}

void Context::set(DevicePtr at, unsigned char value, size_t bytes) const {
  require(driver_->cuMemsetD8Async(at, value, bytes, stream_), "cuMemsetD8Async");
}

size_t Context::free_bytes() const {
  size_t free = 0, total = 0;
  require(driver_->cuMemGetInfo(&free, &total), "cuMemGetInfo");
  return free;
}

PrivateMemory::PrivateMemory(const Context& context, size_t bytes) : context_(&context), bytes_(bytes) {
  context.require(context->cuMemAlloc(&address_, bytes), "cuMemAlloc");
}
PrivateMemory::PrivateMemory(PrivateMemory&& other) noexcept
    : context_(other.context_), address_(std::exchange(other.address_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}
PrivateMemory& PrivateMemory::operator=(PrivateMemory&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}
PrivateMemory::~PrivateMemory() {
  if (address_ != 0) (*context_)->cuMemFree(address_);
}

Event::Event(const Context& context) : context_(context) {
  context.require(context->cuEventCreate(&event_, 0), "cuEventCreate");
}
Event::~Event() { context_->cuEventDestroy(event_); }
void Event::record() { context_.require(context_->cuEventRecord(event_, context_.stream()), "cuEventRecord"); }
bool Event::passed() const {
  const int result = context_->cuEventQuery(event_);
  if (result == kNotReady) return false;
  context_.require(result, "cuEventQuery");
  return true;
}
double Event::us_since(const Event& begin) const {
  float ms = 0;
  context_.require(context_->cuEventElapsedTime(&ms, begin.event_, event_), "cuEventElapsedTime");
  return static_cast<double>(ms) * 1e3;
}

int Function::attribute(FunctionAttribute which) const {
  int value = 0;
  context_->require((*context_)->cuFuncGetAttribute(&value, static_cast<int>(which), function_), "cuFuncGetAttribute");
  return value;
}
void Function::set_attribute(FunctionAttribute which, int value) const {
  context_->require((*context_)->cuFuncSetAttribute(function_, static_cast<int>(which), value), "cuFuncSetAttribute");
}
void Function::launch(const LaunchConfig& config, void** parameters) const {
  LaunchConfig own = config;
  own.stream = context_->stream();
  context_->require((*context_)->cuLaunchKernelEx(&own, function_, parameters, nullptr), "cuLaunchKernelEx");
}

Module::Module(const Context& context, std::string_view cubin) : context_(&context) {
  const std::string copy(cubin);  // the driver needs the image to be terminated
  context.require(context->cuModuleLoadData(&module_, copy.data()), "cuModuleLoadData");
}
Module::Module(Module&& other) noexcept : context_(other.context_), module_(std::exchange(other.module_, nullptr)) {}
Module& Module::operator=(Module&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(module_, other.module_);
  return *this;
}
Module::~Module() {
  if (module_ != nullptr) (*context_)->cuModuleUnload(module_);
}
Function Module::function(const std::string& name) const {
  Handle function = nullptr;
  context_->require((*context_)->cuModuleGetFunction(&function, module_, name.c_str()), "cuModuleGetFunction");
  return Function(*context_, function);
}

}  // namespace sandbox::cuda::driver
