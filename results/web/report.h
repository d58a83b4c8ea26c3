// One self-contained HTML file out of the pages (results/web/pages) and their data: it contains styles, scripts and
// data, loads nothing, and its content security policy allows only these scripts and styles.
#pragma once

#include <filesystem>
#include <string>

#include "core/strict_json.h"

namespace results::web {

// ASCII that may stand in an HTML script element: no "<", ">" or "&" in it.
std::string json_for_html(const core::Json& json);

// JavaScript for an HTML script element: text that would end the element, or hide its end, is written in another way
// with the same meaning in strings and regular expressions.
std::string script_for_html(std::string script);

// `data` is {"made": UTC, "answers": {path: JSON}} (page_data.h). `vendor`: folder of third-party scripts. Throws
// core::InputError if a file is missing.
std::string report_html(const std::filesystem::path& pages, const std::filesystem::path& vendor,
                        const core::Json& data);

}  // namespace results::web
