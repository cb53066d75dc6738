#include <cstring>
#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/layout.h"
#include "backends/tosa/tosa_ops.h"
#include "backends/tosa/tosa_passes.h"

namespace tare {
namespace {

constexpr int64_t kMaxFoldedBytes = int64_t{1} << 31;

// Elements of a row-major tensor that a result takes, in the result's order.
struct Gather {
  std::vector<int64_t> shape;    // of the result
  std::vector<int64_t> strides;  // of the source per result axis
  int64_t offset = 0;
};

std::vector<int64_t> RowMajor(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

template <size_t kBytes>
void Copy(const Gather& gather, size_t bytes, const std::byte* from, std::vector<std::byte>& to) {
  const size_t size = kBytes == 0 ? bytes : kBytes, rank = gather.shape.size();
  std::vector<int64_t> index(rank, 0);
  int64_t at = gather.offset;
  const int64_t inner = rank == 0 ? 1 : gather.shape[rank - 1], step = rank == 0 ? 0 : gather.strides[rank - 1];
  for (size_t out = 0; out < to.size();) {
    for (int64_t i = 0; i < inner; ++i, out += size)
      std::memcpy(to.data() + out, from + (at + i * step) * static_cast<int64_t>(size), size);
    for (size_t axis = rank == 0 ? 0 : rank - 1; axis-- > 0;) {
      at += gather.strides[axis];
      if (++index[axis] < gather.shape[axis]) break;
      at -= gather.strides[axis] * gather.shape[axis];
      index[axis] = 0;
    }
  }
}

// Moves the elements of constants ahead of time.
//
//   TRANSPOSE(%weight, [0, 2, 3, 1])   =>   a constant
//
// RESHAPE, TRANSPOSE, SLICE, REVERSE; the old constant stays for its other users.
class FoldConstants final : public RewritePass {
 public:
  explicit FoldConstants(const Context& context)
      : ops_(context), targets_{ops_.reshape, ops_.transpose, ops_.slice, ops_.reverse} {}
  std::string_view name() const override { return "fold-constants"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const bool named = node.op() == ops_.reshape || node.op() == ops_.slice;
    const Node x = node.arg(named ? "input1" : node.op() == ops_.reverse ? "input1" : "input");
    if (!x.has_value() || x.op() != op::placeholder) return absl::OkStatus();
    const Constant* constant = x.constant();
    if (constant == nullptr || constant->payload.missing) return absl::OkStatus();
    const auto shape = StaticShape(x.tensor()), result = StaticShape(node.tensor());
    const int64_t bytes = StoredBytesOf(node.tensor().dtype);
    if (!shape.has_value() || !result.has_value() || bytes == 0) return absl::OkStatus();
    const std::optional<int64_t> count = ElementCount(node.tensor());
    if (!count.has_value() || *count > kMaxFoldedBytes / bytes) return absl::OkStatus();
    std::optional<std::vector<std::byte>> dense = DenseBytes(rw.context(), *constant);
    if (!dense.has_value()) return absl::OkStatus();

    Gather gather{*result, RowMajor(*shape)};
    if (node.op() == ops_.reshape) {
      gather.strides = RowMajor(*result);
    } else if (node.op() == ops_.transpose) {
      const std::vector<int64_t> perms = node.ints("perms"), strides = gather.strides;
      for (size_t i = 0; i < perms.size(); ++i) gather.strides[i] = strides[perms[i]];
    } else if (node.op() == ops_.slice) {
      if (!node.has_constant_ints("start")) return absl::OkStatus();
      const std::vector<int64_t> start = node.ints("start");
      for (size_t i = 0; i < start.size(); ++i) gather.offset += start[i] * gather.strides[i];
    } else {
      const int64_t axis = node.integer("axis").value_or(0);
      gather.offset = ((*shape)[axis] - 1) * gather.strides[axis];
      gather.strides[axis] = -gather.strides[axis];
    }
    std::vector<std::byte> moved;
    if (node.op() == ops_.reshape) {
      moved = *std::move(dense);
    } else {
      moved.resize(static_cast<size_t>(*count * bytes));
      if (bytes == 1) {
        Copy<1>(gather, 1, dense->data(), moved);
      } else if (bytes == 4) {
        Copy<4>(gather, 4, dense->data(), moved);
      } else {
        Copy<0>(gather, static_cast<size_t>(bytes), dense->data(), moved);
      }
    }
    const std::string name(constant->name);
    absl::StatusOr<Node> folded =
        rw.AddConstant(name, DenseMeta(rw.context(), node.tensor().dtype, *result), std::move(moved));
    if (!folded.ok()) return folded.status();
    return rw.ReplaceUses(node, *folded);
  }

 private:
  TosaOps ops_;
  std::vector<Op> targets_;
};

}  // namespace

absl::StatusOr<Pass> MakeFoldConstants(Context& context, const PassOptions& options) {
  return MakeRewrite<FoldConstants>(context, options);
}

}  // namespace tare
