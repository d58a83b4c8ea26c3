#include "agent/models/http_model.h"

#include <gtest/gtest.h>

namespace agent::models {
namespace {
using Cause = NoCompletion::Cause;
using std::chrono::milliseconds;

constexpr double kAlmostOne = 0.999999;

TEST(Retry, TheCeilingDoublesUpToItsLimit) {
  const Retry retry({10, 10, milliseconds(1000), milliseconds(6000), milliseconds(120'000)});
  const milliseconds ceilings[] = {milliseconds(1000), milliseconds(2000), milliseconds(4000), milliseconds(6000),
                                   milliseconds(6000)};
  for (int tries = 1; tries <= 5; ++tries) {
    EXPECT_EQ(retry.next(tries, Cause::overloaded, {}, 0), milliseconds(0)) << "full jitter begins at nothing";
    EXPECT_EQ(retry.next(tries, Cause::overloaded, {}, 0.5), ceilings[tries - 1] / 2);
    EXPECT_EQ(retry.next(tries, Cause::overloaded, {}, kAlmostOne), ceilings[tries - 1] - milliseconds(1));
  }
}

TEST(Retry, TriesEnd) {
  const Retry retry({5, 9, milliseconds(10), milliseconds(10), milliseconds(10)});
  EXPECT_TRUE(retry.next(8, Cause::rate_limited, {}, 0));
  EXPECT_FALSE(retry.next(9, Cause::rate_limited, {}, 0));
  for (const Cause cause : {Cause::overloaded, Cause::unreachable, Cause::timed_out, Cause::cut_off}) {
    EXPECT_TRUE(retry.next(4, cause, {}, 0)) << name_of(cause);
    EXPECT_FALSE(retry.next(5, cause, {}, 0)) << name_of(cause);
  }
  for (const Cause cause : {Cause::not_understood, Cause::empty}) {
    EXPECT_TRUE(retry.next(2, cause, {}, 0)) << name_of(cause);
    EXPECT_FALSE(retry.next(3, cause, {}, 0)) << name_of(cause);
  }
  for (const Cause cause :
       {Cause::unauthorized, Cause::bad_request, Cause::declined, Cause::exhausted, Cause::cancelled}) {
    EXPECT_FALSE(retry.next(1, cause, {}, 0)) << name_of(cause);
  }
}

TEST(Retry, AServerIsGivenTheTimeItAsksFor) {
  const Retry retry({9, 9, milliseconds(1000), milliseconds(60'000), milliseconds(120'000)});
  EXPECT_EQ(retry.next(1, Cause::rate_limited, milliseconds(5000), 0), milliseconds(5000));
  EXPECT_EQ(retry.next(3, Cause::rate_limited, milliseconds(5000), 0.5), milliseconds(7000)) << "and not all at once";
  EXPECT_EQ(retry.next(1, Cause::rate_limited, milliseconds(120'000), 0), milliseconds(120'000));
  EXPECT_FALSE(retry.next(1, Cause::rate_limited, milliseconds(120'001), 0));
}

TEST(Retry, AVeryLateTryDoesNotOverflow) {
  const Retry retry({1'000'000, 1, milliseconds(1000), milliseconds(60'000), milliseconds(0)});
  EXPECT_EQ(retry.next(999'999, Cause::overloaded, {}, 0.5), milliseconds(30'000));
}
}  // namespace
}  // namespace agent::models
