#include "agent/nodes/slurm.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "core/text.h"

namespace agent::nodes {
namespace {
constexpr const char* kOption = "--slurm";
constexpr int kMostNodes = 4096;

bool is_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  const std::vector<std::string> folders = core::split(path != nullptr ? path : "", ':');
  return std::ranges::any_of(folders, [&](const std::string& folder) {
    return !folder.empty() && ::access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0;
  });
}

// A shell sees it later.
bool is_partition(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_-.,").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

int count_in(const std::string& text) {
  const bool whole = !text.empty() && text.size() < 6 &&
                     std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
  const int count = whole ? std::stoi(text) : 0;
  if (count >= 1 && count <= kMostNodes) return count;
  throw core::UsageError(kOption, "\"" + text + "\" is no number of nodes", "give 1 to 4096, as in gpu:8");
}
}  // namespace

SlurmNodes nodes_on_slurm(const std::string& text, bool on_gpu, size_t problems) {
  const size_t colon = text.find(':');
  const std::string partition = text.substr(0, colon);
  if (!is_partition(partition)) {
    throw core::UsageError(kOption, "\"" + text + "\" is not PARTITION or PARTITION:COUNT",
                           "sinfo lists the partitions of the cluster");
  }
  const int nodes = colon != std::string::npos ? count_in(text.substr(colon + 1))
                                               : std::clamp(static_cast<int>(problems), 2, kMostNodes);
  if (!is_on_path("srun")) {
    throw core::InputError(kOption, "srun is not on PATH",
                           "run this where Slurm's clients are installed, on a login node say");
  }
  const std::string device = on_gpu ? "-c4 --gpus=1" : "-c2";
  return {"srun -Q -J kernelwright -p " + partition + " -N1 -n1 " + device, nodes};
}

}  // namespace agent::nodes
