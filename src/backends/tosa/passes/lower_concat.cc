#include <algorithm>
#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

constexpr std::string_view kConcats[] = {"aten.cat.default", "aten.concat.default", "aten.stack.default"};

// Writes cat and stack as CONCAT. Parts of another dtype are cast. Parts with other parameters than the result are
// rescaled first, or once behind it when all have the same; empty parts go.
class LowerConcat final : public TosaRewrite {
 public:
  explicit LowerConcat(const Context& context) : TosaRewrite("lower-concat", context, FindOps(context, kConcats)) {}

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const std::vector<Node> parts = node.arg_list("tensors");
    const DType dtype = node.tensor().dtype;
    bool mixed = false;
    for (const Node part : parts) {
      if (!part.has_value() || !part.is_tensor()) return absl::OkStatus();
      mixed = mixed || part.tensor().dtype != dtype;
    }
    const std::optional<Site> site = SiteOf(qdq_, rw, node, parts);
    if (!site.has_value() || parts.empty() || (mixed && site->quantised)) return absl::OkStatus();
    const bool stacks = rw.context().ops.Name(node.op()) == "aten.stack.default";
    Emitter emit(rw, ops_, node);
    const std::vector<int64_t> out = emit.ShapeOf(node);
    int64_t axis = node.integer("dim").value_or(0);
    if (axis < 0) axis += static_cast<int64_t>(out.size());
    // Parts that share their scale are rescaled as one.
    const SiteInput& one = site->inputs[0];
    const bool shared = site->quantised && one.q.has_value() && one.q->per_tensor() &&
                        std::all_of(site->inputs.begin(), site->inputs.end(), [&](const SiteInput& input) {
                          return input.q.has_value() && input.q->SameScale(*one.q);
                        });
    for (const SiteOutput& output : site->outputs) {
      std::vector<Node> values;
      for (const SiteInput& input : site->inputs) {
        std::vector<int64_t> shape = emit.ShapeOf(input.value);
        if (!emit.ok()) return emit.Finish();
        if (!stacks && shape.size() != out.size()) continue;  // the empty list torch skips
        if (!stacks && shape[static_cast<size_t>(axis)] == 0) continue;
        if (stacks) shape.insert(shape.begin() + axis, 1);
        Node value = mixed ? emit.Cast(input.value, dtype) : input.value;
        if (site->quantised && !input.q.has_value()) {
          emit.Refuse("tosa_lower_c4", "an operand beside quantised values is not quantised");
          return emit.Finish();
        }
        if (site->quantised && !shared && !input.q->SameScale(*output.q)) {
          if (!input.q->per_tensor()) emit.Refuse("tosa_lower_c5", "an operand is quantised per channel");
          const double factor[] = {input.q->scale() / output.q->scale()};
          value = emit.RescaleTo(value, factor, input.q->zero_point(), *output.q);
        }
        values.push_back(emit.Reshape(value, shape));
      }
      if (values.empty()) return emit.Finish();
      Node joined = emit.Concat(values, axis);
      if (values.size() > 1 && output.q.has_value()) emit.Quantify(joined, {}, shared ? &*one.q : &*output.q);
      if (shared && !one.q->SameScale(*output.q)) {
        const double factor[] = {one.q->scale() / output.q->scale()};
        joined = emit.RescaleTo(joined, factor, one.q->zero_point(), *output.q);
      }
      emit.Replace(output.node, joined);
    }
    return emit.Finish();
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerConcat(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerConcat>(context, options);
}

}  // namespace tare
