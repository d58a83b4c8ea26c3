// Stores that other blocks see later than the next one of the same thread, as they may where no fence lies between.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace sandbox::cpu::runtime {

// CUDA's memory model orders two volatile stores of a thread for others only by a fence between them. One OS thread
// runs all CUDA threads, so each would see both in order; here some first ones are taken back until others have run.
// Only where no other thread ran between the two, so that none has seen what is taken back.
class LateStores {
 public:
  void begin_launch() {
    last_.reset();
    late_.reset();
  }
  void fence() { last_.reset(); }

  // The running thread is about to write there. `turn`: since when it runs without interruption. `is_store`: what was
  // there before does not matter to it, as it does to an update. `may_be_late`: drawn; the last store is then taken
  // back.
  void before_write(std::byte* place, size_t bytes, uint64_t turn, bool is_store, bool may_be_late) {
    const bool follows =
        last_ && last_->turn == turn && (place + bytes <= last_->place || last_->place + last_->bytes <= place);
    if (follows && may_be_late) {
      late_ = Late{last_->place, last_->bytes, {}};
      std::memcpy(late_->value.data(), last_->place, last_->bytes);
      std::memcpy(last_->place, last_->before.data(), last_->bytes);
    }
    last_.reset();
    if (!is_store || bytes > kMostBytes) return;
    last_ = Store{place, bytes, turn, {}};
    std::memcpy(last_->before.data(), place, bytes);
  }

  bool is_owed() const { return late_.has_value(); }
  // At whatever the thread does next, so behind its second store.
  template <typename Function>
  void pay(const Function& let_others_run) {
    const Late late = *std::exchange(late_, std::nullopt);
    let_others_run();
    std::memcpy(late.place, late.value.data(), late.bytes);
  }

 private:
  static constexpr size_t kMostBytes = 16;
  struct Store {
    std::byte* place;
    size_t bytes;
    uint64_t turn;
    std::array<std::byte, kMostBytes> before;
  };
  struct Late {
    std::byte* place;
    size_t bytes;
    std::array<std::byte, kMostBytes> value;
  };

  std::optional<Store> last_;
  std::optional<Late> late_;
};

}  // namespace sandbox::cpu::runtime
