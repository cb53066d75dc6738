#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "backends/tosa/affine.h"
#include "backends/tosa/constants.h"
#include "backends/tosa/math.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

constexpr std::string_view kAttention[] = {"aten._scaled_dot_product_flash_attention_for_cpu.default",
                                           "aten.scaled_dot_product_attention.default"};

// query: [lead…, L, E], key: [lead…, S, E], value: [lead…, S, Ev]. With grouped heads, or one that all share, the last
// of lead is `groups` times smaller for key and value.
struct Attention {
  Node query, key, value, mask;
  std::vector<int64_t> q_shape, k_shape, v_shape;
  int64_t batch = 1;  // of key and value
  int64_t groups = 1, l = 0, s = 0, e = 0, ev = 0;
  double scale = 1;
  bool causal = false;
};

std::optional<Attention> ReadAttention(Node node) {
  Attention a{node.arg("query"), node.arg("key"), node.arg("value"), node.arg("attn_mask")};
  for (const Node x : {a.query, a.key, a.value})
    if (!x.has_value() || !x.is_tensor() || !IsFloating(x.tensor().dtype)) return std::nullopt;
  const auto q = StaticShape(a.query.tensor()), k = StaticShape(a.key.tensor()), v = StaticShape(a.value.tensor());
  if (!q.has_value() || !k.has_value() || !v.has_value() || node.number("dropout_p").value_or(0) != 0)
    return std::nullopt;
  const size_t rank = q->size();
  if (rank < 2 || k->size() != rank || v->size() != rank || (*k)[rank - 2] != (*v)[rank - 2]) return std::nullopt;
  a.q_shape = *q;
  a.k_shape = *k;
  a.v_shape = *v;
  a.l = (*q)[rank - 2];
  a.e = (*q)[rank - 1];
  a.s = (*k)[rank - 2];
  a.ev = (*v)[rank - 1];
  for (size_t i = 0; i + 2 < rank; ++i) {
    if ((*k)[i] != (*v)[i] || (*k)[i] < 1) return std::nullopt;
    a.batch *= (*k)[i];
    if ((*q)[i] == (*k)[i]) continue;
    const bool shares = (*k)[i] == 1 || node.flag("enable_gqa").value_or(false);
    if (i + 3 != rank || !shares || (*q)[i] % (*k)[i] != 0) return std::nullopt;
    a.groups = (*q)[i] / (*k)[i];
  }
  a.causal = node.flag("is_causal").value_or(false);
  a.scale = node.number("scale").value_or(1 / std::sqrt(static_cast<double>(a.e)));
  return a;
}

// Writes attention of floats.
//
//   softmax(query * scale @ transpose(key) + mask) @ value
//
// Heads and batches become the batch of MATMUL; heads that share a key become rows. A mask of bools selects; one that
// is constant is added, or nothing when it is true everywhere. A row that is masked as a whole gives zeros.
class LowerAttention final : public TosaRewrite {
 public:
  explicit LowerAttention(const Context& context)
      : TosaRewrite("lower-attention", context, FindOps(context, kAttention)) {}

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node result = FirstResult(node);
    if (!result.has_value()) return absl::OkStatus();
    const std::optional<Attention> a = ReadAttention(node);
    if (!a.has_value()) return absl::OkStatus();
    for (const Node x : {a->query, a->key, a->value})
      if (qdq_.IsDequantize(x.op())) return absl::OkStatus();
    Emitter emit(rw, ops_, node);
    TensorMath math(emit);
    const int64_t rows = a->groups * a->l;
    std::vector<int64_t> swap(a->k_shape.size());
    for (size_t i = 0; i < swap.size(); ++i) swap[i] = static_cast<int64_t>(i);
    std::swap(swap[swap.size() - 1], swap[swap.size() - 2]);
    const Node query = emit.Reshape(math.Mul(a->query, a->scale), std::vector<int64_t>{a->batch, rows, a->e});
    const Node key = emit.Reshape(emit.Transpose(a->key, swap), std::vector<int64_t>{a->batch, a->e, a->s});
    const Node value = emit.Reshape(a->value, std::vector<int64_t>{a->batch, a->s, a->ev});
    const Node scores = Masked(emit, math, *a, math.Product(query, key));
    const Node mixed = math.Product(math.Softmax(scores, 2), value);
    const Node shaped = emit.Reshape(mixed, emit.ShapeOf(result));
    if (emit.ok()) emit.Replace(result, ZeroWhereMasked(emit, math, *a, shaped));
    return emit.Finish();
  }

 private:
  static constexpr float kLowest = std::numeric_limits<float>::lowest();
  static constexpr double kClosed = -std::numeric_limits<double>::infinity();

  // 0 where the mask is true, else the lowest number; what a constant of floats has. Nothing when it is not constant.
  static std::optional<std::vector<float>> Additive(Emitter& emit, const Attention& a, std::vector<int64_t>& shape) {
    std::vector<float> values;
    if (a.causal) {
      shape = {a.l, a.s};
      for (int64_t i = 0; i < a.l; ++i)
        for (int64_t j = 0; j < a.s; ++j) values.push_back(j <= i ? 0.0f : kLowest);
      return values;
    }
    const std::optional<std::vector<double>> numbers = Added(emit, a.mask);
    if (!numbers.has_value()) return std::nullopt;
    for (const double number : *numbers) values.push_back(std::max(static_cast<float>(number), kLowest));
    return values;
  }

  // What a constant mask adds to scores; bools are 0 and -inf. Nothing when it is not constant.
  static std::optional<std::vector<double>> Added(Emitter& emit, Node mask) {
    const Constant* constant = mask.constant();
    auto numbers = constant == nullptr ? std::nullopt : ReadNumbers(emit.rewriter().context(), *constant);
    if (numbers.has_value() && mask.tensor().dtype == DType::kBool)
      for (double& number : *numbers) number = number != 0 ? 0 : kClosed;
    return numbers;
  }

  // `scores`: [batch, groups * L, S]
  static Node Masked(Emitter& emit, TensorMath& math, const Attention& a, Node scores) {
    if (!emit.ok() || (!a.causal && !a.mask.has_value())) return scores;
    std::vector<int64_t> shape = a.causal ? std::vector<int64_t>() : emit.ShapeOf(a.mask);
    const std::optional<std::vector<float>> additive = Additive(emit, a, shape);
    if (!emit.ok()) return Node();
    if (additive.has_value() && std::all_of(additive->begin(), additive->end(), [](float v) { return v == 0; }))
      return scores;
    Node mask = a.mask;
    if (additive.has_value() && a.query.tensor().dtype == DType::kF32)
      mask = emit.Floats("mask", DType::kF32, shape, *additive);
    // In three dims when the mask is the same for all heads, else in those of the query.
    const bool same = a.groups == 1 && std::all_of(shape.begin(), shape.end() - std::min<size_t>(2, shape.size()),
                                                   [](int64_t extent) { return extent == 1; });
    std::vector<int64_t> full(a.q_shape.begin(), a.q_shape.end() - 1);
    full.push_back(a.s);
    if (same) {
      while (shape.size() > 3) shape.erase(shape.begin());
      mask = emit.Reshape(mask, shape);
    } else {
      scores = emit.Reshape(scores, full);
    }
    if (!emit.ok()) return Node();
    Node masked;
    if (mask.tensor().dtype == DType::kBool) {
      masked = math.Select(mask, scores, math.Number(scores, kLowest));
    } else {
      masked = math.Add(scores, mask);
    }
    return emit.Reshape(masked, std::vector<int64_t>{a.batch, a.groups * a.l, a.s});
  }

  // `mixed`, in the dims of the result, with zeros in rows that attend to nothing: false or -inf along all of S.
  static Node ZeroWhereMasked(Emitter& emit, TensorMath& math, const Attention& a, Node mixed) {
    if (!emit.ok() || a.causal || !a.mask.has_value()) return mixed;
    const bool flags = a.mask.tensor().dtype == DType::kBool;
    std::vector<int64_t> shape = emit.ShapeOf(a.mask);
    const size_t width = shape.empty() ? 1 : static_cast<size_t>(shape.back());
    Node open;
    if (const std::optional<std::vector<double>> added = Added(emit, a.mask); added.has_value() && width > 0) {
      std::vector<int64_t> rows;
      for (auto row = added->begin(); row != added->end(); row += static_cast<ptrdiff_t>(width))
        rows.push_back(std::any_of(row, row + static_cast<ptrdiff_t>(width), [](double v) { return v != kClosed; }));
      if (std::find(rows.begin(), rows.end(), 0) == rows.end()) return mixed;
      if (!shape.empty()) shape.back() = 1;
      open = emit.Integers("open", DType::kBool, shape, rows);
    } else {
      open = flags ? a.mask : math.Not(math.Equal(a.mask, kClosed));
      const int64_t last[] = {static_cast<int64_t>(shape.size()) - 1};
      if (!shape.empty()) open = math.Reduce("REDUCE_ANY", open, last);
    }
    return emit.ok() ? math.Select(open, mixed, math.Number(mixed, 0)) : Node();
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerAttention(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerAttention>(context, options);
}

}  // namespace tare
