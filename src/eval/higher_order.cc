// Ops with bodies. Source: torch/_higher_order_ops: cond.py, while_loop.py, map.py, scan.py, wrap.py.
#include <utility>

#include "eval/call.h"
#include "eval/graph_run.h"
#include "eval/movement.h"
#include "ir/context.h"
#include "ir/status.h"

namespace tare {
namespace {

// The arguments of one node, by position.
class Arguments {
 public:
  Arguments(std::string_view op, std::span<const NamedAttr> attrs, std::span<const Value> operands)
      : op_(op), attrs_(attrs), operands_(operands) {}

  size_t size() const { return attrs_.size(); }
  absl::Status Wrong() const { return InvalidError("eval_c12", op_, ": its arguments are not what they should be"); }
  absl::StatusOr<GraphId> body(size_t i) const {
    if (i >= attrs_.size() || attrs_[i].value.kind != AttrKind::kGraph) return Wrong();
    return attrs_[i].value.graph;
  }
  absl::StatusOr<Value> value(size_t i) const {
    if (i >= attrs_.size()) return Wrong();
    return Resolve(attrs_[i].value);
  }
  absl::StatusOr<std::vector<Value>> list(size_t i) const {
    if (i >= attrs_.size()) return Wrong();
    const AttrValue& attr = attrs_[i].value;
    std::vector<Value> values;
    if (attr.kind == AttrKind::kInts) {
      for (const int64_t v : attr.ints()) values.push_back(Value::Int(v));
      return values;
    }
    if (attr.kind != AttrKind::kList) return Wrong();
    for (const AttrValue& item : attr.items()) {
      TARE_ASSIGN_OR_RETURN(values.emplace_back(), Resolve(item));
    }
    return values;
  }
  // All from `first` on.
  absl::StatusOr<std::vector<Value>> rest(size_t first) const {
    std::vector<Value> values;
    for (size_t i = first; i < attrs_.size(); ++i) {
      TARE_ASSIGN_OR_RETURN(values.emplace_back(), value(i));
    }
    return values;
  }

 private:
  absl::StatusOr<Value> Resolve(const AttrValue& attr) const {
    switch (attr.kind) {
      case AttrKind::kNone:
        return Value();
      case AttrKind::kOperand:
        return attr.operand < operands_.size() ? absl::StatusOr<Value>(operands_[attr.operand]) : Wrong();
      case AttrKind::kInt:
        return Value::Int(attr.integer);
      case AttrKind::kFloat:
        return Value::Float(attr.real);
      case AttrKind::kBool:
        return Value::Bool(attr.flag);
      default:
        return Wrong();
    }
  }

  std::string_view op_;
  std::span<const NamedAttr> attrs_;
  std::span<const Value> operands_;
};

std::vector<Value> Joined(std::vector<Value> a, const std::vector<Value>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

absl::StatusOr<bool> Truth(const Arguments& args, const Value& value) {
  if (value.kind == ValueKind::kBool || value.kind == ValueKind::kInt) return value.integer != 0;
  if (value.kind != ValueKind::kTensor || value.tensor.dtype() != DType::kBool || value.tensor.size() != 1)
    return args.Wrong();
  return value.tensor.data<uint8_t>()[0] != 0;
}

// Slice i along axis 0 of each, without that axis.
absl::StatusOr<std::vector<Value>> SliceOf(const Arguments& args, const KernelCall& call,
                                           const std::vector<Value>& values, int64_t i) {
  std::vector<Value> slices;
  for (const Value& value : values) {
    if (value.kind != ValueKind::kTensor || value.tensor.rank() == 0 || value.tensor.extent(0) <= i)
      return args.Wrong();
    const Tensor& x = value.tensor;
    Extents start(x.rank(), 0), size(x.shape().begin(), x.shape().end());
    start[0] = i;
    size[0] = 1;
    TARE_ASSIGN_OR_RETURN(const Tensor part, Sliced(call, x, start, size, Extents(x.rank(), 1)));
    slices.emplace_back(part.Reshaped(x.shape().subspan(1)));
  }
  return slices;
}

// Results of all turns, stacked along a new axis 0.
absl::StatusOr<Value> Stacked(const Arguments& args, const KernelCall& call,
                              const std::vector<std::vector<Value>>& turns, size_t k) {
  std::vector<Tensor> parts;
  std::vector<const Tensor*> pointers;
  for (const std::vector<Value>& turn : turns) {
    if (turn[k].kind == ValueKind::kNone) return Value();
    if (turn[k].kind != ValueKind::kTensor) return args.Wrong();
    Extents shape(turn[k].tensor.shape().begin(), turn[k].tensor.shape().end());
    shape.insert(shape.begin(), 1);
    parts.push_back(turn[k].tensor.Reshaped(shape));
  }
  for (const Tensor& part : parts) pointers.push_back(&part);
  TARE_ASSIGN_OR_RETURN(Tensor stacked, Concatenated(call, pointers, 0));
  return Value(std::move(stacked));
}

absl::StatusOr<int64_t> LeadingExtent(const Arguments& args, const std::vector<Value>& values) {
  if (values.empty() || values[0].kind != ValueKind::kTensor || values[0].tensor.rank() == 0) return args.Wrong();
  if (values[0].tensor.extent(0) == 0)
    return UnimplementedError("eval_c19", "a loop over nothing: its results are not known");
  return values[0].tensor.extent(0);
}

absl::StatusOr<Value> RunMap(Evaluation& evaluation, const Arguments& args, const KernelCall& call, int nesting) {
  TARE_ASSIGN_OR_RETURN(const GraphId body, args.body(0));
  TARE_ASSIGN_OR_RETURN(const std::vector<Value> mapped, args.list(1));
  TARE_ASSIGN_OR_RETURN(const std::vector<Value> operands, args.list(2));
  TARE_ASSIGN_OR_RETURN(const int64_t count, LeadingExtent(args, mapped));
  std::vector<std::vector<Value>> turns;
  for (int64_t i = 0; i < count; ++i) {
    TARE_ASSIGN_OR_RETURN(std::vector<Value> inputs, SliceOf(args, call, mapped, i));
    TARE_ASSIGN_OR_RETURN(turns.emplace_back(),
                          RunGraph(evaluation, body, Joined(std::move(inputs), operands), nesting + 1));
  }
  std::vector<Value> results;
  for (size_t k = 0; k < turns[0].size(); ++k) {
    TARE_ASSIGN_OR_RETURN(results.emplace_back(), Stacked(args, call, turns, k));
  }
  return Value::List(std::move(results));
}

absl::StatusOr<Value> RunScan(Evaluation& evaluation, const Arguments& args, const KernelCall& call, int nesting) {
  TARE_ASSIGN_OR_RETURN(const GraphId body, args.body(0));
  TARE_ASSIGN_OR_RETURN(std::vector<Value> carried, args.list(1));
  TARE_ASSIGN_OR_RETURN(const std::vector<Value> scanned, args.list(2));
  TARE_ASSIGN_OR_RETURN(const std::vector<Value> operands, args.list(3));
  TARE_ASSIGN_OR_RETURN(const int64_t count, LeadingExtent(args, scanned));
  const size_t kept = carried.size();
  std::vector<std::vector<Value>> turns;
  for (int64_t i = 0; i < count; ++i) {
    TARE_ASSIGN_OR_RETURN(const std::vector<Value> slices, SliceOf(args, call, scanned, i));
    TARE_ASSIGN_OR_RETURN(std::vector<Value> results,
                          RunGraph(evaluation, body, Joined(Joined(carried, slices), operands), nesting + 1));
    if (results.size() < kept) return args.Wrong();
    carried.assign(results.begin(), results.begin() + kept);
    turns.emplace_back(results.begin() + kept, results.end());
  }
  for (size_t k = 0; k < turns[0].size(); ++k) {
    TARE_ASSIGN_OR_RETURN(carried.emplace_back(), Stacked(args, call, turns, k));
  }
  return Value::List(std::move(carried));
}

absl::StatusOr<Value> RunWhile(Evaluation& evaluation, const Arguments& args, int nesting) {
  TARE_ASSIGN_OR_RETURN(const GraphId condition, args.body(0));
  TARE_ASSIGN_OR_RETURN(const GraphId body, args.body(1));
  TARE_ASSIGN_OR_RETURN(std::vector<Value> carried, args.list(2));
  TARE_ASSIGN_OR_RETURN(const std::vector<Value> operands, args.list(3));
  for (int64_t turn = 0;; ++turn) {
    if (turn == kMaxLoopTurns) return InvalidError("eval_c12", "a loop has not ended after ", kMaxLoopTurns, " turns");
    TARE_ASSIGN_OR_RETURN(const std::vector<Value> goes_on,
                          RunGraph(evaluation, condition, Joined(carried, operands), nesting + 1));
    if (goes_on.size() != 1) return args.Wrong();
    TARE_ASSIGN_OR_RETURN(const bool truth, Truth(args, goes_on[0]));
    if (!truth) return Value::List(std::move(carried));
    TARE_ASSIGN_OR_RETURN(carried, RunGraph(evaluation, body, Joined(carried, operands), nesting + 1));
  }
}

}  // namespace

absl::StatusOr<Value> RunHigherOrder(Evaluation& evaluation, std::string_view op, std::span<const NamedAttr> attrs,
                                     std::span<const Value> operands, int nesting) {
  const Arguments args(op, attrs, operands);
  const KernelCall call(*evaluation.program.context, op::getitem, {}, {}, nullptr, nullptr, evaluation.budget);
  if (op == "higher_order.cond") {
    TARE_ASSIGN_OR_RETURN(const Value predicate, args.value(0));
    TARE_ASSIGN_OR_RETURN(const bool truth, Truth(args, predicate));
    TARE_ASSIGN_OR_RETURN(const GraphId body, args.body(truth ? 1 : 2));
    TARE_ASSIGN_OR_RETURN(std::vector<Value> inputs, args.list(3));
    TARE_ASSIGN_OR_RETURN(std::vector<Value> results, RunGraph(evaluation, body, std::move(inputs), nesting + 1));
    return Value::List(std::move(results));
  }
  if (op == "higher_order.while_loop") return RunWhile(evaluation, args, nesting);
  if (op == "higher_order.map_impl") return RunMap(evaluation, args, call, nesting);
  if (op == "higher_order.scan") return RunScan(evaluation, args, call, nesting);
  const bool grad = op == "higher_order.wrap_with_set_grad_enabled";
  if (grad || op == "higher_order.wrap_with_autocast") {
    TARE_ASSIGN_OR_RETURN(const GraphId body, args.body(grad ? 1 : 4));
    TARE_ASSIGN_OR_RETURN(std::vector<Value> inputs, args.rest(grad ? 2 : 5));
    TARE_ASSIGN_OR_RETURN(std::vector<Value> results, RunGraph(evaluation, body, std::move(inputs), nesting + 1));
    return Value::List(std::move(results));
  }
  return UnimplementedError("eval_c10", op, ": no kernel evaluates this op");
}

}  // namespace tare
