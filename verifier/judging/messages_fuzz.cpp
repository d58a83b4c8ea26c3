// Frames and the messages in them, as a hostile process would send them: each is read or refused, and what is read
// travels unchanged. The first byte picks the reader; the rest is the frame.
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "core/error.h"
#include "core/fuzzing.h"
#include "sandbox/wire.h"
#include "verifier/judging/candidate_channel.h"
#include "verifier/judging/messages.h"
#include "verifier/verdicts/calibration.h"
#include "verifier/verdicts/judgement.h"

namespace {
using core::JsonView;
using core::fuzzing::require;
using sandbox::process::Channel;
using verifier::judging::to_json;

template <typename Read>
void travel(const JsonView& view, const Read& read) {
  const auto value = read(view);
  const core::Json json = to_json(value);
  require(to_json(read(JsonView(json, "again"))) == json, "what is read travels unchanged");
}

void read_verdict(const JsonView& view) {
  const verifier::verdicts::Verdict verdict = verifier::verdicts::verdict_from_json(view);
  require(!name_of(verdict).empty(), "a verdict has a name");
  require(!verifier::verdicts::sentence_for_people(verdict).empty(), "a verdict has a sentence");
  verifier::verdicts::sentence_for_models(verdict);
  const core::Json json = to_json(verdict);
  require(to_json(verifier::verdicts::verdict_from_json(JsonView(json, "again"))) == json, "a verdict travels");
}

void read_plan(const JsonView& view) {
  const verifier::judging::NamedPlan plan = verifier::judging::plan_from_json(view, "fuzzed");
  const core::Json json = verifier::judging::plan_json(plan.solution, plan.binding);
  require(verifier::judging::plan_from_json(JsonView(json, "again"), "fuzzed").binding == plan.binding,
          "a plan travels");
}

using Reader = void (*)(const JsonView&);
constexpr std::array<Reader, 11> kReaders{
    [](const JsonView& v) { travel(v, sandbox::fault_from_json); },
    [](const JsonView& v) { travel(v, sandbox::launch_from_json); },
    [](const JsonView& v) { travel(v, sandbox::tensor_map_from_json); },
    [](const JsonView& v) { travel(v, [](const JsonView& view) { return sandbox::plan_from_json(view); }); },
    [](const JsonView& v) { travel(v, sandbox::compile_request_from_json); },
    [](const JsonView& v) { travel(v, verifier::judging::check_settings_from_json); },
    [](const JsonView& v) { travel(v, verifier::judging::timing_settings_from_json); },
    [](const JsonView& v) { travel(v, verifier::verdicts::measurement_from_json); },
    [](const JsonView& v) { travel(v, verifier::verdicts::judgement_from_json); },
    read_verdict,
    read_plan};

void send_frame(int fd, std::string_view text) {
  const std::array<uint32_t, 2> header{static_cast<uint32_t>(text.size()), 0};
  require(::write(fd, header.data(), sizeof header) == sizeof header, "there is room for a frame's header");
  require(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "there is room for a frame");
}

// Bytes as they are, until the sender hangs up.
void receive_anything(std::string_view bytes) {
  auto [ours, theirs] = Channel::make_pair();
  require(::write(theirs.fd(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "there is room");
  theirs = Channel();
  try {
    while (true) ours.receive();
  } catch (const sandbox::process::ChannelClosed&) {
  }
}

// Messages of a candidate that took over its process.
void answer_judge(std::string_view text) {
  auto [ours, theirs] = Channel::make_pair();
  send_frame(theirs.fd(), text);
  theirs = Channel();
  verifier::judging::CandidateChannel process(std::move(ours), std::chrono::seconds(1));
  if (const auto failure = process.await_loaded()) {
    require(
        !verifier::verdicts::sentence_for_people(verifier::judging::verdict_of(*failure, {"w", "", "", ""})).empty(),
        "it has a verdict");
  }
}

void read_compilation(std::string_view text) {
  auto [ours, theirs] = Channel::make_pair();
  send_frame(theirs.fd(), text);
  theirs = Channel();
  try {
    sandbox::compilation_from_message(ours.receive());
  } catch (const core::SystemError&) {  // no binary came along
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size == 0 || size > 60000) return 0;  // what a socket holds
  const std::string_view text = core::fuzzing::as_text(bytes + 1, size - 1);
  try {
    const size_t kind = bytes[0] % (kReaders.size() + 3);
    if (kind == kReaders.size()) {
      receive_anything(text);
    } else if (kind == kReaders.size() + 1) {
      answer_judge(text);
    } else if (kind == kReaders.size() + 2) {
      read_compilation(text);
    } else {
      auto [ours, theirs] = Channel::make_pair();
      send_frame(theirs.fd(), text);
      const sandbox::process::Message message = ours.receive();
      kReaders[kind](JsonView(message.json, "fuzzed"));
    }
  } catch (const sandbox::process::ChannelClosed&) {
  } catch (const core::InputError&) {
  }
  return 0;
}
