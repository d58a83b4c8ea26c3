// Device code that comes with the program, for the judge worker and the run workers of a GPU. It takes eight seconds to
// compile, so binaries are kept in the user's cache folder. Candidates cannot write there: jailed processes open no
// files.
#pragma once

#include <filesystem>
#include <future>
#include <string>

#include "core/unique_fd.h"
#include "sandbox/compile_pool.h"

namespace sandbox {

struct OwnKernels {
  std::string judge, run;              // sources
  std::filesystem::path kept_in = {};  // a folder for binaries; empty: they are compiled in each process
  std::string made_by = {};            // besides source and compiler, what decides how a binary comes out
};

// One of these sources on its way to a binary: either kept or being compiled.
class OwnKernel {
 public:
  // `name`: the source's file, for diagnostics.
  OwnKernel(const std::string& name, const std::string& source, const OwnKernels& all, CompilePool& pool);

  // The binary, in a sealed memory file. Waits for it, and keeps it: call once. Throws core::SystemError when the
  // source does not compile.
  core::UniqueFd wait();

 private:
  std::filesystem::path file_;  // of the kept binary, or empty
  std::string name_, prefix_;   // of all files that hold this source's binaries for this architecture
  core::UniqueFd kept_;
  std::future<Compilation> compiling_;  // if none is kept
};

}  // namespace sandbox
