#include "results/transfer/base64.h"

#include <openssl/evp.h>

namespace results::transfer {
namespace {
const unsigned char* unsigned_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
}  // namespace

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL ends it with a zero
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), unsigned_bytes(bytes),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

std::optional<std::vector<char>> from_base64(std::string_view text) {
  std::vector<char> bytes(text.size() / 4 * 3);
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), unsigned_bytes(text),
                                   static_cast<int>(text.size()));
  if (size < 0 || static_cast<size_t>(size) != bytes.size()) return std::nullopt;
  for (size_t i = text.size(); i > 0 && text[i - 1] == '=' && !bytes.empty(); --i) bytes.pop_back();
  // OpenSSL overlooks blanks at the ends and bits that nothing stands for.
  if (base64({bytes.data(), bytes.size()}) != text) return std::nullopt;
  return bytes;
}

}  // namespace results::transfer
