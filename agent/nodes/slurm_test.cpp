#include "agent/nodes/slurm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.h"

namespace agent::nodes {
namespace {
using testing::HasSubstr;

class Slurm : public testing::Test {
 protected:
  Slurm() {
    std::ofstream(folder_ / "srun") << "#!/bin/sh\n";
    std::filesystem::permissions(folder_ / "srun", std::filesystem::perms::owner_all);
    ::setenv("PATH", (folder_.string() + ":" + path_).c_str(), 1);
  }
  ~Slurm() override {
    ::setenv("PATH", path_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }
  static std::filesystem::path make_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "kernelwright-srun-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    return name;
  }
  const std::string path_ = std::getenv("PATH");
  const std::filesystem::path folder_ = make_folder();
};

TEST_F(Slurm, APartitionGetsANodeForEachProblemAndTwoAtLeast) {
  EXPECT_EQ(nodes_on_slurm("gpu", true, 12).nodes, 12);
  EXPECT_EQ(nodes_on_slurm("gpu", true, 1).nodes, 2);
  EXPECT_EQ(nodes_on_slurm("gpu:3", true, 12).nodes, 3);
  EXPECT_EQ(nodes_on_slurm("gpu,big", true, 1).launcher, "srun -Q -J kernelwright -p gpu,big -N1 -n1 -c4 --gpus=1");
  EXPECT_EQ(nodes_on_slurm("main:2", false, 1).launcher, "srun -Q -J kernelwright -p main -N1 -n1 -c2");
}

TEST_F(Slurm, OtherFormsAreRefused) {
  for (const char* text : {"", ":2", "a b", "a;b", "gpu:", "gpu:0", "gpu:x", "gpu:99999", "gpu:-1"}) {
    EXPECT_THROW(nodes_on_slurm(text, false, 1), core::UsageError) << text;
  }
}

TEST_F(Slurm, AHostWithoutSrunIsNamed) {
  ::setenv("PATH", "/nonexistent", 1);
  try {
    nodes_on_slurm("gpu", false, 1);
    ADD_FAILURE();
  } catch (const core::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("srun is not on PATH"));
  }
}

}  // namespace
}  // namespace agent::nodes
