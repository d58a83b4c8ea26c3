#include "agent/campaign/device_text.h"

#include <gtest/gtest.h>

namespace agent::campaign {
namespace {

TEST(DeviceText, IsReadBackAsItWasWritten) {
  prompting::DeviceText text;
  text.backend = "cpu";
  text.vectors = "AVX2: vectors of 32 bytes";
  text.l2_bytes = 1 << 20;
  const prompting::DeviceText back = device_text_from_json(core::JsonView(to_json(text), "test"));
  EXPECT_EQ(back.backend, "cpu");
  EXPECT_EQ(back.vectors, text.vectors);
  EXPECT_EQ(back.l2_bytes, 1 << 20);
  EXPECT_FALSE(back.registers);
}

TEST(DeviceText, OfAnEarlierVersionSaysLess) {
  core::Json json = to_json(prompting::DeviceText{});
  json.erase("vectors");
  EXPECT_EQ(device_text_from_json(core::JsonView(json, "test")).vectors, "");
}

}  // namespace
}  // namespace agent::campaign
