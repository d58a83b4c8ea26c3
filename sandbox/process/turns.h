// Turns that processes take at one device, such as judges that share a GPU: beside each other, or alone, as for timing.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "core/unique_fd.h"

namespace sandbox::process {

// Whose turn it is, locks on a file say that all of these processes have open. A process that ends gives up its turn.
// Not for two threads at once, each of which may open the file for itself.
class Turns {
 public:
  Turns() = default;  // of a device that nobody shares: every turn begins at once
  // `file`: opened for this process alone, since descriptors that were copied share their locks.
  explicit Turns(core::UniqueFd file);

  // Its end ends the turn.
  class Turn {
   public:
    Turn() = default;
    Turn(Turn&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
    Turn& operator=(Turn&& other) noexcept;
    ~Turn();

   private:
    friend class Turns;
    explicit Turn(int file) : file_(file) {}
    int file_ = -1;
  };
  // Both wait until it is their turn, and throw core::SystemError where the file cannot be locked. Take no second turn
  // while one lasts. Whoever waits to be alone comes before those that ask after it.
  Turn beside_others() const;
  Turn alone() const;

 private:
  Turn take(short type) const;

  core::UniqueFd file_;
};

// The file for a device in `folder`, which is made if need be. Without a descriptor where that cannot be, or where the
// file system has no such locks: then nobody waits.
core::UniqueFd file_of_turns(const std::filesystem::path& folder, const std::string& device);

}  // namespace sandbox::process
