// Content hashes: SHA-256, so that no two different artefacts share a name, not even by intent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace core {

// Hashes a sequence of tagged fields. Each field is fed as tag, length, bytes, so that ("ab","c") and ("a","bc")
// differ.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  Hasher& field(std::string_view tag, std::string_view bytes);
  // 64 lower-case hex digits. Ends the hasher: call once.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The hash of one untagged field, as 64 hex digits.
std::string sha256_hex(std::string_view bytes);

// The plain SHA-256 of the bytes, as sha256sum prints it for a file.
std::string file_sha256_hex(std::string_view bytes);

}  // namespace core
