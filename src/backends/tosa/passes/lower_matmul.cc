#include <algorithm>
#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

constexpr std::string_view kProducts[] = {"aten.bmm.default", "aten.matmul.default", "aten.mm.default"};

// Writes a product of two activations as MATMUL; that of two matrices is a batch of one. For matmul, a vector is a
// matrix of one row or column, and the dims before the last two are broadcast.
//
//   %q = quantize(bmm(dequantize(%a), dequantize(%b)))  =>  rescale(MATMUL(%a, %b), a * b / q)
class LowerMatmul final : public TosaRewrite {
 public:
  explicit LowerMatmul(const Context& context) : TosaRewrite("lower-matmul", context, FindOps(context, kProducts)) {}

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node arguments[] = {node.arg("self"), node.arg(node.arg("mat2").has_value() ? "mat2" : "other")};
    if (!arguments[0].has_value() || !arguments[1].has_value()) return absl::OkStatus();
    const std::optional<Site> site = SiteOf(qdq_, rw, node, arguments, SiteReach::kActivation);
    if (!site.has_value()) return absl::OkStatus();
    Emitter emit(rw, ops_, node);
    const std::vector<int64_t> shape = emit.ShapeOf(node);
    Node left = site->inputs[0].value, right = site->inputs[1].value;
    ToBatches(emit, left, right);
    if (!emit.ok()) return emit.Finish();
    const bool wide = site->inputs[0].value.tensor().dtype == DType::kI16;  // sums of 48 bits
    const Node product =
        emit.Insert(ops_.matmul, {{"input1", left},
                                  {"input2", right},
                                  {"out_dtype", wide ? AttrValue::OfDType(DType::kI48) : AttrValue::None()}});
    if (!site->quantised) {
      // Sums of halves are wider.
      emit.Replace(node, emit.Reshape(emit.ok() ? emit.Cast(product, node.tensor().dtype) : product, shape));
      return emit.Finish();
    }
    const Affine &a = *site->inputs[0].q, &b = *site->inputs[1].q;
    if (!a.per_tensor() || !b.per_tensor() || !site->outputs[0].q.has_value()) return absl::OkStatus();
    const Affine* const quants[] = {&a, &b};
    emit.Quantify(product, quants, nullptr);
    FinishRescaled(
        emit, *site, product, [&](const Affine& to) { return std::vector<double>{a.scale() * b.scale() / to.scale()}; },
        [&](Node value) { return emit.Reshape(value, shape); });
    return emit.Finish();
  }

 private:
  // [batch, M, K] and [batch, K, N] with equal batches; rows of the left one stand for the batch when the right one
  // has none.
  void ToBatches(Emitter& emit, Node& left, Node& right) const {
    std::vector<int64_t> a = emit.ShapeOf(left), b = emit.ShapeOf(right);
    if (!emit.ok()) return;
    if (a.empty() || b.empty()) return emit.Refuse("tosa_lower_c3", "a product of scalars");
    if (a.size() == 1) a.insert(a.begin(), 1);
    if (b.size() == 1) b.push_back(1);
    const size_t rank = std::max(a.size(), b.size());
    a.insert(a.begin(), rank - a.size(), 1);
    b.insert(b.begin(), rank - b.size(), 1);
    const auto batch_of = [&](const std::vector<int64_t>& shape) {
      int64_t batch = 1;
      for (size_t i = 0; i + 2 < rank; ++i) batch *= shape[i];
      return batch;
    };
    const int64_t m = a[rank - 2], k = a[rank - 1], n = b[rank - 1];
    if (batch_of(b) == 1) {
      left = emit.Reshape(left, std::vector<int64_t>{1, batch_of(a) * m, k});
      right = emit.Reshape(right, std::vector<int64_t>{1, k, n});
      return;
    }
    std::vector<int64_t> times_a(rank, 1), times_b(rank, 1);
    for (size_t i = 0; i + 2 < rank; ++i) {
      if (a[i] == 1) times_a[i] = b[i];
      if (b[i] == 1) times_b[i] = a[i];
    }
    left = Tile(emit, emit.Reshape(left, a), times_a);
    right = Tile(emit, emit.Reshape(right, b), times_b);
    for (size_t i = 0; i < rank; ++i) a[i] *= times_a[i];
    left = emit.Reshape(left, std::vector<int64_t>{batch_of(a), m, k});
    right = emit.Reshape(right, std::vector<int64_t>{batch_of(a), k, n});
  }

  Node Tile(Emitter& emit, Node x, const std::vector<int64_t>& multiples) const {
    for (const int64_t times : multiples)
      if (times != 1) return emit.Insert(ops_.tile, {{"input1", x}, {"multiples", multiples}});
    return x;
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerMatmul(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerMatmul>(context, options);
}

}  // namespace tare
