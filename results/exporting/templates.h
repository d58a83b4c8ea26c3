// The fixed texts of what is exported: files with places to fill, "@name@".
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace results::exporting {

using TemplateValues = std::map<std::string, std::string, std::less<>>;

// `text` with each place filled. What is filled in stands as it is. A place that has no value is our own fault: throws
// core::SystemError with `file` and its name. A '@' that begins no place stays.
std::string fill(const std::string& text, const TemplateValues& places, const std::string& file);

// The same of a file of templates/ by its path there, less ".in".
std::string fill_file(const std::filesystem::path& templates, const std::string& file, const TemplateValues& places);

}  // namespace results::exporting
