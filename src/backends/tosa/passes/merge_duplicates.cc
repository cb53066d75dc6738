#include <tuple>

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
// Pure ops only and elements of their results, and only what no one may write. Small constants with equal elements are
// one, too.
class MergeDuplicates final : public GraphPass {
 public:
  explicit MergeDuplicates(const Context&) {}
  std::string_view name() const override { return "merge-duplicates"; }
  std::span<const Op> targets() const override { return {}; }

  absl::Status Run(Rewriter& rw) const override {
    if (absl::Status status = MergeConstants(rw); !status.ok()) return status;
    const OpTable& ops = rw.context().ops;
    absl::flat_hash_map<Key, NodeId> first;
    for (NodeId id = rw.graph().first(); id.has_value();) {
      const NodeDef def = rw.graph().Def(id);
      const NodeId here = id;
      id = rw.graph().next(id);
      const uint16_t traits = ops.Get(def.op).traits;
      const bool merges = (traits & kPure) != 0 &&
                          (traits & (kMutates | kView | kRandom | kMintsSymbols | kHigherOrder | kPseudo)) == 0;
      if (!merges && def.op != op::getitem) continue;
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

 private:
  static constexpr size_t kMaxBytes = 1024;  // of a constant that is compared: larger ones stay unread

  static absl::Status MergeConstants(Rewriter& rw) {
    absl::flat_hash_map<std::tuple<MetaId, QuantId, absl::string_view>, Node> first;
    const std::vector<NodeId> inputs(rw.graph().inputs().begin(), rw.graph().inputs().end());
    for (const NodeId id : inputs) {
      const Node node = rw.node(id);
      const Constant* constant = node.constant();
      if (constant == nullptr || constant->payload.missing || node.num_uses() == 0) continue;
      const std::span<const std::byte> bytes = constant->payload.bytes;
      if (bytes.size() > kMaxBytes || constant->meta != node.meta() || !constant->opaque_class.empty()) continue;
      const absl::string_view elements(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      const auto [it, is_new] = first.try_emplace({node.meta(), node.quant(), elements}, node);
      if (is_new || !rw.CanForwardCopy(node, it->second)) continue;
      if (absl::Status status = rw.ReplaceUses(node, it->second); !status.ok()) return status;
    }
    return absl::OkStatus();
  }
};

}  // namespace

absl::StatusOr<Pass> MakeMergeDuplicates(Context& context, const PassOptions& options) {
  return MakeGraph<MergeDuplicates>(context, options);
}

}  // namespace tare
