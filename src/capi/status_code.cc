#include "capi/status_code.h"

namespace tare {

tare_status StatusCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return TARE_OK;
    case absl::StatusCode::kFailedPrecondition:
      return TARE_NO;
    case absl::StatusCode::kNotFound:
      return TARE_USAGE;
    case absl::StatusCode::kUnimplemented:
      return TARE_UNSUPPORTED;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
      return TARE_BUG;
    default:
      return TARE_BAD_INPUT;
  }
}

}  // namespace tare
