#include <algorithm>
#include <cmath>
#include <optional>

#include "backends/tosa/constants.h"
#include "backends/tosa/site.h"
#include "backends/tosa/table_functions.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

// Writes a function of one quantised value as TABLE.
//
//   %q = quantize(exp(dequantize(%x)))  =>  TABLE(%x, 256 codes)
//
// 16 bits: 513 points 128 codes apart, between which TABLE interpolates with 7 fraction bits; a rescale takes those
// away again.
class LowerTable final : public TosaTableRewrite<const TableFunction*> {
 public:
  explicit LowerTable(const Context& context) : TosaTableRewrite("lower-table", context) {
    for (const TableFunction& row : TableFunctions()) Add(context.ops.Find(row.aten), &row);
  }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Node arguments[] = {node.arg("self")};
    if (!arguments[0].has_value()) return absl::OkStatus();
    const std::optional<Site> site = SiteOf(qdq_, rw, node, arguments);
    if (!site.has_value() || !site->quantised || !site->inputs[0].q->per_tensor()) return absl::OkStatus();
    const TableFunction& function = *RowOf(node);
    const TableArgs args = ReadTableArgs(node);
    const Affine& in = *site->inputs[0].q;
    Emitter emit(rw, ops_, node);
    for (const SiteOutput& output : site->outputs) {
      if (!output.q.has_value()) continue;
      const DType from = site->inputs[0].value.tensor().dtype;
      Node value;
      if (from == DType::kI8 && output.q->storage == DType::kI8) {
        value = Bytes(emit, site->inputs[0].value, in, *output.q, function, args);
      } else if (from == DType::kI16) {
        value = Points(emit, site->inputs[0].value, in, *output.q, function, args);
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
  Node Bytes(Emitter& emit, Node x, const Affine& in, const Affine& out, const TableFunction& function,
             const TableArgs& args) const {
    std::vector<int64_t> codes;
    for (int64_t code = -128; code <= 127; ++code) {
      const int64_t clamped = std::clamp(code, in.qmin, in.qmax);
      codes.push_back(QuantizeOne(out, function.evaluate(static_cast<float>(DequantizeOne(in, clamped)), args)));
    }
    const int64_t shape[] = {256};
    return emit.Insert(ops_.table, {{"input1", x}, {"table", emit.Integers("table", DType::kI8, shape, codes)}});
  }

  Node Points(Emitter& emit, Node x, const Affine& in, const Affine& out, const TableFunction& function,
              const TableArgs& args) const {
    std::vector<int64_t> values;
    int64_t largest = 0;
    for (int64_t i = 0; i <= 512; ++i) {
      int64_t code = std::clamp<int64_t>(-32768 + 128 * i, in.qmin, in.qmax) & ~int64_t{127};
      if (i == 512 && in.qmax == 32767) code = 32768;
      const float real = function.evaluate(static_cast<float>(DequantizeOne(in, code)), args);
      values.push_back(QuantizeOne(out, real));
      largest = std::max(largest, std::abs(values.back()));
    }
    int64_t shift = 0;
    if (largest > 0) shift = std::max<int64_t>(static_cast<int64_t>(std::ceil(std::log2(largest))) + 1 - 16, 0);
    for (int64_t& value : values) value = std::clamp<int64_t>(value >> shift, -32768, 32767);
    const int64_t shape[] = {513};
    const Node table =
        emit.Insert(ops_.table, {{"input1", x}, {"table", emit.Integers("table", DType::kI16, shape, values)}});
    const double factor[] = {std::ldexp(1.0, static_cast<int>(shift) - 7)};
    return emit.Rescale(table, out.storage, factor, 0, 0);
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerTable(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerTable>(context, options);
}

}  // namespace tare
