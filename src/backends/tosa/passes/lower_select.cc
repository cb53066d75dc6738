#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/math.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

constexpr std::string_view kSelects[] = {
    "aten.masked_fill.Scalar", "aten.masked_fill.Tensor", "aten.where.Scalar",
    "aten.where.ScalarOther",  "aten.where.ScalarSelf",   "aten.where.self",
};

// One of the two values: a tensor, or a number.
struct Choice {
  Node tensor;
  double number = 0;
};

// Writes where and masked_fill as SELECT.
//
//   where(%c, %a, %b)  =>  SELECT(%c, %a, %b)        masked_fill(%x, %m, 2)  =>  SELECT(%m, 2, %x)
//
// Integers with other parameters than the result are rescaled first; numbers are quantised.
class LowerSelect final : public TosaRewrite {
 public:
  explicit LowerSelect(const Context& context) : TosaRewrite("lower-select", context, FindOps(context, kSelects)) {}

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const bool fills = node.arg("mask").has_value();
    const Node condition = node.arg(fills ? "mask" : "condition");
    if (!condition.has_value() || !condition.is_tensor() || condition.tensor().dtype != DType::kBool)
      return absl::OkStatus();
    Choice choices[2];
    const std::string_view names[2] = {fills ? "value" : "self", fills ? "self" : "other"};
    std::vector<Node> arguments;
    for (int i = 0; i < 2; ++i) {
      choices[i].tensor = node.arg(names[i]);
      const std::optional<double> number = node.number(names[i]);
      if (!choices[i].tensor.has_value() && !number.has_value()) return absl::OkStatus();
      choices[i].number = number.value_or(0);
      if (choices[i].tensor.has_value()) arguments.push_back(choices[i].tensor);
    }
    const std::optional<Site> site = SiteOf(qdq_, rw, node, arguments);
    if (!site.has_value()) return absl::OkStatus();
    Emitter emit(rw, ops_, node);
    TensorMath math(emit);
    for (const SiteOutput& output : site->outputs) {
      Node values[2];
      size_t next = 0;
      for (int i = 0; i < 2; ++i) values[i] = Value(emit, choices[i], *site, next, output, node);
      const Node chosen = math.Select(condition, values[0], values[1]);
      if (!emit.ok()) break;
      if (output.q.has_value()) emit.Quantify(chosen, {}, &*output.q);
      emit.Replace(output.node, chosen);
    }
    return emit.Finish();
  }

 private:
  Node Value(Emitter& emit, const Choice& choice, const Site& site, size_t& next, const SiteOutput& output,
             Node node) const {
    if (!choice.tensor.has_value()) {
      const DType dtype = output.q.has_value() ? output.q->storage : node.tensor().dtype;
      const double number =
          output.q.has_value() ? static_cast<double>(QuantizeOne(*output.q, choice.number)) : choice.number;
      return emit.Scalar("number", dtype, node.tensor().shape.size(), number);
    }
    const SiteInput& input = site.inputs[next++];
    if (!site.quantised) {
      if (input.value.tensor().dtype != node.tensor().dtype)
        emit.Refuse("tosa_lower_c4", "operands of different dtypes");
      return input.value;
    }
    if (!input.q.has_value() || !input.q->per_tensor()) {
      emit.Refuse("tosa_lower_c5", "an operand is not quantised per tensor");
      return Node();
    }
    if (!output.q.has_value() || input.q->SameScale(*output.q)) return input.value;
    const double factor[] = {input.q->scale() / output.q->scale()};
    return emit.RescaleTo(input.value, factor, input.q->zero_point(), *output.q);
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerSelect(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerSelect>(context, options);
}

}  // namespace tare
