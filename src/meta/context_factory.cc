#include "meta/context_factory.h"

#include "meta/memo.h"
#include "meta/rule_set.h"

namespace tare {

std::unique_ptr<Context> MakeContext() {
  const BuiltinRows& rows = GeneratedRows();
  auto context = std::make_unique<Context>(rows.ops);
  context->rules = std::make_shared<RuleSet>(rows);
  context->memo = MakeMemo();
  return context;
}

}  // namespace tare
