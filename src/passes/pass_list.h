// Which passes there are, by name. Third parties append rows of their own; nothing registers itself.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "passes/pass.h"

namespace tare {

// Options of one pass, as a pipeline file gives them.
using OptionValue = std::variant<bool, int64_t, double, std::string>;
using PassOptions = std::map<std::string, OptionValue>;

struct PassRow {
  std::string_view name;
  std::string_view doc;  // one line for `tare passes`
  // Looks up the ops it needs in `context`; one that is not there never matches. Errors: InvalidArgument
  // [pass_c2] for an option it does not know.
  absl::StatusOr<Pass> (*make)(Context& context, const PassOptions& options);
};

// The target-independent passes, by name.
std::span<const PassRow> BuiltinPasses();

// Errors: NotFound [pass_c1] naming those there are.
absl::StatusOr<Pass> MakePass(Context& context, std::span<const PassRow> rows, std::string_view name,
                              const PassOptions& options = {});

// For passes without options.
absl::Status RefuseOptions(std::string_view pass, const PassOptions& options);
// Of a pass whose one option is true or false: the given value, else false.
absl::StatusOr<bool> OnlyFlag(const PassOptions& options, std::string_view pass, std::string_view option);

// Ops by name, those that exist, for the targets of a pass; never empty.
std::vector<Op> FindOps(const Context& context, std::span<const std::string_view> names);

template <typename P>
absl::StatusOr<Pass> MakeRewrite(Context& context, const PassOptions& options) {
  auto pass = std::make_shared<const P>(context);
  absl::Status status = RefuseOptions(pass->name(), options);
  if (!status.ok()) return status;
  return Pass(std::shared_ptr<const RewritePass>(std::move(pass)));
}
template <typename P>
absl::StatusOr<Pass> MakeGraph(Context& context, const PassOptions& options) {
  auto pass = std::make_shared<const P>(context);
  absl::Status status = RefuseOptions(pass->name(), options);
  if (!status.ok()) return status;
  return Pass(std::shared_ptr<const GraphPass>(std::move(pass)));
}

}  // namespace tare
