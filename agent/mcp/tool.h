// What a server offers: tools that a model calls, and resources that it reads.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/strict_json.h"

namespace agent::mcp {

// The client cancelled the call, or has gone. Thrown by Call::poll; no answer is sent.
class Cancelled {};

// One call in progress, as a tool sees it.
class Call {
 public:
  virtual ~Call() = default;
  // The client's own name, cleaned; "client" if it gives none. Anyone can give any name.
  virtual const std::string& client() const = 0;
  // Serves what came in meanwhile. Long work calls it several times a second. Throws Cancelled.
  virtual void poll() = 0;
  // Tells the client how far the call is, if it asked for that. A call that does not increase `done` tells nothing.
  virtual void progress(double done, double total, const std::string& message) = 0;
};

struct ToolResult {
  core::Json structured;  // fits Tool::output; null: none
  std::string text = {};  // for clients that read only text; empty: `structured` as JSON
};

struct Tool {
  std::string name, title, description;
  core::Json input;   // a schema of the kind that schema.h checks
  core::Json output;  // a schema; null: none
  bool reads_only = true;
  // Throws core::InputError with a remedy for the model, core::SystemError for our own failures, Cancelled.
  std::function<ToolResult(const core::Json& arguments, Call& call)> run;
};

struct Resource {
  std::string uri, name, title, description, mime_type;
  std::function<std::string(Call& call)> read;  // throws as Tool::run does
};

struct Offer {
  std::string instructions;  // how to use all of it, for a model
  std::vector<Tool> tools;
  std::vector<Resource> resources;
};

}  // namespace agent::mcp
