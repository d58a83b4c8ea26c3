// The origin of exported kernels, for people and as JSON. It is part of every export.
#pragma once

#include <string>

#include "core/strict_json.h"
#include "results/exporting/package.h"

namespace results::exporting {

core::Json provenance_json(const Package& package, const std::string& format, const std::string& made);
// One paragraph for each kernel, in Markdown that reads well as plain text.
std::string provenance_text(const Package& package);
// The rule that selects a kernel, and its table.
std::string dispatch_text(const Package& package);
// Says whether everything was confirmed and where it was measured; warnings are in bold.
std::string status_line(const Package& package);
std::string licence_text(const Package& package);

}  // namespace results::exporting
