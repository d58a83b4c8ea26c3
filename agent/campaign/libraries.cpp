#include "agent/campaign/libraries.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "agent/torch/torch_python.h"
#include "core/error.h"
#include "core/scalar.h"
#include "sandbox/compile_pool.h"

namespace agent::campaign {
namespace {
namespace fs = std::filesystem;
using core::Json;
constexpr auto kAbout = std::chrono::seconds(60);

std::string variable_of_host(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_pytorch(Library::Kind kind) {
  return kind == Library::Kind::pytorch_eager || kind == Library::Kind::pytorch_compile;
}

const char* request_name(Library::Kind kind) {
  return kind == Library::Kind::cublas ? "cublas" : kind == Library::Kind::cublas_lt ? "cublaslt" : "rocblas";
}

sandbox::process::WorkerCommand gemm_worker(const core::Paths& paths, const DeviceChoice& choice) {
  sandbox::process::WorkerCommand command = judged_device(paths, choice.backend, choice.index).worker;
  command.args.insert(command.args.end(), {"--role", "library"});
  const std::string home = variable_of_host("CUDA_HOME");
  if (choice.backend == benchsuite::Backend::cuda && !home.empty()) {
    command.args.insert(command.args.end(), {"--cuda-home", home});
  }
  return command;
}

// Workers start with an empty environment. PyTorch finds its compilers, caches and libraries through these variables;
// none of them holds keys or tokens.
sandbox::process::WorkerCommand pytorch_worker(const core::Paths& paths, const DeviceChoice& choice,
                                               const fs::path& python) {
  sandbox::process::WorkerCommand command{
      python, {"-B", (paths.torch() / "torch_worker.py").string(), "--device", std::to_string(choice.index)}, {}};
  command.launcher = {"/usr/bin/env"};
  for (const char* name : {"PATH",
                           "HOME",
                           "USER",
                           "LOGNAME",
                           "TMPDIR",
                           "LANG",
                           "LD_LIBRARY_PATH",
                           "PYTHONPATH",
                           "PYTHONHOME",
                           "VIRTUAL_ENV",
                           "CONDA_PREFIX",
                           "CUDA_HOME",
                           "CUDA_VISIBLE_DEVICES",
                           "HIP_VISIBLE_DEVICES",
                           "ROCM_PATH",
                           "CC",
                           "CXX",
                           "XDG_CACHE_HOME",
                           "TRITON_CACHE_DIR",
                           "TORCHINDUCTOR_CACHE_DIR"}) {
    if (const std::string value = variable_of_host(name); !value.empty()) {
      command.launcher.push_back(std::string(name) + "=" + value);
    }
  }
  return command;
}

std::shared_ptr<LibraryWorker> jailed_worker(const core::Paths& paths, const DeviceChoice& choice) {
  const bool rocm = choice.backend == benchsuite::Backend::hip;
  return std::make_shared<LibraryWorker>([paths, index = choice.index, rocm](const fs::path& scratch) {
    return torch::compiled_reference_worker(paths, index, rocm, scratch);
  });
}

// All that the worker must know: it is never asked to load the problem.
Json open_reference(const benchsuite::Problem& problem, const std::string& mode) {
  Json scalars = Json::object();
  for (const benchsuite::NamedScalar& scalar : problem.scalars) scalars[scalar.name] = core::json_of(scalar.value);
  return {{"op", "open"},
          {"what", "compiled"},
          {"source", problem.files.at(std::string(benchsuite::kPytorchFile))},
          {"tf32", problem.contract.tf32},
          {"scalars", std::move(scalars)},
          {"mode", mode}};
}

using LeftOut = std::function<void(const std::string&)>;

void add_gemm_libraries(std::vector<Library>& libraries, const core::Paths& paths, const DeviceChoice& choice,
                        const LeftOut& left_out) {
  const auto worker = std::make_shared<LibraryWorker>(gemm_worker(paths, choice));
  using Kind = Library::Kind;
  const bool nvidia = choice.backend == benchsuite::Backend::cuda;
  for (const Kind kind : nvidia ? std::vector{Kind::cublas, Kind::cublas_lt} : std::vector{Kind::rocblas}) {
    const Json about = worker->running().request({{"op", "about"}, {"library", request_name(kind)}}, {}, kAbout).json;
    if (about.contains("name")) {
      libraries.push_back({kind, about.at("name").get<std::string>(), worker});
    } else {
      left_out("left out: " + about.at("missing").get<std::string>());
    }
  }
}

void add_pytorch(std::vector<Library>& libraries, const core::Paths& paths, const DeviceChoice& choice,
                 const std::vector<OwnLibrary>& own, const LeftOut& left_out) {
  const std::string remedy = "; KW_PYTHON names the Python that has PyTorch";
  std::string who = "PyTorch";
  for (const OwnLibrary& one : own) who += ", " + one.name;
  who += own.empty() ? " is left out: " : " are left out: ";
  const auto python = torch::find_python();
  if (!python) return left_out(who + "there is no python3 on PATH" + remedy);
  const auto worker = std::make_shared<LibraryWorker>(pytorch_worker(paths, choice, *python));
  const Json about = worker->running().request({{"op", "about"}}, {}, kAbout).json;
  if (!about.contains("torch")) {
    return left_out(who + about.at("missing").get<std::string>() + remedy);
  }
  const std::string name = "PyTorch " + short_version(about.at("torch").get<std::string>());
  libraries.push_back({Library::Kind::pytorch_eager, name + " eager", worker});
  libraries.push_back({Library::Kind::pytorch_compile, name + " compile", worker, {}, jailed_worker(paths, choice)});
  for (const OwnLibrary& one : own) {  // each in a process of its own: they import what they like
    const auto alone = std::make_shared<LibraryWorker>(pytorch_worker(paths, choice, *python));
    libraries.push_back({Library::Kind::own, one.name, alone, one.file});
  }
}
}  // namespace

LibraryWorker::LibraryWorker(sandbox::process::WorkerCommand command) : command_(std::move(command)) {}

sandbox::process::Worker& LibraryWorker::running() {
  if (worker_ && worker_->pid() > 0) return *worker_;
  end();
  if (in_scratch_) {
    scratch_ = sandbox::make_scratch(fs::temp_directory_path());
    command_ = in_scratch_(scratch_);
  }
  worker_ = sandbox::process::Worker::start(command_);
  return *worker_;
}

void LibraryWorker::end() {
  worker_.reset();
  std::error_code ignored;
  if (!scratch_.empty()) fs::remove_all(std::exchange(scratch_, fs::path()), ignored);
}

OwnLibrary parse_own_library(const std::string& text) {
  constexpr const char* kOption = "--library";
  constexpr size_t kLongest = 40;
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw core::UsageError(kOption, "\"" + text + "\" is not NAME=FILE.py", "give your kernel a name: ours=softmax.py");
  }
  OwnLibrary own{text.substr(0, equals), text.substr(equals + 1)};
  const bool plain = std::all_of(own.name.begin(), own.name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view(" ._+-").find(c) < 5;
  });
  if (!plain || own.name.size() > kLongest) {
    throw core::UsageError(kOption, "\"" + own.name + "\" is no name for a library",
                           "use at most 40 letters, digits, blanks and . _ + -");
  }
  for (const char* taken : {"PyTorch", "cuBLAS", "rocBLAS", "naive"}) {
    if (own.name.rfind(taken, 0) != 0) continue;
    throw core::UsageError(kOption, "names that begin with " + std::string(taken) + " are taken",
                           "choose another name");
  }
  if (own.file.extension() != ".py") {
    throw core::UsageError(kOption, own.file.string() + " is no Python file",
                           "write one that calls it: docs/problem-format.md#what-you-run-today");
  }
  if (!fs::is_regular_file(own.file)) throw core::UsageError(kOption, own.file.string() + " is no file");
  own.file = fs::absolute(own.file);
  return own;
}

bool computes(Library::Kind kind, const benchsuite::Problem& problem) {
  if (kind == Library::Kind::own || is_untrusted(kind, problem)) return true;
  return is_pytorch(kind) ? !problem.equivalents.pytorch.empty() : !problem.equivalents.gemm.empty();
}

bool is_untrusted(Library::Kind kind, const benchsuite::Problem& problem) {
  return kind == Library::Kind::pytorch_compile && problem.pytorch() && problem.equivalents.pytorch.empty();
}

Json open_request(const Library& library, const benchsuite::Problem& problem, const std::string& mode) {
  if (library.kind == Library::Kind::own) {
    return {{"op", "open"}, {"equivalent", ""}, {"file", library.file.string()}};
  }
  if (is_untrusted(library.kind, problem)) return open_reference(problem, mode);
  if (is_pytorch(library.kind)) {
    Json request{{"op", "open"}, {"equivalent", problem.equivalents.pytorch}};
    if (library.kind == Library::Kind::pytorch_compile) request["compile"] = mode;
    return request;
  }
  return {{"op", "open"}, {"library", request_name(library.kind)}, {"gemm", problem.equivalents.gemm}};
}

std::vector<Library> find_libraries(const core::Paths& paths, const DeviceChoice& choice,
                                    const std::vector<const benchsuite::Problem*>& problems,
                                    const std::vector<OwnLibrary>& own, const LeftOut& left_out) {
  const auto wanted = [&](Library::Kind kind) {
    return std::any_of(problems.begin(), problems.end(), [&](const auto* problem) { return computes(kind, *problem); });
  };
  std::vector<Library> libraries;
  const auto add = [&](const char* what, const auto& function) {
    try {
      function();
    } catch (const core::InputError&) {  // a setting of the user's
      throw;
    } catch (const std::exception& error) {
      left_out(std::string(what) + " is left out: " + error.what());
    }
  };
  if (wanted(Library::Kind::cublas))
    add(choice.backend == benchsuite::Backend::cuda ? "cuBLAS" : "rocBLAS",
        [&] { add_gemm_libraries(libraries, paths, choice, left_out); });
  if (wanted(Library::Kind::pytorch_compile) || !own.empty()) {
    add("PyTorch", [&] { add_pytorch(libraries, paths, choice, own, left_out); });
  }
  return libraries;
}

std::string short_version(const std::string& version) {
  const size_t first = version.find('.');
  return first == std::string::npos ? version : version.substr(0, version.find_first_not_of("0123456789", first + 1));
}

}  // namespace agent::campaign
