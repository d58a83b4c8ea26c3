#include "sandbox/gpu/driver/context.h"

namespace sandbox::gpu::driver {
namespace {
constexpr unsigned kNonBlockingStream = 1;  // CU_STREAM_NON_BLOCKING, hipStreamNonBlocking
}  // namespace

Context::Context(const Driver& driver, int device_index) : driver_(driver), facts_(device_facts(driver, device_index)) {
  require(driver_->device_get(&device_, device_index), "device_get");
  require(driver_.vendor().open_context(&context_, device_), "open_context");
  require(driver_->stream_create(&stream_, kNonBlockingStream), "stream_create");
}

Context::~Context() { driver_.vendor().close_context(context_); }

int Context::attribute(Attribute which) const { return driver_.attribute(which, device_); }

void Context::limit(Limit which, size_t bytes) const { require(driver_.vendor().limit(which, bytes), "limit"); }

void Context::synchronize() const { require(driver_->stream_synchronize(stream_), "stream_synchronize"); }

void Context::copy_to_host(void* to, DevicePtr from, size_t bytes) const {
  if (bytes == 0) return;
  require(driver_->copy_to_host(to, from, bytes, stream_), "copy_to_host");
  synchronize();
}

void Context::copy_to_device(DevicePtr to, const void* from, size_t bytes) const {
  if (bytes == 0) return;
  require(driver_->copy_to_device(to, from, bytes, stream_), "copy_to_device");
  synchronize();
}

void Context::set(DevicePtr at, unsigned char value, size_t bytes) const {
  require(driver_->set_bytes(at, value, bytes, stream_), "set_bytes");
}

size_t Context::free_bytes() const {
  size_t free = 0, total = 0;
  require(driver_->memory_info(&free, &total), "memory_info");
  return free;
}

PrivateMemory::PrivateMemory(const Context& context, size_t bytes) : context_(&context), bytes_(bytes) {
  context.require(context->allocate(&address_, bytes), "allocate");
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
  if (address_ != 0) (*context_)->deallocate(address_);
}

Event::Event(const Context& context) : context_(context) {
  context.require(context->event_create(&event_, 0), "event_create");
}
Event::~Event() { context_->event_destroy(event_); }
void Event::record() { context_.require(context_->event_record(event_, context_.stream()), "event_record"); }
bool Event::passed() const {
  const int result = context_->event_query(event_);
  if (result == kNotReady) return false;
  context_.require(result, "event_query");
  return true;
}
double Event::us_since(const Event& begin) const {
  float ms = 0;
  context_.require(context_->event_elapsed_ms(&ms, begin.event_, event_), "event_elapsed_ms");
  return static_cast<double>(ms) * 1e3;
}

int Function::attribute(FunctionAttribute which) const {
  int value = 0;
  context_->require((*context_)->function_attribute(&value, static_cast<int>(which), function_), "function_attribute");
  return value;
}
void Function::set_attribute(FunctionAttribute which, int value) const {
  if ((*context_)->set_function_attribute == nullptr) return;  // HIP asks for nothing
  context_->require((*context_)->set_function_attribute(function_, static_cast<int>(which), value),
                    "set_function_attribute");
}
void Function::launch(const LaunchConfig& config, void** parameters) const {
  LaunchConfig own = config;
  own.stream = context_->stream();
  context_->require(context_->driver().vendor().launch(own, function_, parameters), "launch");
}

Module::Module(const Context& context, std::string_view cubin) : context_(&context) {
  const std::string copy(cubin);  // the driver needs the image to be terminated
  context.require(context->module_load(&module_, copy.data()), "module_load");
}
Module::Module(Module&& other) noexcept : context_(other.context_), module_(std::exchange(other.module_, nullptr)) {}
Module& Module::operator=(Module&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(module_, other.module_);
  return *this;
}
Module::~Module() {
  if (module_ != nullptr) (*context_)->module_unload(module_);
}
Function Module::function(const std::string& name) const {
  Handle function = nullptr;
  context_->require((*context_)->module_function(&function, module_, name.c_str()), "module_function");
  return Function(*context_, function);
}

}  // namespace sandbox::gpu::driver
