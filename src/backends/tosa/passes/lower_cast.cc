#include <optional>

#include "backends/tosa/affine.h"
#include "backends/tosa/constants.h"
#include "backends/tosa/math.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

constexpr std::string_view kCasts[] = {
    "aten._to_copy.default",
    "aten.to.device",
    "aten.to.dtype",
    "aten.to.dtype_layout",
    "aten.to.other",
    "aten.type_as.default",
    "dim_order_ops._to_dim_order_copy.default",
};

// Writes conversions between dtypes as CAST, where TOSA's agree with ATen's.
//
//   to(%x : f32, i32)   =>  CAST(SELECT(GREATER(0, %x), CEIL(%x), FLOOR(%x)))       ATen cuts off, CAST rounds
//   to(%m : bool, f32)  =>  SELECT(%m, 1, 0)
//   to(%x : f32, bool)  =>  LOGICAL_NOT(EQUAL(%x, 0))
//
//   to(dequantize(%x), bool)  =>  LOGICAL_NOT(EQUAL(RESCALE(%x), 0))                 without its zero point
//
//   quantize(to(%x : i32, f32))  =>  RESCALE(%x, 1 / scale)     quantize(to(%m : bool, f32))  =>  SELECT(%m, 1, 0)
//
// A conversion to the dtype that is there already goes away. 64-bit integers stay.
class LowerCast final : public TosaRewrite {
 public:
  explicit LowerCast(const Context& context) : TosaRewrite("lower-cast", context, FindOps(context, kCasts)) {}

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node x = node.arg("self");
    if (!x.has_value() || !x.is_tensor() || !node.is_tensor() || rw.StorageOf(node).mutated) return absl::OkStatus();
    if (!StaticShape(x.tensor()).has_value()) return absl::OkStatus();
    const DType from = x.tensor().dtype, to = node.tensor().dtype;
    // Strides that an op reads as they are stay what they were.
    if (from == to && x.meta() != node.meta() && rw.StorageOf(node).restrided) return absl::OkStatus();
    if (from == to) return rw.ReplaceUses(node, x);
    if (from == DType::kI64 || to == DType::kI64) return absl::OkStatus();
    Emitter emit(rw, ops_, node);
    TensorMath math(emit);
    if (IsFloating(to) && !IsFloating(from)) {
      for (const Node user : node.users())
        if (qdq_.IsQuantize(user.op())) TARE_RETURN_IF_ERROR(Quantize(node, user, rw));
      if (node.num_uses() == 0) return absl::OkStatus();
    }
    if (qdq_.IsDequantize(x.op())) {
      const std::optional<Affine> q = qdq_.Read(rw.context(), x);
      if (to != DType::kBool || !q.has_value() || !q->per_tensor() || BitsOf(q->storage) > 16) return absl::OkStatus();
      const double factor[] = {1.0};
      const Node code = emit.Rescale(x.arg("input"), DType::kI32, factor, q->zero_point(), 0);
      const Node other = math.Not(math.Equal(code, 0));
      if (emit.ok()) emit.Replace(node, other);
      return emit.Finish();
    }
    const Node value = math.Convert(x, to);
    if (emit.ok()) emit.Replace(node, value);
    return emit.Finish();
  }

 private:
  // Codes of integers or bools, without the floats between. They come of the cast, so that it stays where they may not.
  absl::Status Quantize(Node cast, Node quantize, Rewriter& rw) const {
    const Node x = cast.arg("self");
    const std::optional<Affine> q = qdq_.Read(rw.context(), quantize);
    const DType from = x.tensor().dtype;
    const bool takes = from == DType::kBool || from == DType::kI8 || from == DType::kI16 || from == DType::kI32;
    if (!takes || !q.has_value() || !q->per_tensor()) return absl::OkStatus();
    Emitter emit(rw, ops_, cast);
    Node codes;
    if (from == DType::kBool) {
      TensorMath math(emit);
      const auto code = [&](double real) {
        return emit.Scalar("code", q->storage, x.tensor().shape.size(), static_cast<double>(QuantizeOne(*q, real)));
      };
      const Node one = code(1), zero = code(0);
      codes = math.Select(x, one, zero);
      emit.Quantify(codes, {}, &*q);
    } else {
      const double factor[] = {1 / q->scale()};
      codes = emit.RescaleTo(x, factor, 0, *q);
      // Of a smaller range than the dtype's what lies beyond is cut off.
      const auto [low, high] = RangeOf(q->storage);
      if (q->qmin > low || q->qmax < high) codes = emit.Clamp(codes, q->qmin, q->qmax);
    }
    if (emit.ok()) emit.Replace(quantize, codes);
    return emit.Finish();
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerCast(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerCast>(context, options);
}

}  // namespace tare
