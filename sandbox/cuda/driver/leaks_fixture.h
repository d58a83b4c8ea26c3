// Include in exactly one source of a test program that uses NVRTC, or ROCm's libraries, in its own process.
#pragma once

#include <dlfcn.h>

#include <initializer_list>

// LeakSanitizer calls this before it searches for leaks at the end of a process. After NVRTC was opened it must not: it
// stops every thread and walks through memory that NVRTC maps and unmaps, and sometimes crashes there ("Tracer caught
// signal 11") after the test has passed. ROCm's libraries keep what they allocate until the process ends.
extern "C" int __lsan_is_turned_off() {
  for (const char* name :
       {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "libamd_comgr.so.3", "libamd_comgr.so.2"}) {
    if (::dlopen(name, RTLD_LAZY | RTLD_NOLOAD) != nullptr) return 1;
  }
  return 0;
}
