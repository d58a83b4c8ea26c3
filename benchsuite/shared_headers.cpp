#include "benchsuite/shared_headers.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/paths.h"
#include "core/suggest.h"
#include "core/text.h"

namespace benchsuite {
namespace {
namespace fs = std::filesystem;
using core::InputError;

constexpr std::string_view kInclude = "#include <kw/", kBegin = "// begin <kw/", kEnd = "// end <kw/",
                           kArch = "// arch: ", kProblems = "// problems: ";

fs::path folder() { return core::installed_paths().kernels() / "include" / "kw"; }

// "mbarrier.cuh" of a line that is `opening`, that name and '>'.
std::optional<std::string> named(std::string_view line, std::string_view opening) {
  line = core::trimmed(line);
  if (!line.starts_with(opening)) return std::nullopt;
  line.remove_prefix(opening.size());
  const size_t end = line.find('>');
  return end == line.npos ? std::nullopt : std::optional(std::string(line.substr(0, end)));
}

std::vector<std::string> names() {
  std::vector<std::string> found;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder(), none)) {
    if (entry.path().extension() == ".cuh") found.push_back(entry.path().filename().string());
  }
  std::ranges::sort(found);
  return found;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = core::split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// A header as it stands in a source: the lines that include others are comments, so that lines keep their numbers.
std::string own_text(const std::string& name) {
  std::string text;
  for (const std::string& line : lines_of(core::read_file(folder() / name))) {
    text += (named(line, kInclude) ? "// " + line : line) + "\n";
  }
  return text;
}

// Appends a header after those that it includes; `taken` are already there. `by`: the header that includes it, if any.
void append(const std::string& name, const std::string& by, const std::string& where, std::set<std::string>& taken,
            std::string& to) {
  const std::vector<std::string> known = names();
  if (!std::ranges::count(known, name)) {
    throw InputError(where, "there is no header <kw/" + core::clean_line(name, 100) + ">",
                     core::did_you_mean(name, known, "headers"));
  }
  if (!taken.insert(name).second) return;
  for (const std::string& line : lines_of(core::read_file(folder() / name))) {
    if (const auto other = named(line, kInclude)) append(*other, name, "<kw/" + name + ">", taken, to);
  }
  to += std::string(kBegin) + name + ">" + (by.empty() ? "" : " for <kw/" + by + ">") + "\n" + own_text(name) +
        std::string(kEnd) + name + ">\n";
}

bool begins_nested(std::string_view line) { return core::trimmed(line).find("> for <") != line.npos; }
}  // namespace

std::vector<SharedHeader> shared_headers() {
  std::vector<SharedHeader> all;
  for (const std::string& name : names()) {
    SharedHeader header{"kw/" + name, "", {}, ""};
    for (const std::string& line : lines_of(core::read_file(folder() / name))) {
      if (!line.starts_with("//")) break;
      if (line.starts_with(kArch)) {
        header.arch = line.substr(kArch.size());
      } else if (line.starts_with(kProblems)) {
        for (const std::string& kind : core::split(line.substr(kProblems.size()), ',')) {
          header.kinds.emplace_back(core::trimmed(kind));
        }
      } else {
        header.about += line.substr(std::min<size_t>(line.size(), 3)) + "\n";
      }
    }
    all.push_back(std::move(header));
  }
  return all;
}

std::string with_shared_headers(const std::string& source, const std::string& file) {
  if (source.find(kInclude) == source.npos) return source;
  std::string text;
  std::set<std::string> taken;
  const std::vector<std::string> lines = core::split(source, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool last = i + 1 == lines.size();
    if (const auto begun = named(lines[i], kBegin)) taken.insert(*begun);
    if (const auto name = named(lines[i], kInclude)) {
      append(*name, "", file + ":" + std::to_string(i + 1), taken, text);
    } else {
      text += lines[i] + (last ? "" : "\n");
    }
  }
  return text;
}

std::string without_shared_headers(const std::string& source) {
  if (source.find(kBegin) == source.npos) return source;
  const std::vector<std::string> known = names(), lines = core::split(source, '\n');
  std::vector<std::string> kept;
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto name = named(lines[i], kBegin);
    if (name && std::ranges::count(known, *name)) {
      std::string text;
      size_t end = i + 1;
      for (; end < lines.size() && named(lines[end], kEnd) != name; ++end) text += lines[end] + "\n";
      if (end < lines.size() && text == own_text(*name)) {
        if (!begins_nested(lines[i])) kept.push_back(std::string(kInclude) + *name + ">");
        i = end;
        continue;
      }
    }
    kept.push_back(lines[i]);
  }
  return core::join(kept, "\n");
}

std::string author_line(const std::string& source, int64_t line) {
  if (source.find(kBegin) == source.npos) return "";
  std::string header;
  int64_t of_file = 0, of_header = 0, number = 0;
  for (const std::string& text : core::split(source, '\n')) {
    if (const auto begun = named(text, kBegin)) {
      header = *begun;
      of_header = 0;
      if (!begins_nested(text)) ++of_file;  // the line that includes it
    } else if (named(text, kEnd)) {
      header.clear();
    } else {
      ++(header.empty() ? of_file : of_header);
    }
    if (++number == line) break;
  }
  return header.empty() ? "line " + std::to_string(of_file)
                        : "line " + std::to_string(of_header) + " of <kw/" + header + ">";
}

}  // namespace benchsuite
