// One self-contained HTML file out of the pages (results/web/pages) and their data: styles, scripts and data stand in
// it, it loads nothing, and its content security policy lets nothing but these scripts and styles in.
#pragma once

#include <filesystem>
#include <string>

#include "core/strict_json.h"

namespace results::web {

// ASCII that may stand in an HTML script element: no "<", ">" or "&" in it.
std::string json_for_html(const core::Json& json);

// JavaScript as it may stand in an HTML script element: what would end the element, or hide its end, is written in
// another way that means the same within strings and regular expressions.
std::string script_for_html(std::string script);

// `data` is {"made": UTC, "answers": {path: JSON}} (page_data.h). `vendor` holds the scripts of others. Throws
// core::InputError when a file is missing.
std::string report_html(const std::filesystem::path& pages, const std::filesystem::path& vendor,
                        const core::Json& data);

}  // namespace results::web
