#include <algorithm>
#include <cmath>
#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

constexpr std::string_view kProducts[] = {"aten.addmm.default", "aten.baddbmm.default", "aten.bmm.default",
                                          "aten.matmul.default", "aten.mm.default"};

// beta * self + alpha * product; beta is 0 where there is no self.
struct Factors {
  double alpha = 1, beta = 0;
};

// Writes a product of two activations as MATMUL; that of two matrices is a batch of one. For matmul, a vector is a
// matrix of one row or column, and the dims before the last two are broadcast.
//
//   %q = quantize(bmm(dequantize(%a), dequantize(%b)))  =>  rescale(MATMUL(%a, %b), a * b / q)
//
// What is added to a product of quantised values is brought into one scale with it; of plain tensors a formula takes
// it.
class LowerMatmul final : public TosaRewrite {
 public:
  explicit LowerMatmul(const Context& context) : TosaRewrite("lower-matmul", context, FindOps(context, kProducts)) {}

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const std::string_view name = rw.context().ops.Name(node.op());
    const bool adds = name == "aten.baddbmm.default" || name == "aten.addmm.default";
    std::vector<Node> arguments;
    for (const std::string_view argument : {"mat1", "batch1", "self"})
      if (arguments.empty() && node.arg(argument).has_value()) arguments.push_back(node.arg(argument));
    for (const std::string_view argument : {"mat2", "batch2", "other"})
      if (arguments.size() == 1 && node.arg(argument).has_value()) arguments.push_back(node.arg(argument));
    if (arguments.size() != 2) return absl::OkStatus();
    Factors factors;
    if (adds) {
      factors = {node.number("alpha").value_or(0), node.number("beta").value_or(0)};
      if (factors.alpha == 0) return absl::OkStatus();
      if (factors.beta != 0) arguments.push_back(node.arg("self"));
    }
    const std::optional<Site> site = SiteOf(qdq_, rw, node, arguments, SiteReach::kActivation);
    if (!site.has_value() || (adds && !site->quantised)) return absl::OkStatus();
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
    Node sum = product;
    double scale = a.scale() * b.scale() * factors.alpha;
    if (factors.beta != 0) {
      sum = Sum(emit, *site, product, shape, factors, scale);
    } else if (scale < 0) {
      emit.Refuse("tosa_lower_c3", "a product times a negative number");
    }
    FinishRescaled(
        emit, *site, sum, [&](const Affine& to) { return std::vector<double>{scale / to.scale()}; },
        [&](Node value) { return emit.Reshape(value, shape); });
    return emit.Finish();
  }

 private:
  // The product, whose integers stand for multiples of `scale`, and what is added to it in i32; `scale` becomes that
  // of the sum, which stays below 2^30.
  Node Sum(Emitter& emit, const Site& site, Node product, std::span<const int64_t> shape, const Factors& factors,
           double& scale) const {
    const SiteInput &added = site.inputs[2], &left = site.inputs[0], &right = site.inputs[1];
    if (!emit.ok()) return Node();
    if (!added.value.has_value() || !added.q.has_value() || !added.q->per_tensor() || BitsOf(added.q->storage) > 16) {
      emit.Refuse("tosa_lower_c4", "what is added to a product is not quantised with one scale");
      return Node();
    }
    const double own = added.q->scale() * factors.beta;
    if (scale < 0 && own < 0) {
      emit.Refuse("tosa_lower_c3", "a product and what is added to it times negative numbers");
      return Node();
    }
    const auto most = [](const Affine& q) {
      return static_cast<double>(std::max(q.qmax - q.zero_point(), q.zero_point() - q.qmin));
    };
    const double inner = static_cast<double>(emit.ShapeOf(left.value).back());
    const double bound = inner * most(*left.q) * most(*right.q) * std::abs(scale) + most(*added.q) * std::abs(own);
    // The scale of the product itself where it is much finer than the results': accelerators take no rescale of 32
    // bits to 32.
    constexpr double kWidest = 1073741824.0, kFiner = 16;
    bool as_is = product.tensor().dtype == DType::kI32 && bound <= kWidest * std::abs(scale);
    for (const SiteOutput& output : site.outputs)
      as_is = as_is && output.q.has_value() && output.q->scale() >= kFiner * std::abs(scale);
    const double common = as_is ? std::abs(scale) : bound / kWidest;
    const double of_product[] = {std::abs(scale) / common}, of_added[] = {std::abs(own) / common};
    const Node one = emit.Reshape(as_is ? product : emit.Rescale(product, DType::kI32, of_product, 0, 0), shape);
    const Node other =
        emit.ToRank(emit.Rescale(added.value, DType::kI32, of_added, added.q->zero_point(), 0), shape.size());
    const bool less = scale < 0 || own < 0;
    const Node first = scale < 0 ? other : one, second = scale < 0 ? one : other;
    scale = common;
    return emit.Insert(less ? ops_.sub : ops_.add, {{"input1", first}, {"input2", second}});
  }

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
