// What the parts of Sources share.
#pragma once

#include <memory>
#include <vector>

#include "results/sqlite.h"
#include "results/transfer/transfer.h"

namespace results {

struct Sources::State {
  // Private copies: what a source is, is what it was when it was checked.
  std::vector<std::unique_ptr<Database>> databases;
};

}  // namespace results
