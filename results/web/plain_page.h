// Pages in HTML alone, for browsers without JavaScript and for curl: the campaigns, one with its requests to models,
// and one request with its reply. They show the data of page_data.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "results/web/page_data.h"

namespace results::web {

// `text` with its five special characters escaped, for HTML and for attributes in double quotes.
std::string html_text(std::string_view text);

// The page of "overview", "campaign/NAME" or "exchange/NUMBER"; nullopt if there is none.
std::optional<std::string> plain_page(PageData& data, std::string_view path);

}  // namespace results::web
