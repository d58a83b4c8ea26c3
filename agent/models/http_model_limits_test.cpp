// Limits of a model over HTTP (size, time, secrets, cancelling), over real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

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
using test::kKey;
using test::kRest;
using test::kStart;
using test::no_completion_of;
using test::prompt_of;
using test::wait_for;
using testing::HasSubstr;
using testing::Not;

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
  for (const Case& one : {Case{silent, "no answer began"}, Case{halted, "the answer stopped"},
                          Case{slow_loris, "the answer stopped"}, Case{endless, "whole answer took too long"}}) {
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

TEST_F(HttpModelTest, AClosedPortIsUnreachable) {
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
}  // namespace agent::models
