#include <algorithm>
#include <cmath>
#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

// How integers behind two scales are brought to int32 before the op, and what scale its result has.
enum class Scaling : uint8_t {
  kHeadroom,  // 2 * the larger scale, divided by 2^20 (8 bits) or 2^12 (16 bits): room for the sum
  kSmaller,   // the smaller of the scales
  kProduct,   // each keeps its own, the result has the product
  kNone,      // never on quantised values
};

struct ElementwiseRow {
  std::string_view aten;
  std::string_view tosa;
  Scaling scaling;
  bool swapped = false;             // operands in the other order
  bool negated = false;             // LOGICAL_NOT of the result
  std::string_view bool_tosa = "";  // for bool operands, when it is another one
};

constexpr ElementwiseRow kRows[] = {
    {"aten.__and__.Tensor", "BITWISE_AND", Scaling::kNone, false, false, "LOGICAL_AND"},
    {"aten.__or__.Tensor", "BITWISE_OR", Scaling::kNone, false, false, "LOGICAL_OR"},
    {"aten.abs.default", "ABS", Scaling::kSmaller},
    {"aten.add.Scalar", "ADD", Scaling::kHeadroom},
    {"aten.add.Tensor", "ADD", Scaling::kHeadroom},
    {"aten.bitwise_and.Scalar", "BITWISE_AND", Scaling::kNone, false, false, "LOGICAL_AND"},
    {"aten.bitwise_and.Tensor", "BITWISE_AND", Scaling::kNone, false, false, "LOGICAL_AND"},
    {"aten.bitwise_or.Scalar", "BITWISE_OR", Scaling::kNone, false, false, "LOGICAL_OR"},
    {"aten.bitwise_or.Tensor", "BITWISE_OR", Scaling::kNone, false, false, "LOGICAL_OR"},
    {"aten.bitwise_xor.Scalar", "BITWISE_XOR", Scaling::kNone, false, false, "LOGICAL_XOR"},
    {"aten.bitwise_xor.Tensor", "BITWISE_XOR", Scaling::kNone, false, false, "LOGICAL_XOR"},
    {"aten.clamp.Tensor", "MAXIMUM", Scaling::kSmaller},
    {"aten.eq.Scalar", "EQUAL", Scaling::kSmaller},
    {"aten.eq.Tensor", "EQUAL", Scaling::kSmaller},
    {"aten.ge.Scalar", "GREATER_EQUAL", Scaling::kSmaller},
    {"aten.ge.Tensor", "GREATER_EQUAL", Scaling::kSmaller},
    {"aten.gt.Scalar", "GREATER", Scaling::kSmaller},
    {"aten.gt.Tensor", "GREATER", Scaling::kSmaller},
    {"aten.le.Scalar", "GREATER_EQUAL", Scaling::kSmaller, true},
    {"aten.le.Tensor", "GREATER_EQUAL", Scaling::kSmaller, true},
    {"aten.logical_and.default", "LOGICAL_AND", Scaling::kNone},
    {"aten.logical_or.default", "LOGICAL_OR", Scaling::kNone},
    {"aten.logical_xor.default", "LOGICAL_XOR", Scaling::kNone},
    {"aten.lt.Scalar", "GREATER", Scaling::kSmaller, true},
    {"aten.lt.Tensor", "GREATER", Scaling::kSmaller, true},
    {"aten.maximum.default", "MAXIMUM", Scaling::kSmaller},
    {"aten.minimum.default", "MINIMUM", Scaling::kSmaller},
    {"aten.mul.Scalar", "MUL", Scaling::kProduct},
    {"aten.mul.Tensor", "MUL", Scaling::kProduct},
    {"aten.ne.Scalar", "EQUAL", Scaling::kSmaller, false, true},
    {"aten.ne.Tensor", "EQUAL", Scaling::kSmaller, false, true},
    {"aten.rsub.Scalar", "SUB", Scaling::kHeadroom, true},
    {"aten.sub.Scalar", "SUB", Scaling::kHeadroom},
    {"aten.sub.Tensor", "SUB", Scaling::kHeadroom},
};

struct ElementwiseLowering {
  Op op;
  ElementwiseRow row;
};

// Writes arithmetic and comparisons of one or two tensors.
//
//   %q = quantize(add(dequantize(%a), dequantize(%b)))  =>  rescale(ADD(rescale(%a), rescale(%b)))
//
// Integers are computed in int32 with a common scale and zero point 0; plain tensors as they are. Operands of lower
// rank get ones in front.
class LowerElementwise final : public TosaTableRewrite<ElementwiseLowering> {
 public:
  explicit LowerElementwise(const Context& context) : TosaTableRewrite("lower-elementwise", context) {
    for (const ElementwiseRow& row : kRows) {
      const Op from = context.ops.Find(row.aten), to = TosaOps::Find(context, row.tosa);
      if (to.has_value()) Add(from, {to, row});
    }
  }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    auto [op, row] = RowOf(node);
    if (node.number("alpha").value_or(1.0) != 1.0) return absl::OkStatus();
    std::vector<Node> arguments = {node.arg("self")};
    if (!arguments[0].has_value() || !arguments[0].is_tensor() || !node.is_tensor()) return absl::OkStatus();
    std::optional<double> number;
    if (row.aten == "aten.clamp.Tensor") {
      for (const std::string_view bound : {"min", "max"})
        if (node.arg(bound).has_value()) arguments.push_back(node.arg(bound));
      if (!node.arg("min").has_value()) op = ops_.minimum;
      if (arguments.size() < 2) return absl::OkStatus();
    } else if (op != ops_.abs) {
      number = node.number("other");
      if (const std::optional<bool> flag = node.flag("other"); !number.has_value() && flag.has_value())
        number = *flag ? 1 : 0;
      if (!number.has_value()) arguments.push_back(node.arg("other"));
    }
    for (const Node argument : arguments)
      if (!argument.has_value() || !argument.is_tensor()) return absl::OkStatus();
    if (!row.bool_tosa.empty() && arguments[0].tensor().dtype == DType::kBool)
      op = TosaOps::Find(rw.context(), row.bool_tosa);
    const std::optional<Site> site = SiteOf(qdq_, rw, node, arguments, SiteReach::kActivation);
    if (!site.has_value()) return absl::OkStatus();
    Emitter emit(rw, ops_, node);
    if (number.has_value()) {
      WithNumber(emit, op, row, *site, *number, node);
    } else {
      Lower(emit, op, row, *site, node);
    }
    return emit.Finish();
  }

 private:
  Node Apply(Emitter& emit, Op op, const ElementwiseRow& row, std::vector<Node> operands) const {
    if (!emit.ok()) return Node();
    if (operands.size() == 1) return emit.Insert(op, {{"input1", operands[0]}});
    if (operands.size() == 3) {  // a clamp
      const Node raised = emit.Insert(ops_.maximum, {{"input1", operands[0]}, {"input2", operands[1]}});
      return emit.Insert(ops_.minimum, {{"input1", raised}, {"input2", operands[2]}});
    }
    if (row.swapped) std::swap(operands[0], operands[1]);
    const Node made = emit.Insert(op, {{"input1", operands[0]}, {"input2", operands[1]}});
    return row.negated ? emit.Insert(ops_.logical_not, {{"input1", made}}) : made;
  }

  // The least code whose number is above `number`, or not below it where `at` says so; one past the last when none is.
  static int64_t CodeAbove(const Affine& q, double number, bool at) {
    const float limit = static_cast<float>(number);
    int64_t low = q.qmin, high = q.qmax + 1;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      const float real = static_cast<float>(DequantizeOne(q, middle));
      if (real > limit || (at && real >= limit)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  // Comparison of codes with that of a number between codes: greater than none but those above it.
  void CompareCodes(Emitter& emit, Op op, const ElementwiseRow& row, const Site& site, double number) const {
    const Affine& q = *site.inputs[0].q;
    if (!q.per_tensor() || BitsOf(q.storage) > 16)
      return emit.Refuse("tosa_lower_c5", "an operand is quantised per channel or in 32 bits");
    const int64_t above = CodeAbove(q, number, false), at = CodeAbove(q, number, true);
    int64_t code = 0;
    if (op == ops_.equal) {
      code = at < above ? at : q.qmax + 1;  // else none is equal
    } else {
      // q > n and q <= n ask for the last code that is not above; q >= n and q < n for the first that is not below.
      const bool not_above = (op == ops_.greater) != row.swapped;
      code = not_above ? above - 1 : at;
    }
    const double factor[] = {1.0};
    const Node x = emit.Rescale(site.inputs[0].value, DType::kI32, factor, q.zero_point(), 0);
    if (!emit.ok()) return;
    const Node other =
        emit.Scalar("number", DType::kI32, x.tensor().shape.size(), static_cast<double>(code - q.zero_point()));
    emit.Replace(site.outputs[0].node, Apply(emit, op, row, {x, other}));
  }

  // A number beside a plain tensor becomes a constant of its dtype.
  void WithNumber(Emitter& emit, Op op, const ElementwiseRow& row, const Site& site, double number, Node node) const {
    const Node x = site.inputs[0].value;
    if (site.quantised && node.tensor().dtype == DType::kBool) return CompareCodes(emit, op, row, site, number);
    if (site.quantised) return emit.Refuse("tosa_lower_c10", "a number beside a quantised value is not quantised");
    const bool compares = node.tensor().dtype == DType::kBool && x.tensor().dtype != DType::kBool;
    if (!compares && node.tensor().dtype != x.tensor().dtype)
      return emit.Refuse("tosa_lower_c4", "operands of different dtypes");
    if (!IsFloating(x.tensor().dtype) && number != std::floor(number))
      return emit.Refuse("tosa_lower_c4", "operands of different dtypes");
    const Node other = emit.Scalar("number", x.tensor().dtype, x.tensor().shape.size(), number);
    emit.Replace(node, Apply(emit, op, row, {x, other}));
  }

  void Lower(Emitter& emit, Op op, const ElementwiseRow& row, const Site& site, Node node) const {
    const size_t rank = node.tensor().shape.size();
    std::vector<Node> operands;
    for (const SiteInput& input : site.inputs) operands.push_back(emit.ToRank(input.value, rank));
    if (!emit.ok()) return;
    if (!site.quantised) {
      for (const Node operand : operands)
        if (operand.tensor().dtype != operands[0].tensor().dtype)
          return emit.Refuse("tosa_lower_c4", "operands of different dtypes");
      emit.Replace(node, Apply(emit, op, row, operands));
      return;
    }
    if (row.scaling == Scaling::kNone) return emit.Refuse("tosa_lower_c11", "no such op on quantised values");
    double common = 0, result = 1;
    if (!ArePerTensor(emit, site)) return;
    for (const SiteInput& input : site.inputs) {
      if (BitsOf(input.q->storage) > 16)
        return emit.Refuse("tosa_lower_c11", "arithmetic on codes of 32 bits may leave them");
      const double scale = input.q->scale();
      result *= scale;
      const bool first = &input == &site.inputs[0];
      common = first ? scale : row.scaling == Scaling::kHeadroom ? std::max(common, scale) : std::min(common, scale);
    }
    if (row.scaling == Scaling::kHeadroom)
      common = 2 * common / (site.inputs[0].q->storage == DType::kI16 ? 4096.0 : 1048576.0);
    if (row.scaling != Scaling::kProduct) result = common;
    for (size_t i = 0; i < operands.size(); ++i) {
      const Affine& q = *site.inputs[i].q;
      const double factor[] = {row.scaling == Scaling::kProduct ? 1.0 : q.scale() / common};
      if (i == 1 && site.inputs[0].value == site.inputs[1].value && q == *site.inputs[0].q) {
        operands[1] = operands[0];
        continue;
      }
      operands[i] = emit.Rescale(operands[i], DType::kI32, factor, q.zero_point(), 0);
    }
    const Node made = Apply(emit, op, row, operands);
    if (!emit.ok()) return;
    if (!site.outputs[0].q.has_value()) {  // a comparison
      emit.Replace(site.outputs[0].node, made);
      return;
    }
    FinishRescaled(
        emit, site, made, [&](const Affine& to) { return std::vector<double>{result / to.scale()}; },
        [](Node value) { return value; });
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerElementwise(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerElementwise>(context, options);
}

}  // namespace tare
