// The libraries that people would otherwise use, as this host has them: cuBLAS or rocBLAS, PyTorch in a Python, and
// files of the user's own.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/campaign/devices.h"
#include "benchsuite/problem.h"
#include "core/paths.h"
#include "sandbox/process/worker.h"

namespace agent::campaign {

// A library worker (verifier::judging::Judge::judge_library); restarted after it was lost.
class LibraryWorker {
 public:
  // The command of a worker that may write to this folder alone.
  using InScratch = std::function<sandbox::process::WorkerCommand(const std::filesystem::path& scratch)>;

  explicit LibraryWorker(sandbox::process::WorkerCommand command);
  // Each start makes a new folder, which is removed once the worker has ended.
  explicit LibraryWorker(InScratch command) : in_scratch_(std::move(command)) {}
  ~LibraryWorker() { end(); }
  LibraryWorker(const LibraryWorker&) = delete;
  LibraryWorker& operator=(const LibraryWorker&) = delete;

  // Throws core::SystemError when it does not start. Call it from a thread that outlives the worker.
  sandbox::process::Worker& running();
  void end();

 private:
  sandbox::process::WorkerCommand command_;
  InScratch in_scratch_;
  std::filesystem::path scratch_;
  std::optional<sandbox::process::Worker> worker_;
};

// The user's own kernel: a Python file with one function "equivalent" (verifier/devices/torch/equivalent_file.py).
struct OwnLibrary {
  std::string name;
  std::filesystem::path file;  // absolute
};
// From "NAME=FILE.py". Throws core::UsageError for another form, a name that libraries have, and a missing file.
OwnLibrary parse_own_library(const std::string& text);

struct Library {
  enum class Kind { cublas, cublas_lt, rocblas, pytorch_eager, pytorch_compile, own };
  Kind kind;
  std::string name;  // with its version: "cuBLAS 13.0", "PyTorch 2.11 compile"
  std::shared_ptr<LibraryWorker> worker;
  std::filesystem::path file = {};  // of an own one
  // For torch.compile alone: a jailed worker, which compiles the reference.py of one problem at a time.
  std::shared_ptr<LibraryWorker> jailed = {};
};

// True if the problem declares an equivalent in this library, or the library is the user's own. torch.compile also
// computes a problem's reference.py; eager PyTorch does so as its naive solution.
bool computes(Library::Kind kind, const benchsuite::Problem& problem);
// True if this is torch.compile of the problem's reference.py, whose worker must be jailed and end with the problem.
bool is_untrusted(Library::Kind kind, const benchsuite::Problem& problem);
// The modes of torch.compile, of which the fastest counts.
inline constexpr std::array kCompileModes{"default", "max-autotune-no-cudagraphs", "reduce-overhead"};
// The request that makes the library's worker compute the problem. `mode`: of torch.compile, for that library alone.
core::Json open_request(const Library& library, const benchsuite::Problem& problem, const std::string& mode = "");

// The libraries that compute any of the problems, then the user's own. Calls `left_out` with a
// sentence for each that this host lacks. Throws core::InputError when $KW_PYTHON names no program.
std::vector<Library> find_libraries(const core::Paths& paths, const DeviceChoice& choice,
                                    const std::vector<const benchsuite::Problem*>& problems,
                                    const std::vector<OwnLibrary>& own,
                                    const std::function<void(const std::string&)>& left_out);

// "2.11" from "2.11.0+cu130"
std::string short_version(const std::string& version);

}  // namespace agent::campaign
