// A problem's folder.
#include <array>

#include "benchsuite/data_files.h"
#include "benchsuite/problem.h"
#include "benchsuite/shared_headers.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/strict_json.h"
#include "core/text.h"

namespace benchsuite {
namespace {
namespace fs = std::filesystem;

constexpr size_t kMaxJsonBytes = size_t{1} << 20;
constexpr size_t kMaxSourceBytes = size_t{1} << 20;
constexpr const char* kDefinition = "problem.json";

// A source file of a problem, and its field in the content hash.
struct SourceFile {
  std::string_view name, field;
};
constexpr std::array kSourceFiles{SourceFile{kReferenceFile, "reference"}, SourceFile{kNaiveFile, "naive"},
                                  SourceFile{kPytorchFile, "pytorch"}};
constexpr SourceFile kHashesOfData{kDataFile, "data"};

std::string read_part(const fs::path& file, size_t most_bytes) {
  if (!fs::is_regular_file(file)) {
    throw core::InputError(file.string(), "is missing",
                           "a problem needs problem.json and either reference.py, or reference.cu and naive.cu; "
                           "docs/problem-format.md describes each");
  }
  return core::read_file(file, most_bytes);
}

// With the shared headers that it includes, which its hash then covers.
std::string read_source(const fs::path& file) {
  std::string text = read_part(file, kMaxSourceBytes);
  if (!core::is_utf8(text)) throw core::InputError(file.string(), "is not UTF-8", "save it as UTF-8 text");
  return with_shared_headers(text, file.string());
}

// Removes the member `key` (a string without escapes) from the text of a JSON object, with the white space before it
// and the comma after it.
std::string without_member(const std::string& text, const std::string& key) {
  int depth = 0;
  size_t after = 0;  // the last comma or brace at the top level
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth == 1 && (c == '{' || c == ',')) after = i + 1;
    if (c != '"') continue;
    const size_t begin = i + 1;
    for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
    if (depth != 1 || text.substr(begin, i - begin) != key || text.find_first_not_of(" \t\r\n", after) != begin - 1) {
      continue;
    }
    const size_t value_end = text.find('"', text.find('"', i + 1) + 1) + 1;
    const size_t next = text.find_first_not_of(" \t\r\n", value_end);
    if (text[next] == ',') return text.substr(0, after) + text.substr(next + 1);
    return text.substr(0, after - (text[after - 1] == ',')) + text.substr(value_end);  // the last member
  }
  return text;
}
}  // namespace

bool looks_like_problem(const fs::path& folder) {
  std::error_code absent;
  if (fs::exists(folder / kDefinition, absent)) return true;
  for (const SourceFile& file : kSourceFiles) {
    if (fs::exists(folder / file.name, absent)) return true;
  }
  return false;
}

namespace {
bool compares_by(const Problem& problem, OutputRule rule) {
  return std::ranges::any_of(problem.outputs, [&](const Tensor& output) { return output.comparison.rule == rule; });
}
}  // namespace

Problem load_problem(const fs::path& folder) {
  const fs::path file = folder / kDefinition;
  Problem problem = parse_problem(read_part(file, kMaxJsonBytes), file.string());
  problem.folder = folder;
  if (problem.name != folder.filename()) {
    throw core::InputError(file.string() + "#/name",
                           "is \"" + problem.name + "\" in a folder called \"" + folder.filename().string() + "\"",
                           "give both the same name");
  }
  const bool pytorch = fs::is_regular_file(folder / kPytorchFile);
  for (const SourceFile& known : kSourceFiles) {
    if (pytorch == (known.name == kPytorchFile)) {
      problem.files.emplace(known.name, read_source(folder / known.name));
    } else if (fs::exists(folder / known.name)) {
      throw core::InputError(folder.string(), "has reference.py and " + std::string(known.name),
                             "keep reference.py alone, or reference.cu and naive.cu");
    }
  }
  if (pytorch && compares_by(problem, OutputRule::between)) {
    throw core::InputError(file.string() + "#/outputs", "has \"compare\": \"between\", which reference.py cannot give",
                           "write reference.cu and naive.cu: the reference gives two numbers for each element");
  }
  if (pytorch && compares_by(problem, OutputRule::quanta)) {
    throw core::InputError(file.string() + "#/outputs", "has \"compare\": \"quanta\", which reference.py cannot give",
                           "write reference.cu and naive.cu: the reference gives unrounded numbers in double");
  }
  load_data_files(problem);
  return problem;
}

std::string content_hash(const std::string& json_text, const SourceFiles& files) {
  core::Hasher hasher;
  hasher.field("problem", without_member(json_text, "kind"));
  const auto add = [&](const SourceFile& known) {
    if (const auto file = files.find(known.name); file != files.end()) hasher.field(known.field, file->second);
  };
  for (const SourceFile& known : kSourceFiles) add(known);
  add(kHashesOfData);
  return hasher.hex();
}

std::string content_hash(const Problem& problem) { return content_hash(problem.json_text, problem.files); }

}  // namespace benchsuite
