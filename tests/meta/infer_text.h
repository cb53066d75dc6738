// What a call gives, as text: the result, or `error: message [check_id]`.
#pragma once

#include <string>
#include <string_view>

#include "meta/golden.h"

namespace tare {

// `call` is `op(args)`, with ` | facts` if need be. Guards are not shown.
inline std::string InferText(Context& context, std::string_view call) {
  const auto line = SplitGoldenLine(call);
  if (!line.ok() || !line->has_value()) return "no call";
  std::string got = GoldenChecker(context).Check(**line).got;
  if (const size_t guards = got.find(" | "); guards != std::string::npos && !got.starts_with("error: "))
    got.resize(guards);
  return got;
}

}  // namespace tare
