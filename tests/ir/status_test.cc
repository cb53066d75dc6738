#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "ir/status.h"

#include <doctest/doctest.h>

namespace tare {
namespace {

absl::StatusOr<int> Half(int value) {
  if (value % 2 != 0) return InvalidError("half_c1", "value ", value, " is odd");
  return value / 2;
}

absl::StatusOr<int> Quarter(int value) {
  TARE_ASSIGN_OR_RETURN(const int half, Half(value));
  TARE_RETURN_IF_ERROR(Half(half).status());
  return Half(half);
}

TEST_CASE("errors carry their check id in text and payload") {
  const absl::Status status = InvalidError("view_c1", "rank ", 3, " is not ", std::string_view("2"));
  CHECK_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  CHECK_EQ(std::string(status.message()), "rank 3 is not 2 [view_c1]");
  CHECK_EQ(CheckIdOf(status), "view_c1");
  CHECK_EQ(UnimplementedError("x_c1", "no").code(), absl::StatusCode::kUnimplemented);
  CHECK_EQ(CheckIdOf(absl::OkStatus()), "");
  CHECK_EQ(CheckIdOf(absl::NotFoundError("no id [view_c1]")), "");
  CHECK_EQ(std::string(InvalidError("", "plain").message()), "plain");
}

TEST_CASE("the first node named stays") {
  absl::Status status = WithNode(InvalidError("a_c1", "wrong"), NodeId{7});
  status = WithNode(status, NodeId{8});
  CHECK_EQ(NodeOf(status), NodeId{7});
  CHECK_EQ(CheckIdOf(status), "a_c1");
  CHECK_FALSE(NodeOf(InvalidError("a_c1", "wrong")).has_value());
  CHECK(WithNode(absl::OkStatus(), NodeId{1}).ok());
  CHECK_FALSE(NodeOf(absl::OkStatus()).has_value());
}

TEST_CASE("macros return the first error unchanged") {
  CHECK_EQ(Quarter(12).value(), 3);
  CHECK_EQ(std::string(Quarter(5).status().message()), "value 5 is odd [half_c1]");
  CHECK_EQ(std::string(Quarter(6).status().message()), "value 3 is odd [half_c1]");
}

}  // namespace
}  // namespace tare
