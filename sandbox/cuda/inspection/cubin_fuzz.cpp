// Cubins: any bytes from a compile worker pass inspection or are refused.
#include "sandbox/cuda/inspection/cubin.h"

#include "core/error.h"
#include "core/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view cubin = core::fuzzing::as_text(bytes, size);
  const auto attempt = [](auto&& inspect) {
    try {
      inspect();
    } catch (const core::InputError& refused) {
      core::fuzzing::require(!refused.problem().empty(), "a refusal has a reason");
    }
  };
  attempt([&] { sandbox::cuda::inspection::kernels_of(cubin); });
  attempt(
      [&] { core::fuzzing::require(sandbox::cuda::inspection::global_bytes(cubin) >= 0, "memory is not negative"); });
  attempt([&] { sandbox::cuda::inspection::inspect_cubin(cubin); });
  return 0;
}
