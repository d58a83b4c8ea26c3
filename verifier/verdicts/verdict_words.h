// The words of each verdict: what was seen, for people, and what to change, for models.
#pragma once

#include <string>

#include "verifier/verdicts/verdict.h"

namespace verifier::verdicts {

std::string what_was_seen(const Correct& v);
std::string what_was_seen(const CompileFailed& v);
std::string what_was_seen(const InvalidPlan& v);
std::string what_was_seen(const WrongResult& v);
std::string what_was_seen(const NotWritten& v);
std::string what_was_seen(const WrongNonFinite& v);
std::string what_was_seen(const OrderDependent& v);
std::string what_was_seen(const GuardDamaged& v);
std::string what_was_seen(const InputModified& v);
std::string what_was_seen(const Faulted& v);
std::string what_was_seen(const TimedOut& v);
std::string what_was_seen(const Crashed& v);
std::string what_was_seen(const ForbiddenCall& v);
std::string what_was_seen(const MemoryLimit& v);
std::string what_was_seen(const TooFast& v);

std::string what_to_change(const Correct& v);
std::string what_to_change(const CompileFailed& v);
std::string what_to_change(const InvalidPlan& v);
std::string what_to_change(const WrongResult& v);
std::string what_to_change(const NotWritten& v);
std::string what_to_change(const WrongNonFinite& v);
std::string what_to_change(const OrderDependent& v);
std::string what_to_change(const GuardDamaged& v);
std::string what_to_change(const InputModified& v);
std::string what_to_change(const Faulted& v);
std::string what_to_change(const TimedOut& v);
std::string what_to_change(const Crashed& v);
std::string what_to_change(const ForbiddenCall& v);
std::string what_to_change(const MemoryLimit& v);
std::string what_to_change(const TooFast& v);

}  // namespace verifier::verdicts
