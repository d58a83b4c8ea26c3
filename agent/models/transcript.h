// Transcripts: a campaign's prompts and replies in a file, for use without the models. JSON Lines in ASCII: first a
// header, then one object for each entry:
//   {"kernelwright_transcript": 1, "model": "anthropic:claude-...", "date": "2026-11-21T17:00:00Z",
//    "kernelwright": "0.1.0", "device": "cpu", "note": ""}
//   {"problem": "softmax_f32", "number": 1, "prompt_hash": "<64 hex digits>", "model": "claude-...-20251101",
//    "reply": "...", "complete": true, "tries": 1, "seconds": 12.5,
//    "usage": {"input": 900, "cache_read": 4000, "cache_written": 0, "output": 2100, "estimated": false}}
// An entry that ended without a reply has "no_reply": "timed_out" and "what" instead of model, reply and complete.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "agent/models/model.h"

namespace agent::models {

struct TranscriptHeader {
  std::string model;         // the replies' author, as the user named it
  std::string date;          // ISO 8601
  std::string kernelwright;  // the version that made the prompts
  std::string device;        // that judged the candidates
  std::string note;          // for people; may be empty
};

struct TranscriptEntry {
  Occasion occasion;
  std::string prompt_hash;  // Prompt::hash()
  Answer answer;
};

struct Transcript {
  TranscriptHeader header;
  std::vector<TranscriptEntry> entries;
};

// Throws core::InputError with file and line when the file is unreadable or of another version.
Transcript read_transcript(const std::filesystem::path& file);
// Replaces the file atomically. Throws core::SystemError when it cannot be written.
void write_transcript(const Transcript& transcript, const std::filesystem::path& file);

// replay:FILE. Answers a prompt with the reply recorded for the same problem and number, else with the next unused
// reply for that problem (so a campaign that asks in another order still runs), else `exhausted`. Usage and seconds are
// the recorded ones. Answers come in the order of asking.
std::unique_ptr<Model> replay_model(std::string name, Transcript transcript);

}  // namespace agent::models
