// What a status means to whoever is outside: the codes of tare.h, which are the command's exit codes.
#pragma once

#include "absl/status/status.h"
#include "tare/tare.h"

namespace tare {

tare_status StatusCodeOf(const absl::Status& status);

}  // namespace tare
