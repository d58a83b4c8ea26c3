// Help texts for CLI11, and docs/commands.md from the same descriptions.
#pragma once

#include <memory>
#include <string>

namespace CLI {
class App;
class FormatterBase;
}  // namespace CLI

namespace agent::cli {

// Prints live defaults, and no ranges: the error of a value outside its range names the range.
std::shared_ptr<CLI::FormatterBase> help_formatter();

// Every group, command and option of `app` as one page of Markdown.
std::string commands_page(const CLI::App& app);

}  // namespace agent::cli
