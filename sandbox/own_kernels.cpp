#include "sandbox/own_kernels.h"

#include <unistd.h>

#include <chrono>
#include <fstream>

#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "sandbox/process/sealed_memory.h"

namespace sandbox {
namespace {
namespace fs = std::filesystem;
constexpr size_t kHashDigits = 64;
// Not a candidate's limit: it takes eight seconds, and this is for a host that is busy with other work.
constexpr std::chrono::seconds kDeadline{600};

// A kept file: the hash of the binary as hex digits, then the binary. Empty if it is missing or damaged.
std::string kept_binary(const fs::path& file) {
  try {
    std::error_code none;
    if (!fs::exists(file, none)) return "";
    const std::string content = core::read_file(file);
    if (content.size() <= kHashDigits) return "";
    std::string binary = content.substr(kHashDigits);
    return core::file_sha256_hex(binary) == content.substr(0, kHashDigits) ? binary : "";
  } catch (const std::exception&) {
    return "";
  }
}

// In place of all other files with this prefix, which are of older programs. What cannot be kept is compiled again.
void keep(const fs::path& file, const std::string& prefix, const std::string& binary) {
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  for (const fs::directory_entry& other : fs::directory_iterator(file.parent_path(), failed)) {
    std::error_code kept;
    if (other.path().filename().string().starts_with(prefix)) fs::remove(other.path(), kept);
  }
  const fs::path unfinished = file.string() + "." + std::to_string(::getpid());
  std::ofstream stream(unfinished, std::ios::binary);
  stream << core::file_sha256_hex(binary) << binary;
  stream.close();
  if (stream.fail()) {
    fs::remove(unfinished, failed);
  } else {
    fs::rename(unfinished, file, failed);
  }
}
}  // namespace

OwnKernel::OwnKernel(const std::string& name, const std::string& source, const OwnKernels& all, CompilePool& pool)
    : name_(name) {
  if (!all.kept_in.empty()) {
    const core::Json& compiler = pool.greeting();
    const auto architecture = compiler.at("architecture").get<std::string>();
    core::Hasher hasher;
    hasher.field("source", source).field("made by", all.made_by).field("architecture", architecture);
    hasher.field("compiler", compiler.at("compiler_version").get<std::string>());
    prefix_ = name + "-" + architecture + "-";
    file_ = all.kept_in / (prefix_ + hasher.hex() + ".cubin");
    const std::string binary = kept_binary(file_);
    if (!binary.empty()) kept_ = process::sealed_memory("own kernels", binary);
  }
  if (!kept_) compiling_ = pool.submit({name, source, {}, Build::fast}, kDeadline);
}

core::UniqueFd OwnKernel::wait() {
  if (kept_) return std::move(kept_);
  Compilation compiled = compiling_.get();
  if (const auto* rejected = std::get_if<Rejected>(&compiled)) {
    throw core::SystemError(name_ + " of ours does not compile: " + rejected->message + "\n" + rejected->log);
  }
  core::UniqueFd binary = std::move(std::get<Built>(compiled).binary);
  if (!file_.empty()) keep(file_, prefix_, process::read_memory(binary.get()));
  return binary;
}

}  // namespace sandbox
