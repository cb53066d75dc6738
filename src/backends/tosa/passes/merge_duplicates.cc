#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "backends/tosa/tosa_passes.h"
#include "ir/context.h"

namespace tare {
namespace {

// What makes two nodes one.
struct Key {
  Op op;
  AttrsId attrs;
  QuantId quant;
  std::vector<NodeId> operands;
  friend bool operator==(const Key&, const Key&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Key& key) {
    return H::combine(std::move(h), key.op, key.attrs, key.quant, key.operands);
  }
};

// Merges nodes with the same op, arguments and quantisation; the first one stays.
//
//   %a = RESCALE(%x, …);  %b = RESCALE(%x, …);  use(%b)   =>   use(%a)
//
// Pure ops only, and only results that no one may write.
class MergeDuplicates final : public GraphPass {
 public:
  explicit MergeDuplicates(const Context&) {}
  std::string_view name() const override { return "merge-duplicates"; }
  std::span<const Op> targets() const override { return {}; }

  absl::Status Run(Rewriter& rw) const override {
    const OpTable& ops = rw.context().ops;
    absl::flat_hash_map<Key, NodeId> first;
    for (NodeId id = rw.graph().first(); id.has_value();) {
      const NodeDef def = rw.graph().Def(id);
      const NodeId here = id;
      id = rw.graph().next(id);
      const uint16_t traits = ops.Get(def.op).traits;
      if ((traits & kPure) == 0 ||
          (traits & (kMutates | kView | kRandom | kMintsSymbols | kHigherOrder | kPseudo)) != 0)
        continue;
      Key key{def.op, def.attrs, def.quant, {def.operands.begin(), def.operands.end()}};
      const auto [it, is_new] = first.try_emplace(std::move(key), here);
      if (is_new) continue;
      const Node duplicate = rw.node(here), original = rw.node(it->second);
      if (!rw.CanForwardCopy(duplicate, original)) continue;
      absl::Status status = rw.ReplaceUses(duplicate, original);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
};

}  // namespace

absl::StatusOr<Pass> MakeMergeDuplicates(Context& context, const PassOptions& options) {
  return MakeGraph<MergeDuplicates>(context, options);
}

}  // namespace tare
