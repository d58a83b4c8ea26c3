#include "sandbox/cpu/compiler/check_names.h"

namespace sandbox::cpu::compiler {

std::vector<std::string> check_entry_points() {
  std::vector<std::string> names{"memcpy", "memset", "memmove", "memcmp",  "frexp",  "frexpf",
                                 "modf",   "modff",  "remquo",  "remquof", "sincos", "sincosf"};
  const auto add = [&](const std::string& name) { names.push_back("__tsan_" + name); };
  for (const char* name : {"init", "func_entry", "func_exit", "read_range", "write_range", "vptr_update", "vptr_read",
                           "memcpy", "memset", "memmove", "atomic_thread_fence", "atomic_signal_fence"}) {
    add(name);
  }
  for (const char* kind : {"", "unaligned_", "volatile_", "unaligned_volatile_"}) {
    for (const char* access : {"read", "write"}) {
      for (const char* bytes : {"1", "2", "4", "8", "16"}) add(std::string(kind) + access + bytes);
    }
  }
  for (const char* bits : {"8", "16", "32", "64"}) {
    for (const char* operation :
         {"load", "store", "exchange", "fetch_add", "fetch_sub", "fetch_and", "fetch_or", "fetch_xor", "fetch_nand",
          "compare_exchange_strong", "compare_exchange_weak", "compare_exchange_val"}) {
      add(std::string("atomic") + bits + "_" + operation);
    }
  }
  for (const char* finding : {"type_mismatch_v1", "out_of_bounds", "divrem_overflow"}) {
    names.push_back(std::string("__ubsan_handle_") + finding + "_abort");
  }
  return names;
}

}  // namespace sandbox::cpu::compiler
