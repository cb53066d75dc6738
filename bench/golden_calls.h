// The calls of golden lines, read and ready to be asked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/context.h"
#include "ir/inferrer.h"
#include "ir/notation.h"

namespace tare::bench {

struct GoldenCall {
  Call call;
  std::shared_ptr<const Facts> facts;
  std::string spec;
  bool symbolic = false;  // some operand, argument or fact names a symbol
  bool refused = false;   // the answer is an error
  bool memoised = false;  // the second answer comes from the memo
};

struct Family {
  std::string name;  // of the file without its endings
  std::vector<GoldenCall> calls;
};

// All files of recorded answers there are: the shared ones, else the samples of the repository.
std::vector<Family> ReadFamilies(Context& context);

}  // namespace tare::bench
