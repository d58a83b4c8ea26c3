#include "agent/campaign/libraries.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "agent/torch/torch_python.h"
#include "core/error.h"

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

const char* request_name(Library::Kind kind) { return kind == Library::Kind::cublas ? "cublas" : "cublaslt"; }

sandbox::process::WorkerCommand cublas_worker(const core::Paths& paths, const DeviceChoice& choice) {
  sandbox::process::WorkerCommand command = judged_device(paths, choice.backend, choice.index).worker;
  command.args.insert(command.args.end(), {"--role", "library"});
  if (const std::string home = variable_of_host("CUDA_HOME"); !home.empty()) {
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
  for (const char* name : {"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "PYTHONPATH",
                           "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX", "CUDA_HOME", "CUDA_VISIBLE_DEVICES", "CC",
                           "CXX", "XDG_CACHE_HOME", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"}) {
    if (const std::string value = variable_of_host(name); !value.empty()) {
      command.launcher.push_back(std::string(name) + "=" + value);
    }
  }
  return command;
}

using LeftOut = std::function<void(const std::string&)>;

void add_cublas(std::vector<Library>& libraries, const core::Paths& paths, const DeviceChoice& choice,
                const LeftOut& left_out) {
  const auto worker = std::make_shared<LibraryWorker>(cublas_worker(paths, choice));
  for (const Library::Kind kind : {Library::Kind::cublas, Library::Kind::cublas_lt}) {
    const Json about = worker->running().request({{"op", "about"}, {"library", request_name(kind)}}, {}, kAbout).json;
    if (about.contains("name")) {
      libraries.push_back({kind, about.at("name").get<std::string>(), worker});
    } else {
      left_out("left out: " + about.at("missing").get<std::string>());
    }
  }
}

void add_pytorch(std::vector<Library>& libraries, const core::Paths& paths, const DeviceChoice& choice,
                 const LeftOut& left_out) {
  const std::string remedy = "; KW_PYTHON names the Python that has PyTorch";
  const auto python = torch::find_python();
  if (!python) return left_out("PyTorch is left out: there is no python3 on PATH" + remedy);
  const auto worker = std::make_shared<LibraryWorker>(pytorch_worker(paths, choice, *python));
  const Json about = worker->running().request({{"op", "about"}}, {}, kAbout).json;
  if (!about.contains("torch")) {
    return left_out("PyTorch is left out: " + about.at("missing").get<std::string>() + remedy);
  }
  const std::string name = "PyTorch " + short_version(about.at("torch").get<std::string>());
  libraries.push_back({Library::Kind::pytorch_eager, name + " eager", worker});
  libraries.push_back({Library::Kind::pytorch_compile, name + " compile", worker});
}
}  // namespace

sandbox::process::Worker& LibraryWorker::running() {
  if (!worker_ || worker_->pid() <= 0) worker_ = sandbox::process::Worker::start(command_);
  return *worker_;
}

bool computes(Library::Kind kind, const benchsuite::Problem& problem) {
  return is_pytorch(kind) ? !problem.equivalents.pytorch.empty() : !problem.equivalents.gemm.empty();
}

Json open_request(const Library& library, const benchsuite::Problem& problem) {
  if (is_pytorch(library.kind)) {
    return {{"op", "open"},
            {"expression", problem.equivalents.pytorch},
            {"compile", library.kind == Library::Kind::pytorch_compile}};
  }
  return {{"op", "open"}, {"library", request_name(library.kind)}, {"gemm", problem.equivalents.gemm}};
}

std::vector<Library> find_libraries(const core::Paths& paths, const DeviceChoice& choice,
                                    const std::vector<const benchsuite::Problem*>& problems, const LeftOut& left_out) {
  const auto wanted = [&](Library::Kind kind) {
    return std::any_of(problems.begin(), problems.end(), [&](const auto* problem) { return computes(kind, *problem); });
  };
  std::vector<Library> libraries;
  const auto add = [&](Library::Kind kind, const char* what, auto function) {
    if (!wanted(kind)) return;
    try {
      function(libraries, paths, choice, left_out);
    } catch (const core::InputError&) {  // a setting of the user's
      throw;
    } catch (const std::exception& error) {
      left_out(std::string(what) + " is left out: " + error.what());
    }
  };
  add(Library::Kind::cublas, "cuBLAS", add_cublas);
  add(Library::Kind::pytorch_eager, "PyTorch", add_pytorch);
  return libraries;
}

std::string short_version(const std::string& version) {
  const size_t first = version.find('.');
  return first == std::string::npos ? version : version.substr(0, version.find_first_not_of("0123456789", first + 1));
}

}  // namespace agent::campaign
