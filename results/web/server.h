// The pages of an archive over HTTP, for a browser: read only, live while campaigns write to the archive.
//
// It answers GET and HEAD, for the host that it was asked to be, and to whoever has the token where there is one. No
// part of a request reaches the file system: the pages are read once, at the start.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "results/archive/recorder.h"

namespace results::web {

struct ServeSettings {
  std::filesystem::path pages, vendor;  // what is served: results/web/pages, and scripts of others
  std::string host = "127.0.0.1";       // an address of this machine, or a name that leads to one
  int port = 0;                         // 0: any that is free
  std::string token;                    // asked of everyone, when it is not empty
  size_t connections = 24;              // served at a time; others wait
  size_t listeners = 12;                // of those, pages that receive changes at once; others ask again
};

// Is only this machine behind that address or name?
bool is_loopback(const std::string& host);

class PageServer {
 public:
  // Binds. `archive` outlives it, and is used by it alone from now on. Throws core::InputError when the address cannot
  // be used, or is not loopback and there is no token.
  PageServer(const archive::Reader& archive, ServeSettings settings);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  int port() const;
  std::string url() const;  // with the token, where there is one

  // Serves until `ended` returns true; calls it a few times a second.
  void serve(const std::function<bool()>& ended);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace results::web
