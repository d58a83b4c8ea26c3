#include "sandbox/gpu/run/launch_sequence.h"

#include <unistd.h>

#include <algorithm>
#include <tuple>

#include "core/error.h"

namespace sandbox::gpu::run {
namespace {
constexpr size_t kFlushFactor = 3;
constexpr size_t kDelayBytes = size_t{4} << 20;  // writing them takes about as long as a short launch
constexpr size_t kSlotsPerGate = 2;              // launching them takes about as long as one flush
}  // namespace

L2Flush::L2Flush(const driver::Context& context)
    : context_(context),
      memory_(context, kFlushFactor * static_cast<size_t>(context.facts().l2_bytes)),
      patterns_(std::random_device()()) {}

void L2Flush::enqueue() {
  // No count of launches: what lies there could be read at a guessed address.
  const auto pattern = static_cast<unsigned>(patterns_());
  context_.require(context_->set_words(memory_.address(), pattern, memory_.bytes() / 4, context_.stream()),
                   "set_words");
}

void L2Flush::enqueue_delay() {
  constexpr size_t kCorner = size_t{1} << 20;
  for (size_t written = 0; written < memory_.bytes(); written += kDelayBytes) {
    const auto pattern = static_cast<unsigned>(patterns_());
    context_.require(context_->set_words(memory_.address(), pattern, kCorner / 4, context_.stream()), "set_words");
  }
}

void LentSlots::map(const core::JsonView& json, const std::vector<core::UniqueFd>& fds) {
  slots_.clear();
  std::map<int64_t, driver::SharedMemory> earlier = std::exchange(mapped_, {});
  const std::vector<core::JsonView> entries = json.at("buffers").items();
  for (const core::JsonView& entry : entries) {
    if (!entry.at("kept").boolean()) continue;
    auto kept = earlier.extract(entry.at("memory").integer(1));
    if (kept.empty()) entry.fail("is not mapped");
    mapped_.insert(std::move(kept));
  }
  earlier.clear();  // before more is mapped
  size_t i = 0;
  for (const core::JsonView& entry : entries) {
    const int64_t memory = entry.at("memory").integer(1);
    const auto bytes = static_cast<size_t>(entry.at("bytes").integer(1));
    const auto mapped_bytes = static_cast<size_t>(entry.at("mapped_bytes").integer(1));
    const auto offset = static_cast<size_t>(entry.at("offset").integer(0));
    const auto slot = static_cast<size_t>(entry.at("slot").integer(0, 63));
    const driver::Access access = entry.at("writable").boolean() ? driver::Access::read_write : driver::Access::read;
    if (offset + bytes > mapped_bytes) throw core::SystemError("a lent buffer does not fit its memory");
    if (!entry.at("kept").boolean()) {
      mapped_.emplace(memory, driver::SharedMemory::import(context_, fds.at(i++).get(), mapped_bytes, access));
    }
    if (slots_.size() <= slot) slots_.resize(slot + 1);
    slots_[slot].push_back({entry.at("name").string(), mapped_.at(memory).begin() + offset, bytes});
  }
}

core::Json LaunchTimer::time(size_t slots, bool hot, const std::function<void(size_t)>& enqueue,
                             const std::function<void()>& enqueue_between) {
  const size_t pairs = std::max<size_t>(slots, 1);
  while (events_.size() < pairs) {
    events_.emplace_back(std::piecewise_construct, std::forward_as_tuple(context_), std::forward_as_tuple(context_));
  }
  if (context_->reset_persisting_l2 != nullptr) {
    context_.require(context_->reset_persisting_l2(), "reset_persisting_l2");
  }
  for (size_t i = 0; i <= slots / kSlotsPerGate; ++i) {
    if (hot) {
      flush_.enqueue_delay();
    } else {
      flush_.enqueue();
    }
  }
  // Queues everything below while the device still runs the flush, so that no gap is timed.
  for (size_t i = 0; i < pairs; ++i) {
    if (i > 0) enqueue_between();
    events_[i].first.record();
    if (i < slots) enqueue(i);
    events_[i].second.record();
  }
  const bool gated = !events_[0].first.passed();
  context_.synchronize();
  double us = 0;
  for (size_t i = 0; i < pairs; ++i) us += events_[i].second.us_since(events_[i].first);
  return {{"ok", true}, {"us", us}, {"gated", gated}};
}

void serve_judge(process::Channel& owner, int number, const std::function<Answering()>& load) {
  auto [theirs, judge] = process::Channel::make_pair();
  owner.send({{"process", number}}, {theirs.fd()});
  theirs = process::Channel();
  try {
    Answering answer;
    try {
      answer = load();
    } catch (const core::InputError& refusal) {
      judge.send({{"refused", refusal.problem()}});
      return;
    }
    judge.send({{"loaded", true}});
    while (true) {
      process::Message request = judge.receive();
      try {
        judge.send(answer(request));
      } catch (const ContextLost& lost) {
        judge.send(lost.answer);
        ::_exit(0);  // at once: a broken context cannot be released in order
      }
    }
  } catch (const process::ChannelClosed&) {
  }
}

}  // namespace sandbox::gpu::run
