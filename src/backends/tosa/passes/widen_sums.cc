#include <algorithm>
#include <memory>
#include <vector>

#include "backends/tosa/constants.h"
#include "backends/tosa/rescales.h"
#include "backends/tosa/tosa_ops.h"
#include "backends/tosa/tosa_passes.h"
#include "ir/status.h"

namespace tare {
namespace {

constexpr std::string_view kConvolutions[] = {
    "tosa.CONV2D.default",
    "tosa.CONV3D.default",
    "tosa.DEPTHWISE_CONV2D.default",
    "tosa.TRANSPOSE_CONV2D.default",
};

// Takes arithmetic on the result of a convolution of 16 bits from its 48-bit sum, rather than from the 16 bits that it
// is rounded to.
//
//   RESCALE(RESCALE(CONV2D(…), i16, [s…]), i32, t)                =>  RESCALE(CONV2D(…), i32, [s * t …])
//   RESCALE(TRANSPOSE(RESCALE(CONV2D(…), i16, [s…]), p), i32, t)  =>  TRANSPOSE(RESCALE(CONV2D(…), i32, [s * t …]), p)
//
// As ExecuTorch does it: not through reshapes, as those around linear and 1-d convolutions. With `shared`, also where
// something else uses the 16 bits; accelerators keep a sum for one user only.
class WidenSums final : public RewritePass {
 public:
  WidenSums(const Context& context, bool shared)
      : ops_(context), convolutions_(FindOps(context, kConvolutions)), targets_{ops_.rescale}, shared_(shared) {}
  std::string_view name() const override { return shared_ ? "widen-sums(shared=true)" : "widen-sums"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Rewrite(Node second, Rewriter& rw) const override {
    if (!second.is_tensor() || second.tensor().dtype != DType::kI32) return absl::OkStatus();
    const Node inner = second.arg("input1");
    const bool moved = inner.op() == ops_.transpose;
    const Node first = moved ? inner.arg("input") : inner;
    if (first.op() != ops_.rescale || first.tensor().dtype != DType::kI16) return absl::OkStatus();
    const Node sum = first.arg("input1");
    if (sum.tensor().dtype != DType::kI48 || !IsConvolution(sum)) return absl::OkStatus();
    if (first.integer("out_zp") != second.integer("in_zp")) return absl::OkStatus();
    if (!shared_ && (first.num_uses() != 1 || inner.num_uses() != 1)) return absl::OkStatus();
    const std::vector<double> scales = ScalesOf(first), last = ScalesOf(second);
    if (scales.empty() || last.size() != 1) return absl::OkStatus();
    std::vector<AttrValue> joined;
    for (const double scale : scales) joined.push_back(AttrValue::Float(scale * last[0]));
    if (!moved) return rw.Amend(second, {{"input1", sum}, {"scale", AttrValue::List(joined)}, {"in_zp", 0}});
    TARE_ASSIGN_OR_RETURN(const Node wide, rw.InsertBefore(second, ops_.rescale,
                                                           {{"input1", sum},
                                                            {"dtype", AttrValue::OfDType(DType::kI32)},
                                                            {"scale", AttrValue::List(joined)},
                                                            {"in_zp", first.integer("in_zp").value_or(0)},
                                                            {"out_zp", second.integer("out_zp").value_or(0)}},
                                                           second.name()));
    return rw.Redefine(second, ops_.transpose, {{"input", wide}, {"perms", inner.ints("perms")}});
  }

 private:
  bool IsConvolution(Node node) const {
    return std::find(convolutions_.begin(), convolutions_.end(), node.op()) != convolutions_.end();
  }

  TosaOps ops_;
  std::vector<Op> convolutions_, targets_;
  bool shared_;
};

}  // namespace

absl::StatusOr<Pass> MakeWidenSums(Context& context, const PassOptions& options) {
  TARE_ASSIGN_OR_RETURN(const bool shared, OnlyFlag(options, "widen-sums", "shared"));
  return Pass(std::shared_ptr<const RewritePass>(std::make_shared<const WidenSums>(context, shared)));
}

}  // namespace tare
