#include "agent/torch/robust_kbench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/error.h"
#include "sandbox/cpu/test_device_fixture.h"

namespace agent::torch {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(RobustKbench, ATaskIsAFileOfPyTorchAtItsFirstConfiguration) {
  const std::string source = source_of_task("def get_inputs(rows, width): ...", R"({
      "single_shared_configs": [{"width": 64}, {"width": 128}], "single_input_configs": [{"rows": 7}],
      "single_init_configs": [{"method": "random", "bias": true, "eps": 1e-5}]})",
                                            "file");
  EXPECT_THAT(source, HasSubstr("\nwidth = 64\nrows = 7\n"));
  EXPECT_THAT(source, HasSubstr("bias = True\neps = 1e-05\nmethod = \"random\"\n"));
  EXPECT_THAT(source, HasSubstr("return _inputs_of_task(rows=rows, width=width)"));
  EXPECT_THAT(source, HasSubstr(R"(return {"bias": bias, "eps": eps, "method": method, "width": width})"));
}

TEST(RobustKbench, AConfigurationIsDataAndNoCode) {
  EXPECT_THROW(source_of_task("", R"({"single_input_configs": [{"a; import os": 1}]})", "file"), core::InputError);
  EXPECT_THROW(source_of_task("", R"({"single_input_configs": [{"a": [1]}]})", "file"), core::InputError);
  EXPECT_THAT(source_of_task("", R"({"single_input_configs": [{"a": "\"\n"}]})", "file"), HasSubstr(R"(a = "\"\n")"));
}

TEST(RobustKbench, TasksAreFoundBelowAFolder) {
  const sandbox::cpu::test::TemporaryFolder folder;
  const fs::path root = folder.path();
  for (const char* task : {"norm", "level_1/task_2", "empty"}) fs::create_directories(root / task);
  for (const char* file : {"norm/func_forward.py", "norm/config_forward.json", "level_1/task_2/func_forward.py",
                           "level_1/task_2/config_forward.json", "empty/func_forward.py"}) {
    std::ofstream(root / file) << "{}";
  }
  const auto found = tasks_at(root);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "level_1_task_2");
  EXPECT_EQ(found[1].name, "norm");
  EXPECT_EQ(tasks_at(root / "norm").at(0).name, "norm");
  EXPECT_THROW(tasks_at(root / "empty"), core::InputError);
}

}  // namespace
}  // namespace agent::torch
