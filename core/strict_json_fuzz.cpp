// Strict JSON: any text is read or refused, and the result survives a round trip.
#include "core/strict_json.h"

#include "core/error.h"
#include "core/fuzzing.h"

namespace {
// Reads every value in each way in turn, right or wrong: exceptions cost the most time.
void visit(const core::JsonView& view, unsigned& count) {
  if (view.json().is_array()) {
    for (const core::JsonView& item : view.items()) visit(item, count);
  } else if (view.json().is_object()) {
    for (const auto& [name, member] : view.members()) visit(member, count);
  }
  try {
    switch (count++ % 8) {
      case 0:
        view.string();
        break;
      case 1:
        view.integer(-8, 1 << 20);
        break;
      case 2:
        view.number();
        break;
      case 3:
        view.boolean();
        break;
      case 4:
        view.identifier();
        break;
      case 5:
        view.expr();
        break;
      case 6:
        view.one_of({"win", "tie"}, "outcomes");
        break;
      default:
        view.expect_object({"a"}, {"name", "problem"});
    }
  } catch (const core::InputError&) {
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  try {
    const core::Json json = core::parse_json(core::fuzzing::as_text(bytes, size), "fuzzed");
    unsigned count = size;
    visit(core::JsonView(json, "fuzzed"), count);
    core::fuzzing::require(core::parse_json(json.dump(), "written") == json, "the same value from its text");
  } catch (const core::InputError&) {
  }
  return 0;
}
