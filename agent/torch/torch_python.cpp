#include "agent/torch/torch_python.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <set>
#include <sstream>

#include "core/error.h"
#include "core/process.h"
#include "core/strict_json.h"

namespace agent::torch {
namespace {
namespace fs = std::filesystem;
constexpr auto kAsked = std::chrono::seconds(30);
constexpr size_t kMostAnswer = 65536;
// Asks without importing PyTorch, which takes seconds. What stands beside sys.path: libraries of the interpreter.
constexpr const char* kQuestion = R"python(
import importlib.util, json, os, platform, site, sys
from importlib import metadata
folders = [folder for folder in sys.path if folder] + [os.path.dirname(os.__file__)]
for prefix in {sys.prefix, sys.base_prefix}:
    if prefix not in ("/", "/usr", "/usr/local"):
        folders.append(prefix)
version = None
if importlib.util.find_spec("torch"):
    try:
        version = metadata.version("torch")
    except metadata.PackageNotFoundError:
        version = "unknown"
modules = [folder for folder in os.environ.get("PYTHONPATH", "").split(":") if folder]
if site.getusersitepackages() in sys.path:
    modules.append(site.getusersitepackages())
print(json.dumps({"modules": modules, "interpreter": sys.executable, "python": platform.python_version(), "torch": version,
                  "folders": folders}))
)python";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_program(const fs::path& file) { return fs::is_regular_file(file) && ::access(file.c_str(), X_OK) == 0; }

// A program's output; empty when it fails or takes too long.
std::string output_of(const std::vector<std::string>& argv) {
  core::Pipe pipe;
  core::Process process({.argv = argv, .output = pipe.write.get()});
  pipe.write.reset();
  std::string output;
  const auto end = std::chrono::steady_clock::now() + kAsked;
  for (char part[4096]; output.size() < kMostAnswer;) {
    pollfd ready{pipe.read.get(), POLLIN, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) return "";
    const ssize_t got = ::read(pipe.read.get(), part, sizeof part);
    if (got <= 0) break;
    output.append(part, static_cast<size_t>(got));
  }
  return process.wait() == 0 ? output : "";
}

std::vector<std::string> split_folders(const std::string& list) {
  std::vector<std::string> folders;
  std::istringstream stream(list);
  for (std::string folder; std::getline(stream, folder, ':');) {
    if (!folder.empty()) folders.push_back(folder);
  }
  return folders;
}

std::variant<TorchPython, std::string> ask(const fs::path& program) {
  const std::string what = program.string();
  try {
    const core::Json answer = core::parse_json(output_of({what, "-B", "-c", kQuestion}), what);
    const core::JsonView view(answer, what);
    TorchPython found{view.at("interpreter").string(), view.at("python").string(), "", {}, {}};
    if (answer.at("torch").is_null()) return what + " (Python " + found.python + ") has no torch";
    found.torch = view.at("torch").string();
    for (const core::JsonView& folder : view.at("modules").items()) found.modules.emplace_back(folder.string());
    std::set<std::string> folders;
    for (const core::JsonView& folder : view.at("folders").items()) folders.insert(folder.string());
    for (const std::string& folder : split_folders(variable("LD_LIBRARY_PATH"))) {
      folders.insert(folder);
      std::error_code none;
      folders.insert(fs::canonical(folder, none).string());
    }
    for (const std::string& folder : folders) {
      if (fs::exists(folder)) found.folders.emplace_back(folder);
    }
    return found;
  } catch (const std::exception&) {
    return what + " does not answer";
  }
}
}  // namespace

std::optional<fs::path> find_python() {
  if (const std::string named = variable("KW_PYTHON"); !named.empty()) {
    if (is_program(named)) return fs::absolute(named);  // unresolved: links name the Python environment
    throw core::InputError("KW_PYTHON", named + " is no program", "set it to a Python that has PyTorch, or unset it");
  }
  for (const std::string& folder : split_folders(variable("PATH"))) {
    if (is_program(fs::path(folder) / "python3")) return fs::absolute(fs::path(folder) / "python3");
  }
  return std::nullopt;
}

std::variant<TorchPython, std::string> find_torch_python() {
  const std::optional<fs::path> first = find_python();
  std::variant<TorchPython, std::string> answer = "there is no python3 on PATH";
  if (first) answer = ask(*first);
  const fs::path other = "/usr/bin/python3";
  if (answer.index() == 0 || !variable("KW_PYTHON").empty() || first == other || !is_program(other)) return answer;
  auto second = ask(other);
  return second.index() == 0 ? second : answer;
}

std::string torch_remedy() {
  return "install PyTorch (Debian and Ubuntu: apt-get install python3-torch; elsewhere: pip install torch), or set "
         "KW_PYTHON to a Python that has it";
}

namespace {
using Arguments = std::vector<std::string>;

std::string option(const char* name, const std::string& value) { return std::string(name) + "=" + value; }

void add_variable(Arguments& args, const char* name, const std::string& value) {
  args.push_back(option("--variable", option(name, value)));
}

void pass_variables(Arguments& args, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const std::string value = variable(name); !value.empty()) add_variable(args, name, value);
  }
}

// PyTorch 2 makes the folder of its compiler's cache as soon as it traces, and this jail has none to write to.
void forbid_compilers(Arguments& args) {
  add_variable(args, "HOME", "/");
  add_variable(args, "TORCHINDUCTOR_CACHE_DIR", "/");
}

void allow_compilers(Arguments& args, const fs::path& scratch) {
  args.insert(args.end(), {"--scratch", scratch.string()});
  add_variable(args, "PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
  for (const char* name : {"HOME", "TMPDIR"}) add_variable(args, name, scratch.string());
  add_variable(args, "XDG_CACHE_HOME", scratch / "cache");
  add_variable(args, "TRITON_CACHE_DIR", scratch / "triton");
  add_variable(args, "TORCHINDUCTOR_CACHE_DIR", scratch / "inductor");
  add_variable(args, "CUDA_CACHE_PATH", scratch / "driver");
  add_variable(args, "TORCHINDUCTOR_COMPILE_THREADS", "1");  // more would be processes
  pass_variables(args, {"CC", "CXX", "CUDA_HOME", "ROCM_PATH", "TRITON_LIBCUDA_PATH"});
  for (const char* folder : {"CUDA_HOME", "ROCM_PATH", "TRITON_LIBCUDA_PATH"}) {
    if (fs::exists(variable(folder))) args.push_back(option("--folder", variable(folder)));
  }
  for (const char* compiler : {"CC", "CXX"}) {  // one that is named by its path reads what was installed with it
    const fs::path program = variable(compiler);
    if (!program.is_absolute() || !is_program(program)) continue;
    args.push_back(option("--folder", fs::canonical(program).parent_path().parent_path().string()));
  }
}
}  // namespace

sandbox::process::WorkerCommand python_worker(const core::Paths& paths, const TorchPython& python,
                                              const fs::path& script, const std::vector<std::string>& arguments,
                                              const PythonLimits& limits) {
  Arguments args{"--device-headers", paths.device_headers().string(), "--role", "python",
                 option("--interpreter", python.interpreter.string())};
  const fs::path place = fs::canonical(script), shared = fs::canonical(paths.torch());
  std::vector<std::string> own{"-B", place.string()};
  own.insert(own.end(), arguments.begin(), arguments.end());
  for (const std::string& argument : own) args.push_back(option("--argument", argument));
  for (const fs::path& folder : python.folders) args.push_back(option("--folder", folder.string()));
  for (const fs::path& folder : {place.parent_path(), shared}) args.push_back(option("--folder", folder.string()));
  std::string modules = shared.string();
  for (const fs::path& folder : python.modules) modules += ":" + folder.string();
  add_variable(args, "PYTHONPATH", modules);
  pass_variables(args, {"LD_LIBRARY_PATH", "PYTHONHOME", "VIRTUAL_ENV", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"});
  // With AUTOLOAD=0, PyTorch does not look through every installed package for further devices. With MALLOC_*, the
  // memory of one large tensor serves the next one: new pages from the system take longer than many an operation.
  for (const char* fixed :
       {"OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1", "LANG=C.UTF-8", "USER=nobody", "LOGNAME=nobody",
        "TORCH_DEVICE_BACKEND_AUTOLOAD=0", "MALLOC_MMAP_MAX_=0", "MALLOC_TRIM_THRESHOLD_=1073741824"}) {
    args.push_back(option("--variable", fixed));
  }
  limits.scratch.empty() ? forbid_compilers(args) : allow_compilers(args, limits.scratch);
  if (limits.memory_mib > 0) args.push_back(option("--memory-mib", std::to_string(limits.memory_mib)));
  if (limits.processor_s > 0) args.push_back(option("--processor-s", std::to_string(limits.processor_s)));
  if (limits.gpu) args.emplace_back("--gpu");
  return {paths.worker("cpu"), std::move(args), {}, paths.sandbox_level};
}

namespace {
sandbox::process::WorkerCommand worker_of_reference(const core::Paths& paths, int device, bool rocm,
                                                    const PythonLimits& limits) {
  const auto python = find_torch_python();
  if (const auto* why = std::get_if<std::string>(&python)) {
    throw core::InputError("reference.py", "needs PyTorch: " + *why, torch_remedy());
  }
  Arguments arguments{"--device", std::to_string(device)};
  if (rocm) arguments.emplace_back("--rocm");
  return python_worker(paths, std::get<TorchPython>(python), paths.torch() / "reference_worker.py", arguments, limits);
}
}  // namespace

sandbox::process::WorkerCommand reference_worker(const core::Paths& paths, std::optional<int> gpu, bool rocm) {
  constexpr size_t kMemoryMib = 16 << 10;
  return worker_of_reference(paths, gpu.value_or(-1), rocm, {gpu ? 0 : kMemoryMib, 0, gpu.has_value(), {}});
}

sandbox::process::WorkerCommand compiled_reference_worker(const core::Paths& paths, int gpu, bool rocm,
                                                          const fs::path& scratch) {
  return worker_of_reference(paths, gpu, rocm, {0, 0, true, scratch});
}

}  // namespace agent::torch
