// Misbehaving servers, over real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>

#include "agent/models/http_model_fixture.h"

namespace agent::models {
namespace {
using Cause = NoCompletion::Cause;
using std::chrono::milliseconds;
using test::ask;
using test::completion_of;
using test::HttpModelTest;
using test::HttpSeen;
using test::HttpServer;
using test::HttpWire;
using test::kRest;
using test::kStart;
using test::no_completion_of;
using test::prompt_of;
using test::wait_for;
using testing::HasSubstr;

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

TEST_F(HttpModelTest, FaultyRequestsAreNotRetried) {
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

TEST_F(HttpModelTest, PaidTriesAreRepeatedAsOftenAsAllowed) {
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

TEST_F(HttpModelTest, AnUnknownFormatIsNotUnderstood) {
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

}  // namespace
}  // namespace agent::models
