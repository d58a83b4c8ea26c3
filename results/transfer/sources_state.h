// What the parts of Sources share.
#pragma once

#include <memory>
#include <vector>

#include "results/archive/database.h"
#include "results/transfer/transfer.h"

namespace results::transfer {

struct Sources::State {
  // Private copies: what a source is, is what it was when it was checked.
  std::vector<std::unique_ptr<archive::Database>> databases;
};

}  // namespace results::transfer
