// Tests of the cpu device: compile a piece of CUDA C++, run it over plain vectors, see what became of it.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "benchsuite/shared_headers.h"
#include "core/paths.h"
#include "core/unique_fd.h"
#include "sandbox/cpu/compiler/compiler.h"
#include "sandbox/cpu/memory/mapped_buffer.h"
#include "sandbox/cpu/runtime/check.h"
#include "sandbox/cpu/runtime/module.h"
#include "sandbox/process/channel.h"

namespace sandbox::cpu::test {

// A folder that goes with its owner.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "kw_test_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder for a test");
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The source, with the shared headers that it includes in their places.
inline std::string with_headers(const std::string& source) {
  return benchsuite::with_shared_headers(source, "solution.cu");
}

inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  if (at == std::string::npos) throw std::runtime_error("the text of a test has no " + what);
  return text.replace(at, what.size(), by);
}

inline Compilation compile_text(const std::string& source, Build build = Build::fast, const Macros& macros = {},
                                double deadline_s = 30, Dialect dialect = Dialect::cuda) {
  static const compiler::HostCompiler host = compiler::find_host_compiler().value();
  const TemporaryFolder scratch;
  compiler::CompilerSettings settings;
  settings.host = host;
  settings.device_headers = std::filesystem::canonical(core::installed_paths().device_headers());
  settings.scratch = scratch.path();
  settings.deadline_s = deadline_s;
  settings.dialect = dialect;
  return compiler::compile({"solution.cu", source, macros, build}, settings);
}

// Throws with the log when it does not compile.
inline Built built(const std::string& source, Build build = Build::fast, const Macros& macros = {},
                   Dialect dialect = Dialect::cuda) {
  Compilation compilation = compile_text(source, build, macros, 30, dialect);
  if (const auto* rejected = std::get_if<Rejected>(&compilation)) {
    throw std::runtime_error(rejected->message + "\n" + rejected->log);
  }
  return std::move(std::get<Built>(compilation));
}

// One module and the memory its kernels work on.
class Device {
 public:
  explicit Device(const std::string& source, Build build = Build::fast, const Macros& macros = {},
                  Dialect dialect = Dialect::cuda)
      : module_(runtime::Module::load(built(source, build, macros, dialect).binary.get(), build)) {}

  // Memory of this many floats, all set to `value`; the next argument of every launch.
  float* add_floats(const std::string& name, size_t count, float value = 0) {
    const core::UniqueFd file = process::make_memory_file("test", memory::memory_file_bytes(count * sizeof(float)));
    memory_.emplace_back(file.get(), count * sizeof(float), memory::MappedBuffer::Access::read_write);
    std::byte* data = memory_.back().content().data();
    buffers_.push_back({name, data, count * sizeof(float), true});
    auto* floats = reinterpret_cast<float*>(data);
    std::fill(floats, floats + count, value);
    add_argument(data);
    return floats;
  }
  template <typename T>
  void set_argument(size_t index, T value) {
    arguments_.at(index).resize(sizeof(T));
    std::memcpy(arguments_.at(index).data(), &value, sizeof(T));
  }
  template <typename T>
  void add_argument(T value) {
    std::vector<std::byte> bytes(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    arguments_.push_back(std::move(bytes));
  }

  std::optional<Fault> launch(const std::string& kernel, int64_t grid, int64_t block,
                              runtime::Order order = runtime::Order::forward, size_t shared_bytes = 0) {
    return launch(kernel, {grid, 1, 1}, {block, 1, 1}, order, shared_bytes);
  }
  std::optional<Fault> launch(const std::string& kernel, std::array<int64_t, 3> grid, std::array<int64_t, 3> block,
                              runtime::Order order = runtime::Order::forward, size_t shared_bytes = 0) {
    return checked(module_.launch({kernel, grid, block, shared_bytes, arguments_}, buffers_, order, 7));
  }
  std::optional<Fault> launch_clusters(const std::string& kernel, int64_t grid, int64_t block, int64_t cluster,
                                       runtime::Order order = runtime::Order::forward, size_t shared_bytes = 0) {
    return checked(module_.launch({kernel, {grid, 1, 1}, {block, 1, 1}, shared_bytes, arguments_, {cluster, 1, 1}},
                                  buffers_, order, 7));
  }
  std::optional<Fault> launch_dependent(const std::string& kernel, int64_t grid, int64_t block) {
    return module_.launch({kernel, {grid, 1, 1}, {block, 1, 1}, 0, arguments_, {1, 1, 1}, true}, buffers_,
                          runtime::Order::forward, 7);
  }
  std::optional<Fault> launch_cooperative(const std::string& kernel, int64_t grid, int64_t block,
                                          runtime::Order order = runtime::Order::forward, int64_t cluster = 1,
                                          size_t shared_bytes = 0) {
    return checked(
        module_.launch({kernel, {grid, 1, 1}, {block, 1, 1}, shared_bytes, arguments_, {cluster, 1, 1}, false, true},
                       buffers_, order, 7));
  }
  runtime::Module& module() { return module_; }

 private:
  // A read of shared memory that nothing had set counts as a fault here, whether it shows or not.
  static std::optional<Fault> checked(std::optional<Fault> fault) {
    std::optional<Fault> unset_read = runtime::take_unset_read();
    return unset_read ? std::move(unset_read) : std::move(fault);
  }

  runtime::Module module_;
  std::deque<memory::MappedBuffer> memory_;
  std::vector<runtime::Buffer> buffers_;
  std::vector<std::vector<std::byte>> arguments_;
};

}  // namespace sandbox::cpu::test
