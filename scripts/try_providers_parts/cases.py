"""What is tried: which server, over which protocol, with which fault, and what the archive must say of it."""

from campaigns import Case

IMPATIENT = ("--model-timeout", "2")


def stream_fault(kind, times=None):
    return [{"type": "stream_fault", "kind": kind, "after_chunks": 2, "times": times}]


def fail(status, times=None, retry_after=None):
    return [{"type": "fail", "status": status, "times": times, "retry_after": retry_after}]


DONE = {"completion"}
CASES = [
    *(Case("llmock", protocol, "none", DONE, judged_well=True) for protocol in ("chat", "responses", "messages", "gemini")),
    Case("llmock", "chat", "429 twice", DONE, scenario=fail(429, 2, 1), judged_well=True),
    Case("llmock", "messages", "429 twice", DONE, scenario=fail(429, 2, 1), judged_well=True),
    Case("llmock", "responses", "429, an hour", {"rate_limited"}, scenario=fail(429, None, 3600), free=True, requests=1),
    Case("llmock", "messages", "429 for ever", set(), scenario=fail(429, None, 1), seconds=8, by_time=True),
    Case("llmock", "chat", "500 twice", DONE, scenario=fail(500, 2), judged_well=True),
    Case("llmock", "messages", "500 for ever", {"overloaded"}, scenario=fail(500), free=True, requests=1),
    Case("llmock", "responses", "401", {"unauthorized"}, scenario=fail(401), free=True, judged_well=True),
    Case("llmock", "chat", "404", {"bad_request"}, scenario=fail(404), free=True, judged_well=True),
    Case("llmock", "chat", "disconnect", {"cut_off"}, scenario=stream_fault("disconnect"), requests=1),
    Case("llmock", "messages", "disconnect once", DONE, scenario=stream_fault("disconnect", 1), judged_well=True),
    *(Case("llmock", protocol, "truncate", {"cut_off"}, scenario=stream_fault("truncate"), requests=1)
      for protocol in ("chat", "responses", "messages", "gemini")),
    *(Case("llmock", protocol, "malformed", {"not_understood"}, scenario=stream_fault("malformed"), requests=1)
      for protocol in ("responses", "messages")),
    Case("llmock", "chat", "stall", {"timed_out"}, scenario=stream_fault("stall"), options=IMPATIENT, requests=1),
    *(Case("llmock", protocol, "cut", {"cut_off"}, proxy="cut", requests=1) for protocol in ("chat", "messages")),
    Case("llmock", "chat", "cut, tokens limited", {"cut_off"}, proxy="cut", requests=9, tokens=20000),
    Case("llmock", "messages", "slow loris", {"timed_out"}, proxy="slow_loris", options=IMPATIENT, requests=1),
    Case("llmock", "chat", "slow loris, patient", set(), proxy="slow_loris", seconds=8, by_time=True),
    *(Case("llmock", protocol, "wrong type", {"not_understood"}, proxy="wrong_type", requests=1, free=True)
      for protocol in ("chat", "responses", "messages")),
    *(Case("llmock", protocol, "50 MB stream", {"not_understood"}, proxy="huge_stream", requests=1)
      for protocol in ("chat", "responses", "messages")),
    Case("llmock", "messages", "50 MB event", {"not_understood"}, proxy="huge_event", requests=1),
    Case("llmock", "chat", "50 MB JSON", {"not_understood"}, proxy="huge_json", requests=1),
    Case("llmock", "chat", "redirect", {"not_understood"}, proxy="redirect", requests=1, free=True),
    *(Case("llmock", protocol, "key told", {"bad_request"}, proxy="tell_key", requests=1, free=True)
      for protocol in ("chat", "messages")),
    *(Case("llm-mock-api", protocol, "none", DONE, writes=True) for protocol in ("chat", "responses", "messages")),
    Case("llm-mock-api", "responses", "cut", {"cut_off"}, proxy="cut", requests=1),
    Case("llama.cpp", "chat", "none", DONE, seconds=240),
    Case("llama.cpp", "chat", "cut", {"cut_off"}, proxy="cut", requests=1, seconds=240),
]
