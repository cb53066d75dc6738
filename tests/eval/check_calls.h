// Tables of calls and what they give.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "doctest/doctest.h"
#include "run_text.h"

namespace tare {

struct CallCase {
  std::string_view call;
  std::vector<std::string_view> inputs;
  std::string_view want;
};

// Each call, evaluated as RunCall does, gives what its row wants.
inline void Check(std::initializer_list<CallCase> cases, std::string_view spec = kTestSpec) {
  for (const CallCase& c : cases) {
    CAPTURE(c.call);
    const std::string_view first_input = c.inputs.empty() ? std::string_view() : c.inputs.front();
    CAPTURE(first_input);
    CHECK_EQ(RunCall(c.call, c.inputs, spec), c.want);
  }
}

}  // namespace tare
