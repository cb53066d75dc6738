#include <cmath>
#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/emitter.h"
#include "backends/tosa/rescales.h"
#include "backends/tosa/tosa_passes.h"

namespace tare {
namespace {

// Joins a RESCALE of a RESCALE.
//
//   RESCALE(RESCALE(%x : i32, i8, s), i32, t), s * t = 1  =>  %x
//
// Only per tensor and between equal zero points: what it drops is the rounding to 8 bits and back. Other pairs stay.
class FuseRescales final : public RewritePass {
 public:
  explicit FuseRescales(const Context& context) : ops_(context), targets_{ops_.rescale} {}
  std::string_view name() const override { return "fuse-rescales"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Rewrite(Node second, Rewriter& rw) const override {
    const Node first = second.arg("input1");
    if (first.op() != ops_.rescale || second.tensor().dtype != DType::kI32) return absl::OkStatus();
    const Node x = first.arg("input1");
    if (first.integer("out_zp") != second.integer("in_zp")) return absl::OkStatus();
    const std::vector<double> scales = ScalesOf(first);
    const std::vector<double> last = ScalesOf(second);
    if (scales.empty() || last.size() != 1) return absl::OkStatus();
    if (x.tensor().dtype != DType::kI32 || scales.size() != 1 || std::abs(scales[0] * last[0] - 1.0) >= 1e-6)
      return absl::OkStatus();
    if (first.integer("in_zp") != second.integer("out_zp")) return absl::OkStatus();
    return rw.ReplaceUses(second, x);
  }

 private:
  TosaOps ops_;
  std::vector<Op> targets_;
};

}  // namespace

absl::StatusOr<Pass> MakeFuseRescales(Context& context, const PassOptions& options) {
  return MakeRewrite<FuseRescales>(context, options);
}

}  // namespace tare
