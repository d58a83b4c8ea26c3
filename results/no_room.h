// What writing to the archive may throw.
#pragma once

#include "core/error.h"

namespace results {

// The disk is full, a quota is used up, or a file may not grow further. What was committed stays: go on when there is
// room again.
class NoRoom : public core::SystemError {
 public:
  using core::SystemError::SystemError;
};

}  // namespace results
