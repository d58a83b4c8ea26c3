// For tests: a host with an AMD GPU that is none (sandbox/hip/test_driver), and problems small enough for it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "agent/campaign/program_fixture.h"
#include "benchsuite/problem.h"
#include "core/paths.h"
#include "core/strict_json.h"
#include "core/text.h"
#include "sandbox/cpu/runtime/module.h"

namespace agent::campaign::test {

class TestHip {
 public:
  // `fault`: what is not as usual ("no_device", "hang", "two_devices", ...: sandbox/hip/test_driver/device_fixture.h).
  explicit TestHip(const std::string& fault = "") {
    namespace fs = std::filesystem;
    const core::Paths installed = core::installed_paths();
    const fs::path made = installed.program_folder.parent_path() / "test_hip";
    for (const char* name : {"kernelwright-cpu", "kernelwright-cuda"}) {
      fs::create_symlink(installed.program_folder / name, home_.folder() / name);
    }
    fs::create_symlink(made / "kernelwright-hip", home_.folder() / "kernelwright-hip");
    paths_ = installed;
    paths_.program_folder = home_.folder();
    paths_.hip_library = home_.folder() / ("libkw_test_hip." + fault + ".so");
    fs::create_symlink(made / "libkw_test_hip.so", paths_.hip_library);
    fs::create_symlink(made / "libkw_test_hip.so", home_.folder() / "librocblas.so.5");
    ::setenv("XDG_CACHE_HOME", cache().c_str(), 1);  // compiled kernels of ours, for all tests of a process
  }

  const core::Paths& paths() const { return paths_; }
  const Home& home() const { return home_; }

  // A shipped problem that is timed at these axes.
  benchsuite::Problem small(const std::string& name, const core::Json& axes) const {
    const std::filesystem::path folder = home_.folder() / name;
    std::filesystem::copy(core::installed_paths().problems() / name, folder);
    core::Json json = core::Json::parse(core::read_file(folder / "problem.json"));
    core::Json kept = core::Json::array();
    for (const core::Json& workload : json["workloads"]) {
      if (workload["role"] == "test") kept.push_back(workload);
    }
    kept.push_back({{"name", "bench_small"}, {"role", "bench"}, {"axes", axes}});
    json["workloads"] = kept;
    std::ofstream(folder / "problem.json") << json.dump();
    return benchsuite::load_problem(folder);
  }

 private:
  static const std::filesystem::path& cache() {
    static const Home home;
    return home.folder();
  }

  Home home_;
  core::Paths paths_;
};

}  // namespace agent::campaign::test
