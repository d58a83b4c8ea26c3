// replay:FILE. A transcript's replies, given again.
#pragma once

#include <memory>
#include <string>

#include "agent/models/model.h"
#include "agent/models/transcript.h"

namespace agent {

// A prompt gets the answer recorded for the same problem and number, else the next one of that problem that nobody has
// got yet (so a campaign that asks in another order still runs), else `exhausted`. Usage and seconds are those of the
// record. Answers come in the order of asking.
std::unique_ptr<Model> replay_model(std::string name, Transcript transcript);

}  // namespace agent
