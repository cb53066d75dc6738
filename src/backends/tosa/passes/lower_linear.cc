#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"
#include "passes/permutation.h"

namespace tare {
namespace {

constexpr std::string_view kLinears[] = {"aten.addmm.default", "aten.linear.default", "aten.mm.default"};

// x: […, K], weight: [N, K], or [K, N] when `transposed`.
struct Linear {
  Node x, weight, bias;
  bool transposed = false;
};

// Writes a product with a weight as a CONV2D with a kernel of one element.
//
//   %y = linear(%x, %weight, %bias)  =>  reshape(CONV2D(reshape(%x, [B,H,W,K]), reshape(%weight, [N,1,1,K]), %bias))
//
// Rows become width rather than batch: accelerators split batches, and an input of rank 4 keeps its shape.
// linear, and addmm or mm whose second factor is a permutation of something or a constant: what decompositions make
// of linear. Other products are matrix products of two activations.
class LowerLinear final : public TosaRewrite {
 public:
  explicit LowerLinear(const Context& context)
      : TosaRewrite("lower-linear", context, FindOps(context, kLinears)), permutes_(context) {}

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const std::optional<Linear> l = Match(node);
    if (!l.has_value() || !l->x.is_tensor() || !l->weight.is_tensor()) return absl::OkStatus();
    const Node arguments[] = {l->x, l->weight, l->bias};
    const std::optional<Site> site = SiteOf(qdq_, rw, node, arguments, SiteReach::kActivation);
    if (!site.has_value() || (site->quantised && !Fits(*l, *site))) return absl::OkStatus();
    Emitter emit(rw, ops_, node);
    Lower(emit, *l, *site, node);
    return emit.Finish();
  }

 private:
  std::optional<Linear> Match(Node node) const {
    if (node.arg("input").has_value()) return Linear{node.arg("input"), node.arg("weight"), node.arg("bias")};
    Linear l;
    const bool adds = node.arg("mat1").has_value();
    if (adds && (node.number("beta") != 1.0 || node.number("alpha") != 1.0)) return std::nullopt;
    l.x = node.arg(adds ? "mat1" : "self");
    if (adds) l.bias = node.arg("self");
    const Node second = node.arg("mat2");
    if (!l.x.has_value() || !second.has_value()) return std::nullopt;
    if (l.bias.has_value() && (!l.bias.is_tensor() || l.bias.tensor().shape.size() != 1)) return std::nullopt;
    const auto perms = PermutationOf(permutes_, second);
    if (perms.has_value() && perms->size() == 2 && (*perms)[0] == 1) {
      l.weight = second.arg("self");
      return l;
    }
    const Node source = qdq_.IsDequantize(second.op()) ? second.arg("input") : second;
    if (!source.has_value() || source.constant() == nullptr) return std::nullopt;
    l.weight = second;
    l.transposed = true;
    return l;
  }

  static bool Fits(const Linear& l, const Site& site) {
    const SiteInput &x = site.inputs[0], &weight = site.inputs[1], &bias = site.inputs[2];
    if (!x.q->per_tensor() || !site.outputs[0].q.has_value()) return false;
    if (bias.value.has_value() && bias.value.tensor().dtype != DType::kI32) return false;
    return weight.q->per_tensor() || weight.q->axis == (l.transposed ? 1 : 0);
  }

  // [B,H,W,K] of […,K]
  static std::vector<int64_t> Rank4(const std::vector<int64_t>& shape) {
    if (shape.size() == 4) return shape;
    const int64_t k = shape.back();
    if (shape.size() == 3) return {shape[0], 1, shape[1], k};
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
    return {1, 1, rows, k};
  }

  void Lower(Emitter& emit, const Linear& l, const Site& site, Node node) const {
    const Node x = site.inputs[0].value;
    std::vector<int64_t> out_shape = emit.ShapeOf(node), weight_shape = emit.ShapeOf(site.inputs[1].value);
    const std::vector<int64_t> x_shape = emit.ShapeOf(x);
    if (!emit.ok() || weight_shape.size() != 2 || x_shape.empty()) return;
    Node weight = site.inputs[1].value;
    if (l.transposed) {
      weight = emit.Transpose(weight, std::vector<int64_t>{1, 0});
      std::swap(weight_shape[0], weight_shape[1]);
    }
    const int64_t n = weight_shape[0], k = weight_shape[1];
    const Node x4 = emit.Reshape(x, Rank4(x_shape));
    const Node weight4 = emit.Reshape(weight, std::vector<int64_t>{n, 1, 1, k});
    const Node bias = BiasFor(emit, site, site.inputs[2], x, n);
    const Node sum = emit.Insert(ops_.conv2d, {{"input", x4},
                                               {"weight", weight4},
                                               {"bias", bias},
                                               {"stride", std::vector<int64_t>{1, 1}},
                                               {"pad", std::vector<int64_t>{0, 0, 0, 0}},
                                               {"dilation", std::vector<int64_t>{1, 1}}});
    if (!site.quantised) {
      emit.Replace(node, emit.Reshape(sum, out_shape));
      return;
    }
    const Affine &in = *site.inputs[0].q, &w = *site.inputs[1].q;
    const Affine* const quants[] = {&in, &w, nullptr};
    emit.Quantify(sum, quants, nullptr);
    FinishRescaled(
        emit, site, sum,
        [&](const Affine& to) {
          std::vector<double> scales;
          for (const double scale : w.scales) scales.push_back(in.scale() * scale / to.scale());
          return scales;
        },
        [&](Node value) { return emit.Reshape(value, out_shape); });
  }

  PermuteOps permutes_;
};

}  // namespace

absl::StatusOr<Pass> MakeLowerLinear(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerLinear>(context, options);
}

}  // namespace tare
