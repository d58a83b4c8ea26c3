// Bytes in JSON: base64 as in RFC 4648, padded, in one line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace results::transfer {

std::string base64(std::string_view bytes);
// None unless `text` is what base64() gives of some bytes.
std::optional<std::vector<char>> from_base64(std::string_view text);

}  // namespace results::transfer
