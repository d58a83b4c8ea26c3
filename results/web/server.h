// The pages of an archive over HTTP, for a browser: read only, live while campaigns write to the archive.
//
// It answers GET and HEAD for its own host name, and only with the token if one is set. No part of a request reaches
// the file system: the pages are read once, at the start.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "benchsuite/catalogue.h"
#include "results/archive/recorder.h"

namespace results::web {

struct ServeSettings {
  std::filesystem::path pages, vendor;           // the served files: results/web/pages, and third-party scripts
  std::map<std::string, std::string> here = {};  // as archive::LeaderboardFilter::here
  std::vector<benchsuite::Suite> suites = {};    // as PageScope::suites
  std::string host = "127.0.0.1";                // an address of this machine, or a name for one
  int port = 0;                                  // 0: any free port
  std::string token;                             // required of every client, unless empty
  size_t connections = 24;                       // served concurrently; others wait
  size_t listeners = 12;                         // of those, pages that receive changes at once; others poll
};

// True if the address or name only leads to this machine.
bool is_loopback(const std::string& host);

class PageServer {
 public:
  // Binds the address. `archive` must outlive the server, which alone uses it from now on. Throws core::InputError if
  // the address cannot be used, or is not loopback and there is no token.
  PageServer(const archive::Reader& archive, ServeSettings settings);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  int port() const;
  std::string url() const;  // with the token, if any

  // Serves until `ended` returns true; calls it a few times a second.
  void serve(const std::function<bool()>& ended);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace results::web
