#include "ir/status.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/cord.h"

namespace tare {
namespace {

constexpr char kCheckPayload[] = "tare/check";
constexpr char kNodePayload[] = "tare/node";

std::optional<std::string> PayloadOf(const absl::Status& status, const char* key) {
  const auto payload = status.GetPayload(key);
  if (!payload.has_value()) return std::nullopt;
  return std::string(*payload);
}

}  // namespace

void CheckFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "tare: internal error at %s:%d: %s\n", file, line, condition);
  std::abort();
}

absl::Status CheckError(absl::StatusCode code, std::string_view check_id, std::string_view message) {
  if (check_id.empty()) return absl::Status(code, TextPiece(message));
  absl::Status status(code, absl::StrCat(TextPiece(message), " [", TextPiece(check_id), "]"));
  status.SetPayload(kCheckPayload, absl::Cord(TextPiece(check_id)));
  return status;
}

absl::Status WithNode(absl::Status status, NodeId node) {
  if (status.ok() || NodeOf(status).has_value()) return status;
  status.SetPayload(kNodePayload, absl::Cord(absl::StrCat(node.index)));
  return status;
}

std::optional<NodeId> NodeOf(const absl::Status& status) {
  const std::optional<std::string> text = PayloadOf(status, kNodePayload);
  if (!text.has_value()) return std::nullopt;
  return NodeId{static_cast<uint32_t>(std::strtoul(text->c_str(), nullptr, 10))};
}

std::string CheckIdOf(const absl::Status& status) { return PayloadOf(status, kCheckPayload).value_or(""); }

std::string_view WithoutId(const absl::Status& status) {
  std::string_view text(status.message().data(), status.message().size());
  const size_t id_bytes = CheckIdOf(status).size();
  if (id_bytes > 0 && text.size() >= id_bytes + 3) text.remove_suffix(id_bytes + 3);
  return text;
}

absl::Status Prefixed(std::string_view prefix, const absl::Status& status) {
  return CheckError(status.code(), CheckIdOf(status), Cat(prefix, WithoutId(status)));
}

}  // namespace tare
