// Errors of tare: absl::Status everywhere, checks for our own bugs.
//
// The Abseil of Debian 12 has no CHECK and no ASSIGN_OR_RETURN macros; this header holds them and
// the constructors that attach a node and a check id to a status. No exceptions, no RTTI.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ir/ids.h"

namespace tare {

// Prints what failed and aborts; the process exits with 70 from the command.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);

// An error that carries a check id: `<message> [<check_id>]`. Ids are for ever: tests, messages
// and documents quote them.
absl::Status CheckError(absl::StatusCode code, std::string_view check_id, std::string_view message);

// Abseil's packages may have a string_view of their own; these let StrCat take ours.
inline absl::string_view TextPiece(std::string_view text) { return {text.data(), text.size()}; }
template <typename T>
const T& TextPiece(const T& value) {
  return value;
}

template <typename... Parts>
std::string Cat(const Parts&... parts) {
  return absl::StrCat(TextPiece(parts)...);
}
template <typename... Parts>
void CatTo(std::string& out, const Parts&... parts) {
  absl::StrAppend(&out, TextPiece(parts)...);
}

template <typename... Parts>
absl::Status InvalidError(std::string_view check_id, const Parts&... parts) {
  return CheckError(absl::StatusCode::kInvalidArgument, check_id, absl::StrCat(TextPiece(parts)...));
}
template <typename... Parts>
absl::Status UnimplementedError(std::string_view check_id, const Parts&... parts) {
  return CheckError(absl::StatusCode::kUnimplemented, check_id, absl::StrCat(TextPiece(parts)...));
}

// Names the node a status speaks of, as a payload, so that programs need not parse text. The first
// call wins: the place is added once, where it is known.
absl::Status WithNode(absl::Status status, NodeId node);
std::optional<NodeId> NodeOf(const absl::Status& status);
// The check id of a status made by CheckError, or "".
std::string CheckIdOf(const absl::Status& status);
// The message before ` [check_id]`.
std::string_view WithoutId(const absl::Status& status);
// `prefix` before the message; the check id is kept, the place is not.
absl::Status Prefixed(std::string_view prefix, const absl::Status& status);

}  // namespace tare

#define TARE_CHECK(condition) ((condition) ? (void)0 : ::tare::CheckFailed(__FILE__, __LINE__, #condition))
#ifdef NDEBUG
#define TARE_DCHECK(condition) ((void)sizeof(condition))
#else
#define TARE_DCHECK(condition) TARE_CHECK(condition)
#endif

#define TARE_CONCAT_INNER(a, b) a##b
#define TARE_CONCAT(a, b) TARE_CONCAT_INNER(a, b)
#define TARE_RETURN_IF_ERROR(expr)                                                   \
  do {                                                                               \
    if (absl::Status tare_status_ = (expr); !tare_status_.ok()) return tare_status_; \
  } while (0)
#define TARE_ASSIGN_OR_RETURN(lhs, expr) TARE_ASSIGN_OR_RETURN_IMPL(TARE_CONCAT(tare_statusor_, __LINE__), lhs, expr)
#define TARE_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                               \
  if (!tmp.ok()) return std::move(tmp).status();   \
  lhs = *std::move(tmp)
