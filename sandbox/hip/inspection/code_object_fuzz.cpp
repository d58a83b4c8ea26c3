// AMD code objects: any bytes from a compile worker are inspected or refused. Without ROCm only their headers and
// notes.
#include "sandbox/hip/inspection/code_object.h"

#include <optional>

#include "core/error.h"
#include "core/fuzzing.h"

namespace {
std::optional<sandbox::hip::inspection::Comgr> comgr_here() {
  try {
    return sandbox::hip::inspection::Comgr::open();
  } catch (const core::SystemError&) {
    return std::nullopt;
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static const std::optional<sandbox::hip::inspection::Comgr> comgr = comgr_here();
  const std::string_view object = core::fuzzing::as_text(bytes, size);
  try {
    for (const auto& [name, resources] : sandbox::hip::inspection::resources_of(object)) {
      core::fuzzing::require(!name.empty() && resources.parameters >= 0, "a kernel has a name");
    }
    if (comgr) sandbox::hip::inspection::inspect_code_object(object, "gfx90a", *comgr);
  } catch (const core::InputError& refused) {
    core::fuzzing::require(!refused.problem().empty(), "a refusal has a reason");
  }
  return 0;
}
