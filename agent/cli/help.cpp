#include "agent/cli/help.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "core/text.h"

namespace agent::cli {
namespace {
bool is_flag(const CLI::Option& option) { return option.get_type_size() == 0; }

// An option's default; empty if there is none or the description states it.
std::string default_of(const CLI::Option& option) {
  const std::string value = option.get_default_str();
  const bool in_words = option.get_description().find("(default:") != std::string::npos;
  const bool none = is_flag(option) || value.empty() || value == "[]" || value == "{}" || value == "\"\"";
  return none || in_words ? "" : value;
}

std::string value_name(const CLI::Option& option) {
  if (is_flag(option)) return "";
  const std::string type = option.get_type_name();
  if (type.rfind("INT", 0) == 0 || type.rfind("UINT", 0) == 0) return "N";
  if (type.rfind("FLOAT", 0) == 0) return "X";
  return type.rfind("TEXT", 0) == 0 ? "TEXT" : type;
}

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(34); }
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_positional()) return option->get_required() ? "" : " (optional)";
    const std::string name = value_name(*option);
    return name.empty() ? "" : " " + name;
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    const std::string value = default_of(*option);
    return option->get_description() + (value.empty() ? "" : " (default: " + value + ")");
  }
};

std::vector<const CLI::App*> subcommands(const CLI::App& app) {
  std::vector<const CLI::App*> visible = app.get_subcommands(nullptr);
  std::erase_if(visible, [](const CLI::App* one) { return one->get_group().empty(); });
  return visible;
}

// Escapes text for a cell of a Markdown table.
std::string cell(std::string text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? "\\|" : c == '<' ? "&lt;" : c == '\n' ? " " : std::string(1, c);
  return escaped;
}

std::string option_rows(const CLI::App& command) {
  std::string rows;
  for (const CLI::Option* option : command.get_options([](const CLI::Option*) { return true; })) {
    if (option->get_name() == "--help") continue;
    const std::string value = value_name(*option), standard = default_of(*option);
    const std::string name = option->get_positional() ? option->get_name(true) : option->get_name(false, true);
    rows += fmt::format("| `{}` | {} | {} |\n", option->get_positional() || value.empty() ? name : name + " " + value,
                        cell(option->get_description() + (option->get_required() ? " (required)" : "")),
                        standard.empty() ? "" : "`" + standard + "`");
  }
  return rows.empty() ? "" : "\n| option | meaning | default |\n|---|---|---|\n" + rows;
}

// Indented lines of a footer are examples and become a Markdown block.
std::string command_text(const CLI::App& command, const std::string& name, int level) {
  std::string usage = name;
  for (const CLI::Option* option : command.get_options([](const CLI::Option* one) { return one->get_positional(); })) {
    const std::string word = option->get_name(true) + (option->get_expected_max() > 1 ? "..." : "");
    usage += option->get_required() ? " " + word : " [" + word + "]";
  }
  std::string text =
      fmt::format("\n{} `{}`\n\n{}.\n", std::string(static_cast<size_t>(level), '#'), usage, command.get_description());
  text += option_rows(command);
  if (!command.get_footer().empty()) text += "\n" + command.get_footer() + "\n";
  for (const CLI::App* one : subcommands(command)) {
    text += command_text(*one, name + " " + one->get_name(), level + 1);
  }
  return text;
}
}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<HelpFormatter>(); }

std::string commands_page(const CLI::App& app) {
  std::string text =
      "# Commands\n\nGenerated from the program's help by `kernelwright help --markdown`; a test compares it with the "
      "program.\n`kernelwright COMMAND --help` prints one command's part.\n\n"
      "These options stand before or after any command:\n" +
      option_rows(app) + "\n" + app.get_footer() + "\n";
  std::vector<std::string> groups;
  for (const CLI::App* command : subcommands(app)) {
    if (std::find(groups.begin(), groups.end(), command->get_group()) == groups.end()) {
      groups.push_back(command->get_group());
    }
  }
  for (const std::string& group : groups) {
    text += "\n## " + group + "\n";
    for (const CLI::App* command : subcommands(app)) {
      if (command->get_group() == group) text += command_text(*command, "kernelwright " + command->get_name(), 3);
    }
  }
  return text;
}

}  // namespace agent::cli
