// For a test of torch_memory.py: the calls of AMD's HIP runtime that share memory, with memory files for device memory
// and descriptors by value, as since HIP 7.1.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

extern "C" {
const char* hipGetErrorString(int) { return "invalid argument"; }
int hipRuntimeGetVersion(int* version) {
  *version = 70100000;
  return 0;
}
int hipDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 19 ? 8 << 20 : 0;  // hipDeviceAttributeL2CacheSize
  return 0;
}
int hipMemGetAllocationGranularity(size_t* bytes, const void*, int) {
  *bytes = 1 << 16;
  return 0;
}
int hipMemImportFromShareableHandle(uint64_t* handle, void* descriptor, int) {
  *handle = static_cast<uint64_t>(::dup(static_cast<int>(reinterpret_cast<intptr_t>(descriptor))));
  return static_cast<int64_t>(*handle) < 0 ? 1 : 0;
}
int hipMemAddressReserve(uint64_t* address, size_t bytes, size_t, uint64_t, unsigned long long) {
  void* reserved = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *address = reinterpret_cast<uint64_t>(reserved);
  return reserved == MAP_FAILED ? 1 : 0;
}
int hipMemMap(uint64_t address, size_t bytes, size_t, uint64_t handle, unsigned long long) {
  const int fd = static_cast<int>(handle);
  return ::mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED;
}
int hipMemSetAccess(uint64_t address, size_t bytes, const int* description, size_t) {
  return ::mprotect(reinterpret_cast<void*>(address), bytes, description[2] == 3 ? PROT_READ | PROT_WRITE : PROT_READ);
}
int hipMemUnmap(uint64_t address, size_t bytes) { return ::munmap(reinterpret_cast<void*>(address), bytes); }
int hipMemAddressFree(uint64_t address, size_t bytes) { return ::munmap(reinterpret_cast<void*>(address), bytes); }
int hipMemRelease(uint64_t handle) { return ::close(static_cast<int>(handle)); }
}  // extern "C"
