// The Inferrer of the rules: what a node would be, asked of the memo first.
#pragma once

#include <memory>
#include <string>

#include "ir/context.h"
#include "ir/inferrer.h"

namespace tare {

struct InferrerOptions {
  std::shared_ptr<const Facts> facts;
  std::string spec;      // target specification in force, "TOSA-1.0+INT"; part of every memo key
  bool use_memo = true;  // false: every answer is evaluated, the slow twin of the memo
};

// One inferrer for one thread; `context` must outlive it. Ops without a rule are `declared`.
std::unique_ptr<Inferrer> MakeInferrer(Context& context, InferrerOptions options = {});

}  // namespace tare
