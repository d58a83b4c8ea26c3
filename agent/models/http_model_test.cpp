// What a server can do to us, and what becomes of it: over real sockets.
#include "agent/models/http_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <future>
#include <thread>
#include <vector>

#include "agent/models/http_server_fixture.h"
#include "agent/models/model_fixture.h"

namespace agent {
namespace {
using Cause = NoCompletion::Cause;
using std::chrono::milliseconds;
using test::ask;
using test::completion_of;
using test::HttpSeen;
using test::HttpServer;
using test::HttpWire;
using test::no_completion_of;
using test::prompt_of;
using test::wait_for;
using testing::HasSubstr;
using testing::Not;

constexpr char kKey[] = "sk-secret-0123456789abcdef";
const std::string kStart = R"(data: {"model":"tiny-1","choices":[{"index":0,"delta":{"content":"Hel"}}]})"
                           "\n\n";
const std::string kRest =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":2}}\n\n"
    "data: [DONE]\n\n";

class HttpModelTest : public testing::Test {
 protected:
  HttpModelSetup setup(const std::string& url) const {
    HttpModelSetup all;
    all.name = "http://server";
    all.model = "tiny";
    all.base_url = url + "/v1";
    all.format = openai_chat_format(true);
    all.key = Key(kKey, "test");
    all.key_hint = "KW_API_KEY";
    all.limits = {milliseconds(2000), milliseconds(2000), milliseconds(2000), milliseconds(20'000)};
    all.retry = {3, 3, milliseconds(2), milliseconds(10), milliseconds(5000)};
    all.most_reply_bytes = 64 << 10;
    return all;
  }
  Answer answer_of(HttpServer& server) { return answer_with(setup(server.url())); }
  Answer answer_with(HttpModelSetup all, const Sampling& sampling = {}) {
    const auto model = http_model(std::move(all));
    return wait_for(ask(*model, prompt_of("Softmax."), {"softmax_f32", 1}, sampling));
  }
};

TEST_F(HttpModelTest, AStreamBecomesACompletion) {
  HttpServer server([](HttpWire& wire, const HttpSeen&, int) { wire.stream(kStart + kRest); });
  const Completion completion = completion_of(answer_of(server));
  EXPECT_EQ(completion.text, "Hello");
  EXPECT_EQ(completion.model, "tiny-1");
  EXPECT_TRUE(completion.complete);
  EXPECT_EQ(completion.tries, 1);
  EXPECT_EQ(completion.usage.input, 12);
  EXPECT_EQ(completion.usage.output, 2);
  EXPECT_FALSE(completion.usage.estimated);
  ASSERT_EQ(server.seen().size(), 1u);
  const HttpSeen request = server.seen().front();
  EXPECT_THAT(request.head, HasSubstr("POST /v1/chat/completions HTTP/1.1"));
  EXPECT_THAT(request.head, HasSubstr("Authorization: Bearer sk-secret-0123456789abcdef"));
  EXPECT_THAT(request.head, HasSubstr("User-Agent: kernelwright/"));
  EXPECT_EQ(core::Json::parse(request.body)["messages"][1]["content"], "The format is so.\nSoftmax.");
}

TEST_F(HttpModelTest, AServerThatDoesNotStreamIsUnderstood) {
  HttpServer server([](HttpWire& wire, const HttpSeen&, int) {
    wire.answer("200 OK", "application/json; charset=utf-8",
                R"({"model":"tiny-1","choices":[{"message":{"content":"Hello"},"finish_reason":"length"}]})");
  });
  const Completion completion = completion_of(answer_of(server));
  EXPECT_EQ(completion.text, "Hello");
  EXPECT_FALSE(completion.complete);
  EXPECT_TRUE(completion.usage.estimated) << "the server does not count";
  EXPECT_GT(completion.usage.input, 5);
  EXPECT_GT(completion.usage.output, 0);
}

TEST_F(HttpModelTest, AServerThatIsBusyIsAskedAgain) {
  HttpServer server([](HttpWire& wire, const HttpSeen&, int number) {
    if (number == 1) {
      wire.answer("529 Overloaded", "application/json", R"({"error":{"type":"overloaded_error","message":"busy"}})");
    } else if (number == 2) {
      wire.answer("503 Service Unavailable", "text/html", "<h1>busy</h1>");
    } else {
      wire.stream(kStart + kRest);
    }
  });
  const Completion completion = completion_of(answer_of(server));
  EXPECT_EQ(completion.tries, 3);
  EXPECT_EQ(completion.usage.input, 12) << "refusals cost nothing";
}

TEST_F(HttpModelTest, AServerThatStaysBusyIsGivenUp) {
  HttpServer server([](HttpWire& wire, const HttpSeen&, int) {
    wire.answer("500 Internal Server Error", "application/json", R"({"error":{"message":"broken"}})");
  });
  const NoCompletion none = no_completion_of(answer_of(server));
  EXPECT_EQ(none.cause, Cause::overloaded);
  EXPECT_EQ(none.tries, 3);
  EXPECT_THAT(none.what, HasSubstr("http://server: it answered with status 500: broken"));
  EXPECT_EQ(none.usage.input + none.usage.output, 0);
}

TEST_F(HttpModelTest, RetryAfterIsWaitedForInSecondsAndAsADate) {
  std::atomic<bool> as_date = false;
  HttpServer server([&](HttpWire& wire, const HttpSeen&, int number) {
    if (number % 2 == 0) {
      wire.stream(kStart + kRest);
      return;
    }
    const std::time_t then = std::time(nullptr) + 2;
    char date[64];
    std::strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", std::gmtime(&then));
    wire.answer("429 Too Many Requests", "application/json", R"({"error":{"type":"rate_limit_error"}})",
                std::string("Retry-After: ") + (as_date ? date : "1") + "\r\n");
  });
  EXPECT_GE(completion_of(answer_of(server)).seconds, 1.0);
  as_date = true;
  EXPECT_GE(completion_of(answer_of(server)).seconds, 0.9);
}

TEST_F(HttpModelTest, AServerThatAsksOneRequestToWaitIsNotAskedByOthers) {
  std::atomic<int> refused = 0;
  HttpServer server([&](HttpWire& wire, const HttpSeen&, int number) {
    if (number == 1) {
      wire.answer("429 Too Many Requests", "application/json", "{}", "Retry-After: 1\r\n");
      refused = 1;
    } else {
      wire.stream(kStart + kRest);
    }
  });
  const auto model = http_model(setup(server.url()));
  auto first = ask(*model, prompt_of("Softmax."));
  while (refused == 0) std::this_thread::sleep_for(milliseconds(2));
  std::this_thread::sleep_for(milliseconds(200));
  auto second = ask(*model, prompt_of("Gemm."));
  EXPECT_GE(completion_of(wait_for(std::move(second))).seconds, 0.5);
  EXPECT_EQ(completion_of(wait_for(std::move(first))).tries, 2);
}

TEST_F(HttpModelTest, AServerThatWantsTooMuchPatienceIsGivenUp) {
  HttpServer server([](HttpWire& wire, const HttpSeen&, int) {
    wire.answer("429 Too Many Requests", "application/json", R"({"error":{"message":"slow down"}})",
                "Retry-After: 3600\r\n");
  });
  const NoCompletion none = no_completion_of(answer_of(server));
  EXPECT_EQ(none.cause, Cause::rate_limited);
  EXPECT_EQ(none.tries, 1);
}

TEST_F(HttpModelTest, WhatIsWrongWithTheRequestIsNotAskedAgain) {
  struct Case {
    const char* status;
    const char* body;
    Cause cause;
  };
  const Case cases[] = {
      {"401 Unauthorized", R"({"error":{"code":"invalid_api_key","message":"no"}})", Cause::unauthorized},
      {"403 Forbidden", "", Cause::unauthorized},
      {"404 Not Found", R"({"error":"model 'tiny' not found"})", Cause::bad_request},
      {"400 Bad Request", R"({"detail":[{"loc":["body"]}]})", Cause::bad_request},
      {"429 Too Many Requests", R"({"error":{"code":"insufficient_quota","message":"pay"}})", Cause::unauthorized},
      {"302 Found", "", Cause::not_understood},
  };
  for (const Case& one : cases) {
    HttpServer server([&](HttpWire& wire, const HttpSeen&, int) {
      wire.answer(one.status, "application/json", one.body, "Location: http://127.0.0.1:1/v1\r\n");
    });
    const NoCompletion none = no_completion_of(answer_of(server));
    EXPECT_EQ(name_of(none.cause), name_of(one.cause)) << one.status;
    EXPECT_EQ(none.tries, 1) << one.status;
    EXPECT_EQ(server.seen().size(), 1u) << one.status;
  }
}

TEST_F(HttpModelTest, AStreamThatIsCutIsAskedForAgainAndPaid) {
  for (const bool in_a_chunk : {true, false}) {
    HttpServer server([&](HttpWire& wire, const HttpSeen&, int number) {
      if (number > 1) {
        wire.stream(kStart + kRest);
        return;
      }
      if (in_a_chunk) {
        wire.begin_stream();
        wire.chunk(kStart);
      } else {
        wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + kStart +
                  kRest.substr(0, 30));
      }
      wire.hang_up();
    });
    const Completion completion = completion_of(answer_of(server));
    EXPECT_EQ(completion.text, "Hello");
    EXPECT_EQ(completion.tries, 2);
    EXPECT_TRUE(completion.usage.estimated) << "nobody said what the first try cost";
    EXPECT_GT(completion.usage.input, 12);
  }
}

TEST_F(HttpModelTest, WhatHasBeenPaidForIsRepeatedAsOftenAsAllowed) {
  HttpServer server([](HttpWire& wire, const HttpSeen&, int number) {
    if (number == 1) {
      wire.answer("500 Internal Server Error", "application/json", "{}");
    } else {
      wire.begin_stream();
      wire.chunk(kStart);
      wire.hang_up();
    }
  });
  Sampling sampling;
  sampling.most_paid_tries = 1;
  const NoCompletion none = no_completion_of(answer_with(setup(server.url()), sampling));
  EXPECT_EQ(none.cause, Cause::cut_off);
  EXPECT_EQ(none.tries, 2) << "the first cost nothing";
}

TEST_F(HttpModelTest, AMessageNamesTheServerOnce) {
  HttpModelSetup all = setup("http://127.0.0.1:1");
  all.name = all.base_url + "#tiny";
  all.retry.most_tries = 1;
  EXPECT_THAT(no_completion_of(answer_with(std::move(all))).what,
              testing::MatchesRegex("http://127.0.0.1:1/v1#tiny: [^:]*Failed to connect to [^/]*"));
}

TEST_F(HttpModelTest, AnAnswerThatIsCompleteIsKeptHoweverItsConnectionEnds) {
  for (const bool hangs_up : {true, false}) {
    HttpServer server([&](HttpWire& wire, const HttpSeen&, int) {
      wire.begin_stream();
      wire.chunk(kStart + kRest);
      if (hangs_up) {
        wire.hang_up();
      } else {
        wire.wait_for_hang_up();
      }
    });
    const Completion completion = completion_of(answer_of(server));
    EXPECT_EQ(completion.text, "Hello");
    EXPECT_EQ(completion.tries, 1);
  }
}

TEST_F(HttpModelTest, WhatIsNoAnswerIsNotUnderstood) {
  const auto whole = [](const char* type, const char* body) {
    return [=](HttpWire& wire, const HttpSeen&, int) { wire.answer("200 OK", type, body); };
  };
  const HttpServer::Script scripts[] = {
      whole("text/html", "<h1>Log in</h1>"),
      whole("application/json", "{\"choices\": [{"),
      whole("application/json", "{\"hello\": 1}"),
      whole("application/json", "[[[1]]]"),
      whole("text/event-stream", "data: {\"choices\": nonsense}\n\n"),
      [](HttpWire& wire, const HttpSeen&, int) { wire.send("HTTP/1.1 200 OK\r\n\r\nhello"), wire.hang_up(); },
      [](HttpWire& wire, const HttpSeen&, int) { wire.send("Hello, who is there?\r\n\r\n"), wire.hang_up(); },
  };
  for (size_t i = 0; i < std::size(scripts); ++i) {
    HttpServer server(scripts[i]);
    const NoCompletion none = no_completion_of(answer_of(server));
    EXPECT_EQ(name_of(none.cause), "not_understood") << i << ": " << none.what;
    EXPECT_EQ(none.tries, 3) << i;
  }
}

TEST_F(HttpModelTest, AnEmptyReplyIsAskedForAgain) {
  HttpServer server([](HttpWire& wire, const HttpSeen&, int) {
    wire.answer("200 OK", "application/json",
                R"({"choices":[{"message":{"content":" \n"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9}})");
  });
  const NoCompletion none = no_completion_of(answer_of(server));
  EXPECT_EQ(none.cause, Cause::empty);
  EXPECT_EQ(none.tries, 3);
  EXPECT_EQ(none.usage.input, 27) << "all are paid";
}

TEST_F(HttpModelTest, ARefusalIsFinal) {
  HttpServer server([](HttpWire& wire, const HttpSeen&, int) {
    wire.stream(
        "data: {\"choices\":[{\"delta\":{\"refusal\":\"I will not.\"}}]}\n\n"
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
  });
  const NoCompletion none = no_completion_of(answer_of(server));
  EXPECT_EQ(none.cause, Cause::declined);
  EXPECT_EQ(none.tries, 1);
  EXPECT_THAT(none.what, HasSubstr("I will not."));
}

TEST_F(HttpModelTest, AReplyThatIsTooLargeIsDroppedOnTheWay) {
  const std::string text(1 << 16, 'x');
  const std::string event = R"(data: {"choices":[{"delta":{"content":")" + text.substr(0, 8000) + "\"}}]}\n\n";
  const auto flood = [](HttpWire& wire, const std::string& piece) {
    size_t sent = 0;
    while (sent < 50'000'000 && wire.send(piece)) sent += piece.size();
    return sent;
  };
  std::atomic<size_t> sent = 0;
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: ";
  const HttpServer::Script scripts[] = {
      [&](HttpWire& w, const HttpSeen&, int) { w.send(head + "text/event-stream\r\n\r\n"), sent = flood(w, event); },
      [&](HttpWire& w, const HttpSeen&, int) {
        w.send(head + "text/event-stream\r\n\r\ndata: "), sent = flood(w, text);
      },
      [&](HttpWire& w, const HttpSeen&, int) { w.send(head + "application/json\r\n\r\n\""), sent = flood(w, text); },
  };
  for (size_t i = 0; i < std::size(scripts); ++i) {
    {
      HttpServer server(scripts[i]);
      const NoCompletion none = no_completion_of(answer_of(server));
      EXPECT_EQ(name_of(none.cause), "not_understood") << i;
      EXPECT_THAT(none.what, HasSubstr("larger than")) << i;
      EXPECT_EQ(none.tries, 1) << i << ": it would be as large again";
    }
    EXPECT_LT(sent.load(), 20'000'000u) << i;
  }
}

TEST_F(HttpModelTest, AReplyFarBeyondItsTokensIsDroppedAndChargedWithThem) {
  const std::string event = R"(data: {"choices":[{"delta":{"content":")" + std::string(8000, 'x') + "\"}}]}\n\n";
  HttpServer server([&](HttpWire& wire, const HttpSeen&, int) {
    wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
    for (int i = 0; i < 200 && wire.send(event); ++i) {
    }
    wire.hang_up();
  });
  HttpModelSetup all = setup(server.url());
  all.most_reply_bytes = 4 << 20;
  Sampling sampling;
  sampling.max_output_tokens = 100;
  const NoCompletion none = no_completion_of(answer_with(std::move(all), sampling));
  EXPECT_EQ(none.cause, Cause::not_understood);
  EXPECT_EQ(none.tries, 1);
  EXPECT_EQ(none.usage.output, 100);
}

TEST_F(HttpModelTest, EveryKindOfWaitingHasAnEnd) {
  const auto silent = [](HttpWire& wire, const HttpSeen&, int) { wire.wait_for_hang_up(); };
  const auto halted = [](HttpWire& wire, const HttpSeen&, int) {
    wire.begin_stream();
    wire.chunk(kStart);
    wire.wait_for_hang_up();
  };
  // One byte at a time: never idle on the wire, never an event.
  const auto slow_loris = [](HttpWire& wire, const HttpSeen&, int) {
    wire.begin_stream();
    while (wire.chunk("x")) std::this_thread::sleep_for(milliseconds(5));
  };
  const auto endless = [](HttpWire& wire, const HttpSeen&, int) {
    wire.begin_stream();
    while (wire.chunk(": still here\n\ndata: {}\n\n")) std::this_thread::sleep_for(milliseconds(5));
  };
  struct Case {
    HttpServer::Script script;
    const char* what;
  };
  for (const Case& one : {Case{silent, "no answer began"}, Case{halted, "came to a halt"},
                          Case{slow_loris, "came to a halt"}, Case{endless, "too long as a whole"}}) {
    HttpServer server(one.script);
    HttpModelSetup all = setup(server.url());
    all.limits = {milliseconds(2000), milliseconds(150), milliseconds(150), milliseconds(600)};
    all.retry.most_tries = 2;
    const NoCompletion none = no_completion_of(answer_with(std::move(all)));
    EXPECT_EQ(name_of(none.cause), "timed_out");
    EXPECT_THAT(none.what, HasSubstr(one.what));
    EXPECT_LT(none.seconds, 15);
  }
}

TEST_F(HttpModelTest, NobodyThereIsUnreachable) {
  std::string url;
  {
    HttpServer server([](HttpWire&, const HttpSeen&, int) {});
    url = server.url();
  }
  const NoCompletion none = no_completion_of(answer_with(setup(url)));
  EXPECT_EQ(none.cause, Cause::unreachable);
  EXPECT_EQ(none.tries, 3);
  EXPECT_THAT(none.what, HasSubstr(url));
}

TEST_F(HttpModelTest, TheKeyIsInNothingThatIsKept) {
  const std::string echo = std::string("your key is ") + kKey + "!";
  const auto stream = [&](const std::string& text) {
    return "data: {\"model\":\"" + std::string(kKey) + "\",\"choices\":[{\"delta\":{\"content\":\"" + text +
           "\"}}]}\n\n";
  };
  const HttpServer::Script scripts[] = {
      [&](HttpWire& w, const HttpSeen&, int) {
        w.answer("401 Unauthorized", "application/json",
                 R"({"error":{"type":")" + echo + R"(","message":")" + echo + "\"}}");
      },
      [&](HttpWire& w, const HttpSeen&, int) { w.answer("500 Broken", "text/plain", echo); },
      [&](HttpWire& w, const HttpSeen&, int) { w.answer("200 OK", echo, echo); },
      [&](HttpWire& w, const HttpSeen&, int) {
        w.stream(R"(data: {"choices":[{"delta":{"refusal":")" + echo + R"("},"finish_reason":"content_filter"}]})" +
                 "\n\n");
      },
      [&](HttpWire& w, const HttpSeen&, int) { w.stream(R"(data: {"error":{"message":")" + echo + "\"}}\n\n"); },
      [&](HttpWire& w, const HttpSeen&, int) {
        w.answer("200 OK", "application/json", "{\"" + echo + "\":1,\"" + echo + "\":2}");
      },
  };
  for (size_t i = 0; i < std::size(scripts); ++i) {
    HttpServer server(scripts[i]);
    const NoCompletion none = no_completion_of(answer_of(server));
    EXPECT_THAT(none.what, Not(HasSubstr(kKey))) << i;
    EXPECT_THAT(none.what, Not(HasSubstr("0123456789abcdef"))) << i;
    EXPECT_THAT(none.what, HasSubstr("[key]")) << i;
  }
  // In a reply, in two deltas.
  HttpServer server([&](HttpWire& wire, const HttpSeen&, int) {
    wire.stream(stream("key sk-secret-0123") + stream("456789abcdef.") + kRest);
  });
  const Completion completion = completion_of(answer_of(server));
  EXPECT_EQ(completion.text, "key [key].lo");
  EXPECT_EQ(completion.model, "[key]");
}

TEST_F(HttpModelTest, CancellingAnswersEverything) {
  HttpServer server([](HttpWire& wire, const HttpSeen&, int number) {
    if (number == 1) {
      wire.answer("429 Too Many Requests", "application/json", "{}", "Retry-After: 4\r\n");  // delayed
    } else if (number < 4) {
      wire.begin_stream();
      wire.chunk(kStart);
      wire.wait_for_hang_up();
    } else {
      wire.stream(kStart + kRest);
    }
  });
  const auto model = http_model(setup(server.url()));
  std::vector<std::future<Answer>> answers;
  for (int i = 0; i < 3; ++i) answers.push_back(ask(*model, prompt_of("Softmax.")));
  while (server.seen().size() < 3) std::this_thread::sleep_for(milliseconds(2));
  std::this_thread::sleep_for(milliseconds(50));
  model->cancel();
  for (auto& answer : answers) EXPECT_EQ(no_completion_of(wait_for(std::move(answer))).cause, Cause::cancelled);
  EXPECT_EQ(completion_of(wait_for(ask(*model, prompt_of("Again.")))).text, "Hello") << "it is still of use";
}

TEST_F(HttpModelTest, ItsEndAnswersEverything) {
  HttpServer server([](HttpWire& wire, const HttpSeen&, int) { wire.wait_for_hang_up(); });
  std::future<Answer> answer;
  {
    const auto model = http_model(setup(server.url()));
    answer = ask(*model, prompt_of("Softmax."));
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_EQ(no_completion_of(wait_for(std::move(answer))).cause, Cause::cancelled);
}

TEST_F(HttpModelTest, ManyRequestsTakeTheTimeOfOne) {
  constexpr int kRequests = 64;
  std::atomic<int> at_once = 0, most_at_once = 0;
  HttpServer server([&](HttpWire& wire, const HttpSeen&, int) {
    const int now = ++at_once;
    for (int most = most_at_once; now > most && !most_at_once.compare_exchange_weak(most, now);) {
    }
    std::this_thread::sleep_for(milliseconds(1000));
    wire.stream(kStart + kRest);
    --at_once;
  });
  const auto model = http_model(setup(server.url()));
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::future<Answer>> answers;
  for (int i = 0; i < kRequests; ++i) answers.push_back(ask(*model, prompt_of(std::to_string(i))));
  for (auto& answer : answers) EXPECT_EQ(completion_of(wait_for(std::move(answer))).text, "Hello");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(10'000)) << "one after the other takes 64 s";
  EXPECT_GE(most_at_once, kRequests / 2);
}
}  // namespace
}  // namespace agent
