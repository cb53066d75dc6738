#include <algorithm>
#include <optional>

#include "backends/tosa/affine.h"
#include "backends/tosa/math.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

// Writes the conversions that are left between codes and floats within a program of both, for profiles that have both.
//
//   dequantize(%x, s, z)         =>  MUL(SUB(CAST(%x, f32), z), s)
//   quantize(%y, s, z, [a, b])   =>  CAST(ADD(CAST(CAST(CLAMP(MUL(%y, 1 / s), a - z, b - z), i32), f32), z), i8)
//
// CAST rounds half to even, as quantize does. Conversions at the edge of the program stay, which the boundary takes
// over, and those around ops that stay outside: codes are a quarter of the bytes.
class LowerQuantization final : public TosaRewrite {
 public:
  explicit LowerQuantization(const Context& context) : TosaRewrite("lower-quantization", context) {
    targets_ = qdq_.quantize;
    targets_.insert(targets_.end(), qdq_.dequantize.begin(), qdq_.dequantize.end());
  }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node x = node.arg("input");
    const std::optional<Affine> affine = qdq_.Read(rw.context(), node);
    if (!affine.has_value() || !x.has_value() || !x.is_tensor() || !node.is_tensor()) return absl::OkStatus();
    const bool quantizes = qdq_.IsQuantize(node.op());
    if (quantizes ? !IsComputed(rw, x) : !HasTosaUser(rw, node)) return absl::OkStatus();
    Emitter emit(rw, ops_, node);
    const Node value = quantizes ? Codes(emit, x, *affine) : Reals(emit, x, *affine, node.tensor().dtype);
    if (emit.ok()) emit.Replace(node, value);
    return emit.Finish();
  }

 private:
  // By TOSA, or an input that is not only quantised and in one way.
  bool IsComputed(Rewriter& rw, Node x) const {
    if (x.op() != op::placeholder) return IsTosa(rw.context(), x.op());
    std::optional<Affine> first;
    for (const Node user : x.users()) {
      const std::optional<Affine> own =
          qdq_.IsQuantize(user.op()) ? qdq_.Read(rw.context(), user) : std::optional<Affine>();
      if (!own.has_value() || (first.has_value() && *own != *first)) return true;
      first = own;
    }
    return false;
  }

  static bool HasTosaUser(Rewriter& rw, Node node) {
    const std::vector<Node> users = node.users();
    return std::any_of(users.begin(), users.end(), [&](Node user) { return IsTosa(rw.context(), user.op()); });
  }

  // Along the axis of the channels, or of one element.
  template <typename T>
  static Node Parameter(Emitter& emit, Node like, const Affine& affine, const std::vector<T>& values) {
    std::vector<int64_t> shape(like.tensor().shape.size(), 1);
    if (!affine.per_tensor()) shape[static_cast<size_t>(affine.axis)] = static_cast<int64_t>(values.size());
    return emit.Floats("parameter", DType::kF32, shape, std::vector<float>(values.begin(), values.end()));
  }

  static Node Reals(Emitter& emit, Node x, const Affine& affine, DType dtype) {
    TensorMath m(emit);
    Node value = m.Convert(x, DType::kF32);
    const bool centred =
        std::all_of(affine.zero_points.begin(), affine.zero_points.end(), [](int64_t z) { return z == 0; });
    if (emit.ok() && !centred) value = m.Sub(value, Parameter(emit, x, affine, affine.zero_points));
    if (emit.ok()) value = m.Mul(value, Parameter(emit, x, affine, affine.scales));
    return emit.ok() ? m.Convert(value, dtype) : Node();
  }

  static Node Codes(Emitter& emit, Node x, const Affine& affine) {
    if (!affine.per_tensor() || BitsOf(affine.storage) > 16)
      emit.Refuse("tosa_lower_c9", "it computes codes of more than 16 bits or with a scale for each channel");
    TensorMath m(emit);
    const auto zero = static_cast<double>(affine.zero_point());
    Node value = m.Convert(x, DType::kF32);
    if (!emit.ok()) return Node();
    value = m.Mul(value, static_cast<float>(1.0 / affine.scale()));
    value = m.Clamp(value, static_cast<double>(affine.qmin) - zero, static_cast<double>(affine.qmax) - zero);
    if (zero != 0) {
      const Node rounded = emit.Cast(emit.Cast(value, DType::kI32), DType::kF32);
      if (!emit.ok()) return Node();
      value = m.Add(rounded, zero);
    }
    const Node codes = emit.Cast(value, affine.storage);
    if (emit.ok()) emit.Quantify(codes, {}, &affine);
    return codes;
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerQuantization(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerQuantization>(context, options);
}

}  // namespace tare
