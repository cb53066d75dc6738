#include "passes/pass_list.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/context.h"
#include "ir/status.h"
#include "passes/builtin_passes.h"

namespace tare {
namespace {

constexpr PassRow kBuiltinPasses[] = {
    {"cancel-qdq",
     "Drops a dequantize and the quantize after it, per tensor or channel, when their parameters are equal.",
     MakeCancelQdq},
    {"compose-permutes", "Joins permute, transpose, t and their copies: a permutation of a permutation becomes one.",
     MakeComposePermutes},
    {"compose-views", "Joins view, reshape, view_copy, _unsafe_view with the view, squeeze or flatten before it.",
     MakeComposeViews},
    {"dead-code", "Erases nodes of any op without users and effects, and weights and constants that nothing uses.",
     MakeDeadCode},
    {"decompose-linear", "Writes linear as matrix product, transposition and views, as PyTorch does.",
     MakeDecomposeLinear},
    {"fuse-batch-norm", "Folds a batch norm in inference into the weights of the convolution before it.",
     MakeFuseBatchNorm},
    {"remove-noops", "Removes clone, alias, detach, dropout in eval, views and casts that give what they are given.",
     MakeRemoveNoops},
    {"view-to-view-copy", "Turns views (permute, view, slice, …) into their copying twins, with storage of their own.",
     MakeViewToViewCopy},
};

}  // namespace

std::span<const PassRow> BuiltinPasses() { return kBuiltinPasses; }

absl::StatusOr<Pass> MakePass(Context& context, std::span<const PassRow> rows, std::string_view name,
                              const PassOptions& options) {
  for (const PassRow& row : rows)
    if (row.name == name) return row.make(context, options);
  std::vector<absl::string_view> names;
  for (const PassRow& row : rows) names.push_back(TextPiece(row.name));
  return CheckError(absl::StatusCode::kNotFound, "pass_c1",
                    absl::StrCat("unknown pass ", TextPiece(name), "; known are ", absl::StrJoin(names, ", ")));
}

absl::Status RefuseOptions(std::string_view pass, const PassOptions& options) {
  if (options.empty()) return absl::OkStatus();
  return InvalidError("pass_c2", "pass ", pass, " has no option ", options.begin()->first);
}

absl::StatusOr<bool> OnlyFlag(const PassOptions& options, std::string_view pass, std::string_view option) {
  bool flag = false;
  for (const auto& [name, value] : options) {
    const bool* given = std::get_if<bool>(&value);
    if (name != option || given == nullptr)
      return InvalidError("pass_c2", pass, " has one option, ", option, " = true or false, not ", name);
    flag = *given;
  }
  return flag;
}

std::vector<Op> FindOps(const Context& context, std::span<const std::string_view> names) {
  std::vector<Op> ops;
  for (const std::string_view name : names)
    if (const Op op = context.ops.Find(name); op.has_value()) ops.push_back(op);
  // A pass whose ops do not exist must not look like one that visits everything.
  if (ops.empty()) ops.push_back(Op{});
  return ops;
}

}  // namespace tare
