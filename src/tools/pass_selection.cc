#include "tools/pass_selection.h"

#include "ir/status.h"
#include "passes/pass_list.h"

namespace tare {

absl::StatusOr<std::vector<Pass>> SelectPasses(Context& context, const std::vector<std::string>& names) {
  std::vector<Pass> passes;
  for (const std::string& name : names) {
    TARE_ASSIGN_OR_RETURN(Pass pass, MakePass(context, BuiltinPasses(), name));
    passes.push_back(std::move(pass));
  }
  return passes;
}

}  // namespace tare
