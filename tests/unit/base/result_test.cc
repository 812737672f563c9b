#include "groma/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace groma {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Error{Error::Code::kMalformed, "odd", "take an even number"};
  return n / 2;
}

TEST(Result, HoldsAValue) {
  const Result<int> result = half(8);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result);
  EXPECT_EQ(*result, 4);
}

TEST(Result, HoldsAnError) {
  const Result<int> result = half(7);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Error::Code::kMalformed);
  EXPECT_EQ(result.error().message, "odd");
  EXPECT_EQ(result.error().help, "take an even number");
}

TEST(Result, GivesItsValueAwayOnce) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

TEST(Result, CanBeChanged) {
  Result<std::string> result = std::string("a");
  result->append("b");
  *result += "c";
  EXPECT_EQ(result.value(), "abc");
}

TEST(ResultDeathTest, ReadingTheSideThatIsNotThereIsOurFault) {
  EXPECT_DEATH(static_cast<void>(half(7).value()),
               "wrong use of the library: value.. needs a result with a value");
  EXPECT_DEATH(static_cast<void>(half(8).error()), "error.. needs a result without a value");
}

}  // namespace
}  // namespace groma
