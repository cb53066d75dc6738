#include <algorithm>
#include <optional>

#include "backends/tosa/affine.h"
#include "backends/tosa/constants.h"
#include "backends/tosa/math.h"
#include "backends/tosa/site.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

constexpr std::string_view kGathers[] = {"aten.embedding.default", "aten.gather.default", "aten.index.Tensor",
                                         "aten.index_select.default"};

// Writes look-ups as GATHER, which takes rows: values [N, K, C] at indices [N, W] give [N, W, C].
//
//   embedding(%w : f32[k,c], %i)   =>  reshape(GATHER(reshape(%w, [1,k,c]), reshape(%i, [1,w])))
//
// embedding, index_select, index with one tensor or with constants for all dims, gather along the last dim. Dims before
// the looked-up one are the batch N, dims after it the row C. Indices are i32; those of index may be negative, for
// which K is added.
class LowerGather final : public TosaRewrite {
 public:
  explicit LowerGather(const Context& context)
      : TosaRewrite("lower-gather", context, FindOps(context, kGathers)),
        embedding_(context.ops.Find(kGathers[0])),
        gather_(context.ops.Find(kGathers[1])),
        index_(context.ops.Find(kGathers[2])) {}

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    Node values = node.arg(node.op() == embedding_ ? "weight" : "self");
    Node indices = node.arg(node.op() == embedding_ ? "indices" : "index");
    if (!values.has_value() || !values.is_tensor()) return absl::OkStatus();
    int64_t dim = node.op() == embedding_ ? 0 : node.integer("dim").value_or(0);
    const auto rank = static_cast<int64_t>(values.tensor().shape.size());
    if (node.op() == index_) {
      const std::vector<Node> list = node.arg_list("indices");
      size_t given = 0;
      for (size_t i = 0; i < list.size(); ++i) {
        if (!list[i].has_value()) continue;
        indices = list[i];
        dim = static_cast<int64_t>(i);
        ++given;
      }
      if (given == list.size() && given > 1)
        return qdq_.IsDequantize(values.op()) ? absl::OkStatus() : Several(node, values, list, rw);
      if (given != 1) return absl::OkStatus();
    }
    if (dim < 0) dim += rank;
    if (!indices.has_value() || !indices.is_tensor() || dim < 0 || dim >= rank) return absl::OkStatus();
    if (indices.tensor().dtype != DType::kI32) return absl::OkStatus();
    const Node arguments[] = {values};
    const std::optional<Site> site = SiteOf(qdq_, rw, node, arguments);
    if (!site.has_value() || (site->quantised && !site->inputs[0].q->per_tensor())) return absl::OkStatus();
    values = site->inputs[0].value;
    Emitter emit(rw, ops_, node);
    const Node found =
        node.op() == gather_ ? Along(emit, values, indices, dim) : Rows(emit, node, values, indices, dim);
    if (!emit.ok() || !found.has_value()) return emit.Finish();
    const Node shaped = emit.Reshape(found, emit.ShapeOf(node));
    if (emit.ok()) FinishMoved(emit, *site, shaped);
    return emit.Finish();
  }

 private:
  // Constant indices of every dim pick single elements: in order and all of them is a reshape, else a look-up in one
  // row of them.
  absl::Status Several(Node node, Node values, const std::vector<Node>& list, Rewriter& rw) const {
    const auto shape = StaticShape(values.tensor()), result = StaticShape(node.tensor());
    if (!shape.has_value() || !result.has_value() || list.size() != shape->size()) return absl::OkStatus();
    const auto count = ElementCount(node.tensor()), total = ElementCount(values.tensor());
    if (!count.has_value() || !total.has_value() || *total > INT32_MAX || *count > kMaxIndices) return absl::OkStatus();
    std::vector<int64_t> picked(static_cast<size_t>(*count), 0);
    for (size_t d = 0; d < list.size(); ++d) {
      const Constant* constant = list[d].constant();
      const auto known = constant == nullptr ? std::nullopt : ReadIntegers(rw.context(), *constant);
      const auto own = StaticShape(list[d].tensor());
      if (!known.has_value() || !own.has_value() || !IsInteger(list[d].tensor().dtype)) return absl::OkStatus();
      const std::vector<int64_t> strides = BroadcastStrides(*own, result->size());
      for (size_t i = 0; i < picked.size(); ++i) {
        int64_t at = 0, rest = static_cast<int64_t>(i);
        for (size_t axis = result->size(); axis-- > 0;) {
          at += rest % (*result)[axis] * strides[axis];
          rest /= (*result)[axis];
        }
        int64_t index = (*known)[static_cast<size_t>(at)];
        if (index < 0) index += (*shape)[d];
        if (index < 0 || index >= (*shape)[d]) return absl::OkStatus();
        picked[i] = picked[i] * (*shape)[d] + index;
      }
    }
    bool in_order = *count == *total;
    for (size_t i = 0; i < picked.size() && in_order; ++i) in_order = picked[i] == static_cast<int64_t>(i);
    Emitter emit(rw, ops_, node);
    Node found = values;
    if (!in_order) {
      const Node flat = emit.Reshape(values, std::vector<int64_t>{1, *total, 1});
      const Node places = emit.Integers("indices", DType::kI32, std::vector<int64_t>{1, *count}, picked);
      found = Gather(emit, flat, places);
    }
    if (emit.ok()) emit.Replace(node, emit.Reshape(found, *result));
    return emit.Finish();
  }

  // Of a row-major tensor of `own` shape, along the axes of a result of `rank` dims.
  static std::vector<int64_t> BroadcastStrides(const std::vector<int64_t>& own, size_t rank) {
    std::vector<int64_t> strides(rank, 0);
    int64_t stride = 1;
    for (size_t i = own.size(); i-- > 0;) {
      if (own[i] != 1) strides[rank - own.size() + i] = stride;
      stride *= own[i];
    }
    return strides;
  }

  static constexpr int64_t kMaxIndices = int64_t{1} << 24;

  // Each batch has the same indices.
  Node Rows(Emitter& emit, Node node, Node values, Node indices, int64_t dim) const {
    const std::vector<int64_t> shape = emit.ShapeOf(values), index_shape = emit.ShapeOf(indices);
    if (!emit.ok()) return Node();
    const std::span<const int64_t> extents(shape);
    const int64_t batch = CountOf(extents.first(static_cast<size_t>(dim))),
                  row = CountOf(extents.subspan(static_cast<size_t>(dim) + 1)), count = CountOf(index_shape);
    const int64_t extent = shape[static_cast<size_t>(dim)];
    // Integers are not reshaped in the FP profile alone: rows of indices then look into copies of the values.
    const std::vector<int64_t> one_row = {1, count};
    Node flat = indices;
    if (index_shape != one_row) {
      const Constant* constant = indices.constant();
      const auto known = constant == nullptr ? std::nullopt : ReadIntegers(emit.rewriter().context(), *constant);
      if (known.has_value()) {
        flat = emit.Integers("indices", DType::kI32, one_row, *known);
      } else if (emit.rewriter().Infer(ops_.reshape, {{"input1", indices}, {"shape", one_row}}).ok()) {
        flat = emit.Reshape(indices, one_row);
      } else if (index_shape.size() == 2 && batch == 1 && node.op() == embedding_) {
        const Node table = emit.Reshape(values, std::vector<int64_t>{1, shape[0], row});
        return Gather(
            emit,
            emit.Insert(ops_.tile, {{"input1", table}, {"multiples", std::vector<int64_t>{index_shape[0], 1, 1}}}),
            indices);
      }
    }
    if (node.op() == index_) flat = Wrapped(emit, flat, extent);
    if (batch != 1) flat = Repeated(emit, flat, batch);
    return Gather(emit, emit.Reshape(values, std::vector<int64_t>{batch, extent, row}), flat);
  }

  // The same row `times` times. Constants are repeated here: the FP profile alone does not tile integers.
  Node Repeated(Emitter& emit, Node row, int64_t times) const {
    if (!emit.ok()) return Node();
    const Constant* constant = row.constant();
    const auto known = constant == nullptr ? std::nullopt : ReadIntegers(emit.rewriter().context(), *constant);
    const auto count = static_cast<int64_t>(known.has_value() ? known->size() : 0);
    if (!known.has_value() || count == 0 || times > kMaxIndices / count)
      return emit.Insert(ops_.tile, {{"input1", row}, {"multiples", std::vector<int64_t>{times, 1}}});
    std::vector<int64_t> all;
    for (int64_t i = 0; i < times; ++i) all.insert(all.end(), known->begin(), known->end());
    return emit.Integers("indices", DType::kI32, std::vector<int64_t>{times, count}, all);
  }

  // gather along the last dim; dims before it are the same in both.
  Node Along(Emitter& emit, Node values, Node indices, int64_t dim) const {
    const std::vector<int64_t> shape = emit.ShapeOf(values), index_shape = emit.ShapeOf(indices);
    if (!emit.ok() || shape.size() != index_shape.size() || static_cast<size_t>(dim) + 1 != shape.size()) return Node();
    if (!std::equal(shape.begin(), shape.end() - 1, index_shape.begin())) return Node();
    int64_t batch = 1;
    for (size_t i = 0; i + 1 < shape.size(); ++i) batch *= shape[i];
    const Node rows = emit.Reshape(values, std::vector<int64_t>{batch, shape.back(), 1});
    const Node places = emit.Reshape(indices, std::vector<int64_t>{batch, index_shape.back()});
    return Gather(emit, rows, places);
  }

  Node Gather(Emitter& emit, Node values, Node indices) const {
    return emit.Insert(ops_.gather, {{"values", values}, {"indices", indices}});
  }

  static Node Wrapped(Emitter& emit, Node indices, int64_t extent) {
    if (!emit.ok()) return Node();
    const Constant* constant = indices.constant();
    if (constant != nullptr) {
      auto known = ReadIntegers(emit.rewriter().context(), *constant);
      if (known.has_value()) {
        if (std::all_of(known->begin(), known->end(), [](int64_t i) { return i >= 0; })) return indices;
        for (int64_t& index : *known) index += index < 0 ? extent : 0;
        const std::vector<int64_t> shape = emit.ShapeOf(indices);
        return emit.Integers("indices", DType::kI32, shape, *known);
      }
    }
    TensorMath math(emit);
    const Node negative = math.Binary("GREATER", math.Number(indices, 0), indices);
    return math.Select(negative, math.Add(indices, static_cast<double>(extent)), indices);
  }

  Op embedding_, gather_, index_;
};

}  // namespace

absl::StatusOr<Pass> MakeLowerGather(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerGather>(context, options);
}

}  // namespace tare
