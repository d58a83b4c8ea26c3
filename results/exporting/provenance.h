// Where exported kernels come from, for people and as JSON. It travels with the code.
#pragma once

#include <string>

#include "core/strict_json.h"
#include "results/exporting/package.h"

namespace results::exporting {

core::Json provenance_json(const Package& package, const std::string& format, const std::string& made);
// One paragraph for each kernel, in Markdown that reads well as plain text.
std::string provenance_text(const Package& package);
// The rule by which a kernel is chosen, and the table.
std::string dispatch_text(const Package& package);
// Whether everything was confirmed, and where it was measured: in bold where a reader must know.
std::string status_line(const Package& package);
std::string licence_text(const Package& package);

}  // namespace results::exporting
