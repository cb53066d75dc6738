#include <cmath>
#include <optional>

#include "backends/tosa/affine.h"
#include "backends/tosa/constants.h"
#include "backends/tosa/math.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

constexpr std::string_view kDivides[] = {"aten.div.Scalar", "aten.div.Tensor"};

// Writes quotients of floats as products.
//
//   div(%a, %b)  =>  MUL(%a, RECIPROCAL(%b))        div(%a, 8)  =>  MUL(%a, 0.125)
//
// The reciprocal of a constant is computed ahead of time. A result may differ from ATen's in the last bit.
class LowerDivide final : public TosaRewrite {
 public:
  explicit LowerDivide(const Context& context) : TosaRewrite("lower-divide", context, FindOps(context, kDivides)) {}

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node x = node.arg("self"), divisor = node.arg("other");
    const std::optional<double> number = node.number("other");
    if (!x.has_value() || !x.is_tensor() || !IsFloating(x.tensor().dtype) || qdq_.IsDequantize(x.op()) ||
        x.tensor().dtype != node.tensor().dtype || rw.StorageOf(node).mutated)
      return absl::OkStatus();
    Emitter emit(rw, ops_, node);
    TensorMath math(emit);
    if (number.has_value()) {
      if (*number == 0) return absl::OkStatus();
      emit.Replace(node, math.Mul(x, 1 / *number));
      return emit.Finish();
    }
    if (!divisor.has_value() || !divisor.is_tensor() || divisor.tensor().dtype != x.tensor().dtype ||
        qdq_.IsDequantize(divisor.op()))
      return absl::OkStatus();
    const Node product = math.Mul(x, math.Unary("RECIPROCAL", divisor));
    if (emit.ok()) emit.Replace(node, product);
    return emit.Finish();
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerDivide(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerDivide>(context, options);
}

}  // namespace tare
