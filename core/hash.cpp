#include "core/hash.h"

#include <openssl/evp.h>

#include <array>
#include <span>

#include "core/error.h"

namespace core {

struct Hasher::State {
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context{EVP_MD_CTX_new(), EVP_MD_CTX_free};

  void update(const void* data, size_t size) {
    if (EVP_DigestUpdate(context.get(), data, size) != 1) throw SystemError("SHA-256 failed");
  }
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  if (!state_->context || EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) != 1) {
    throw SystemError("SHA-256 is not available from libcrypto");
  }
}
Hasher::~Hasher() = default;

Hasher& Hasher::field(std::string_view tag, std::string_view bytes) {
  for (std::string_view part : {tag, bytes}) {
    const uint64_t size = part.size();
    state_->update(&size, sizeof size);
    state_->update(part.data(), part.size());
  }
  return *this;
}

namespace {
std::string hex_of(std::span<const unsigned char> digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}
}  // namespace

std::string Hasher::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_DigestFinal_ex(state_->context.get(), digest.data(), &size) != 1) throw SystemError("SHA-256 failed");
  return hex_of({digest.data(), size});
}

std::string sha256_hex(std::string_view bytes) { return Hasher().field("", bytes).hex(); }

std::string file_sha256_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw SystemError("SHA-256 failed");
  }
  return hex_of({digest.data(), size});
}

}  // namespace core
