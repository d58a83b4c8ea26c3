// A model behind HTTP: sends requests in one of the wire formats, tries again where that helps, counts what it costs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "agent/models/http_client.h"
#include "agent/models/keys.h"
#include "agent/models/model.h"
#include "agent/models/retry.h"
#include "agent/models/wire_format.h"

namespace agent {

struct HttpModelSetup {
  std::string name;        // as the user named it
  std::string model;       // as the provider names it
  bool any_model = false;  // instead of `model`, the first one that GET /models names
  std::string base_url;    // without a slash at its end
  std::unique_ptr<WireFormat> format;
  Key key;
  std::string key_hint;  // where a key would come from, for the message that one is missing
  std::string ca_file, ca_folder;
  HttpLimits limits;  // `total` holds for all tries of a request together
  RetryOptions retry;
  size_t most_reply_bytes = 4 << 20;
  uint64_t seed = 0;  // of the jitter between tries
};

std::unique_ptr<Model> http_model(HttpModelSetup setup);

}  // namespace agent
