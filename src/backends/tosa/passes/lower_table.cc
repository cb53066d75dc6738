#include <algorithm>
#include <cmath>
#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/site.h"
#include "backends/tosa/table_functions.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"
#include "eval/eval.h"

namespace tare {
namespace {

// Writes a function of one quantised value as TABLE.
//
//   %q = quantize(exp(dequantize(%x)))  =>  TABLE(%x, 256 codes)
//
// 16 bits: 513 points 128 codes apart, between which TABLE interpolates with 7 fraction bits; a rescale takes those
// away again.
//
//   %q = quantize(pow(dequantize(%x), dequantize(%y)))  =>  GATHER(65536 codes, 256 * (%x + 128) + %y + 128)
//
// Of two values of 8 bits, one of which may be a constant: then it is a TABLE of the other.
class LowerTable final : public TosaTableRewrite<const TableFunction*> {
 public:
  explicit LowerTable(const Context& context) : TosaTableRewrite("lower-table", context) {
    for (const TableFunction& row : TableFunctions()) Add(context.ops.Find(row.aten), &row);
    pairs_ = FindOps(context, PairFunctions());
    for (const Op op : pairs_)
      if (std::find(targets_.begin(), targets_.end(), op) == targets_.end()) Add(op, nullptr);
  }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const bool pair = std::find(pairs_.begin(), pairs_.end(), node.op()) != pairs_.end();
    if (node.num_operands() == 2 && pair) return RewritePair(node, rw);
    if (node.num_operands() != 1 || RowOf(node) == nullptr) return absl::OkStatus();
    const Node arguments[] = {node.operand(0)};
    const std::optional<Site> site = SiteOf(qdq_, rw, node, arguments);
    if (!site.has_value() || !site->quantised || !site->inputs[0].q->per_tensor()) return absl::OkStatus();
    const Affine& in = *site->inputs[0].q;
    Emitter emit(rw, ops_, node);
    for (const SiteOutput& output : site->outputs) {
      if (!output.q.has_value()) continue;
      const DType from = site->inputs[0].value.tensor().dtype;
      Node value;
      if (from == DType::kI8 && output.q->storage == DType::kI8) {
        value = Bytes(emit, node, site->inputs[0].value, in, *output.q);
      } else if (from == DType::kI16) {
        value = Points(emit, node, site->inputs[0].value, in, *output.q);
      } else {
        emit.Refuse("tosa_lower_c7", "a table goes from 8 to 8 bits or from 16 bits");
      }
      if (!emit.ok()) break;
      emit.Quantify(value, {}, &*output.q);
      emit.Replace(output.node, value);
    }
    return emit.Finish();
  }

 private:
  absl::Status RewritePair(Node node, Rewriter& rw) const {
    const Node arguments[] = {node.operand(0), node.operand(1)};
    const std::optional<Site> site = SiteOf(qdq_, rw, node, arguments);
    if (!site.has_value() || !site->quantised) return absl::OkStatus();
    for (const SiteInput& input : site->inputs)
      if (!input.q.has_value() || !input.q->per_tensor()) return absl::OkStatus();
    Emitter emit(rw, ops_, node);
    for (const SiteOutput& output : site->outputs) {
      if (!output.q.has_value()) continue;
      if (site->inputs[0].q->storage != DType::kI8 || site->inputs[1].q->storage != DType::kI8 ||
          output.q->storage != DType::kI8)
        emit.Refuse("tosa_lower_c7", "a table of two values goes from 8 to 8 bits");
      const Node value = emit.ok() ? Pairs(emit, node, *site, *output.q) : Node();
      if (!emit.ok()) break;
      emit.Quantify(value, {}, &*output.q);
      emit.Replace(output.node, value);
    }
    return emit.Finish();
  }

  // The codes of a constant of one element, else all of 8 bits.
  static std::vector<int64_t> CodesOf(Emitter& emit, Node x) {
    const Constant* constant = x.constant();
    std::vector<int64_t> codes;
    if (constant != nullptr && ElementCount(x.tensor()) == 1)
      codes = ReadIntegers(emit.rewriter().context(), *constant).value_or(codes);
    if (codes.size() == 1) return codes;
    codes.clear();
    for (int64_t code = -128; code <= 127; ++code) codes.push_back(code);
    return codes;
  }

  Node Pairs(Emitter& emit, Node node, const Site& site, const Affine& out) const {
    const auto real = [](const Affine& q, int64_t code) {
      return static_cast<float>(DequantizeOne(q, std::clamp(code, q.qmin, q.qmax)));
    };
    const SiteInput &first = site.inputs[0], &second = site.inputs[1];
    const std::vector<int64_t> rows = CodesOf(emit, first.value), columns = CodesOf(emit, second.value);
    std::vector<float> x, y;
    for (const int64_t row : rows)
      for (const int64_t column : columns) {
        x.push_back(real(*first.q, row));
        y.push_back(real(*second.q, column));
      }
    std::vector<int64_t> codes;
    for (const float value : Evaluated(emit, node, {std::move(x), std::move(y)}))
      codes.push_back(QuantizeOne(out, value));
    const std::vector<int64_t> shape = emit.ShapeOf(node);
    if (!emit.ok()) return Node();
    if (codes.size() == 1) codes.assign(256, codes[0]);
    const auto count = static_cast<int64_t>(codes.size());
    if (count == 256) {
      const Node table = emit.Integers("table", DType::kI8, std::vector<int64_t>{256}, codes);
      const Node of = emit.ToRank(rows.size() == 1 ? second.value : first.value, shape.size());
      // A constant may have more dims than what it goes with.
      if (!emit.ok() || emit.ShapeOf(of) != shape) {
        emit.Refuse("tosa_lower_c7", "a table of a value that is repeated");
        return Node();
      }
      return emit.Insert(ops_.table, {{"input1", of}, {"table", table}});
    }
    const double by_row[] = {256.0}, by_column[] = {1.0};
    const Node high = emit.Rescale(emit.ToRank(first.value, shape.size()), DType::kI32, by_row, -128, 0);
    const Node low = emit.Rescale(emit.ToRank(second.value, shape.size()), DType::kI32, by_column, -128, 0);
    const Node places = emit.Reshape(emit.Insert(ops_.add, {{"input1", high}, {"input2", low}}),
                                     std::vector<int64_t>{1, CountOf(shape)});
    const Node table = emit.Integers("table", DType::kI8, std::vector<int64_t>{1, count, 1}, codes);
    return emit.Reshape(emit.Insert(ops_.gather, {{"values", table}, {"indices", places}}), shape);
  }

  // The function of `node` at `reals`. Nothing where the reference kernel refuses.
  std::vector<float> ValuesOf(Emitter& emit, Node node, std::vector<float> reals) const {
    const TableFunction& function = *RowOf(node);
    if (function.evaluate == nullptr) return Evaluated(emit, node, {std::move(reals)});
    const TableArgs args = ReadTableArgs(node);
    for (float& real : reals) real = function.evaluate(real, args);
    return reals;
  }

  // What the kernel says of these operands, which have as many elements.
  static std::vector<float> Evaluated(Emitter& emit, Node node, const std::vector<std::vector<float>>& reals) {
    Context& context = emit.rewriter().context();
    const int64_t shape[] = {static_cast<int64_t>(reals[0].size())};
    std::vector<Value> operands;
    for (const std::vector<float>& list : reals) {
      absl::StatusOr<Tensor> x = Tensor::Make(DType::kF32, shape, nullptr);
      if (!x.ok()) return {};
      std::copy(list.begin(), list.end(), x->mutable_data<float>().begin());
      operands.emplace_back(*std::move(x));
    }
    const MetaId meta = context.metas.Tensor(DenseMeta(context, DType::kF32, shape));
    const absl::StatusOr<Value> y =
        EvaluateCall(context, node.op(), emit.rewriter().graph().attrs(node.id()), operands, QuantId{0}, meta);
    if (!y.ok() || y->kind != ValueKind::kTensor || y->tensor.dtype() != DType::kF32 || y->tensor.size() != shape[0]) {
      emit.Refuse("tosa_lower_c7", "the values of this function are not known");
      return {};
    }
    const std::span<const float> values = y->tensor.data<float>();
    return {values.begin(), values.end()};
  }

  Node Bytes(Emitter& emit, Node node, Node x, const Affine& in, const Affine& out) const {
    std::vector<float> reals;
    for (int64_t code = -128; code <= 127; ++code)
      reals.push_back(static_cast<float>(DequantizeOne(in, std::clamp(code, in.qmin, in.qmax))));
    std::vector<int64_t> codes;
    for (const float value : ValuesOf(emit, node, std::move(reals))) codes.push_back(QuantizeOne(out, value));
    if (!emit.ok()) return Node();
    const int64_t shape[] = {256};
    const Node table = emit.Integers("table", DType::kI8, shape, codes);
    return emit.Insert(ops_.table, {{"input1", x}, {"table", table}});
  }

  Node Points(Emitter& emit, Node node, Node x, const Affine& in, const Affine& out) const {
    std::vector<float> reals;
    for (int64_t i = 0; i <= 512; ++i) {
      int64_t code = std::clamp<int64_t>(-32768 + 128 * i, in.qmin, in.qmax) & ~int64_t{127};
      if (i == 512 && in.qmax == 32767) code = 32768;
      reals.push_back(static_cast<float>(DequantizeOne(in, code)));
    }
    std::vector<int64_t> values;
    int64_t largest = 0;
    for (const float value : ValuesOf(emit, node, std::move(reals))) {
      values.push_back(QuantizeOne(out, value));
      largest = std::max(largest, std::abs(values.back()));
    }
    if (!emit.ok()) return Node();
    int64_t shift = 0;
    if (largest > 0) shift = std::max<int64_t>(static_cast<int64_t>(std::ceil(std::log2(largest))) + 1 - 16, 0);
    for (int64_t& value : values) value = std::clamp<int64_t>(value >> shift, -32768, 32767);
    // TABLE takes no steps of more than 15 bits, as 1 / x has at 0: what lies before one comes nearer.
    for (size_t i = values.size() - 1; i-- > 0;)
      values[i] = std::clamp<int64_t>(values[i], values[i + 1] - 32767, values[i + 1] + 32768);
    const int64_t shape[] = {513};
    const Node points = emit.Integers("table", DType::kI16, shape, values);
    const Node table = emit.Insert(ops_.table, {{"input1", x}, {"table", points}});
    const double factor[] = {std::ldexp(1.0, static_cast<int>(shift) - 7)};
    return emit.Rescale(table, out.storage, factor, 0, 0);
  }

  std::vector<Op> pairs_;
};

}  // namespace

absl::StatusOr<Pass> MakeLowerTable(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerTable>(context, options);
}

}  // namespace tare
