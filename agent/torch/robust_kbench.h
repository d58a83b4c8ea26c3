// Tasks of robust-kbench (SakanaAI/robust-kbench: tasks/<name>/{func_forward.py, config_forward.json}), as files of
// PyTorch.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace agent::torch {

struct TaskFile {
  std::string name;               // of the task: its folders below `path`, joined by '_'
  std::filesystem::path forward;  // func_forward.py
  std::filesystem::path configuration;
};

// All tasks at or below a folder, in order. Throws core::InputError where there is none.
std::vector<TaskFile> tasks_at(const std::filesystem::path& path);

// A task as a file that import takes: func_forward.py, with its first single configuration as whole numbers at module
// level and as arguments of get_inputs() and of the constructor. Throws core::InputError for a configuration that
// cannot be read.
std::string source_of_task(const std::string& forward, const std::string& configuration, const std::string& file);

}  // namespace agent::torch
