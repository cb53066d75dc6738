// Evaluates nodes marked kSimpleRule without statuses and bookkeeping: checks and shapes of static
// tensors are made of them. What it declines, errors too, goes the ordinary way of rule_eval.cc.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>

#include "ir/sym.h"
#include "meta/rule_code.h"
#include "meta/rule_operators.h"
#include "meta/value.h"

namespace tare {

enum class LetState : uint8_t { kUntouched, kRunning, kDone };

struct SimpleScope {
  const RuleTable& table;
  SymStore& syms;
  std::span<const Value> args;
  const Value* vars;
  const Value* lets;
  const LetState* let_states;
};

inline bool SimpleUnary(SymStore& syms, const RuleNode& node, const Value& a, Value& value) {
  const TensorMeta* const tensor = a.kind == ValueKind::kTensor ? a.tensor : nullptr;
  switch (node.op) {
    case RuleOp::kField: {
      if (tensor == nullptr) return false;
      const auto field = static_cast<RuleField>(node.detail & ~kSimpleRule);
      if (field > RuleField::kStrides) return false;
      value = field == RuleField::kDType ? Value::OfDType(tensor->dtype)
                                         : Value::Ints(field == RuleField::kShape ? tensor->shape : tensor->strides);
      return true;
    }
    case RuleOp::kRank:
    case RuleOp::kLen: {
      const bool list = node.op == RuleOp::kLen || tensor == nullptr;
      if (list && !IsList(a)) return false;
      value = Value::Int(Dim::Static(static_cast<int64_t>(list ? LengthOf(a) : tensor->shape.size())));
      return true;
    }
    case RuleOp::kIsNone:
      value = Value::Bool(a.is_none());
      return true;
    case RuleOp::kNeg:
      if (a.kind != ValueKind::kInt || !a.dim.is_static()) return false;
      value = Value::Int(syms.Int(-a.dim.value()));
      return true;
    case RuleOp::kNot:
      if (a.kind != ValueKind::kBool) return false;
      value = Value::Bool(!a.flag);
      return true;
    default:
      return false;
  }
}
inline std::optional<bool> SimpleEqual(Dim a, Dim b) {
  if (a == b) return true;
  return a.is_static() && b.is_static() ? std::optional<bool>(false) : std::nullopt;
}
inline std::optional<bool> SimpleEqual(const Value& a, const Value& b) {
  if (a.is_none() || b.is_none()) return a.is_none() && b.is_none();
  if (a.kind != b.kind) return std::nullopt;
  switch (a.kind) {
    case ValueKind::kDType:
      return a.dtype == b.dtype;
    case ValueKind::kString:
      return a.text() == b.text();
    case ValueKind::kInt:
      return SimpleEqual(a.dim, b.dim);
    case ValueKind::kInts: {
      if (a.dims().size() != b.dims().size()) return false;
      bool all = true;
      for (size_t i = 0; i < a.dims().size(); ++i) {
        const std::optional<bool> same = SimpleEqual(a.dims()[i], b.dims()[i]);
        if (!same) return std::nullopt;
        all &= *same;
      }
      return all;
    }
    default:
      return std::nullopt;
  }
}
inline bool SimplePair(RuleOp op, const Value& a, const Value& b, Value& value) {
  if (op == RuleOp::kEq || op == RuleOp::kNe) {
    const std::optional<bool> same = SimpleEqual(a, b);
    if (same) value = Value::Bool(*same == (op == RuleOp::kEq));
    return same.has_value();
  }
  if (a.kind != ValueKind::kInt || b.kind != ValueKind::kInt || !a.dim.is_static() || !b.dim.is_static()) return false;
  const int64_t x = a.dim.value(), y = b.dim.value();
  int64_t result = 0;
  switch (op) {
    case RuleOp::kLt:
      return value = Value::Bool(x < y), true;
    case RuleOp::kLe:
      return value = Value::Bool(x <= y), true;
    case RuleOp::kGt:
      return value = Value::Bool(x > y), true;
    case RuleOp::kGe:
      return value = Value::Bool(x >= y), true;
    case RuleOp::kAdd:
      if (__builtin_add_overflow(x, y, &result)) return false;
      return value = Value::Int(Dim::Static(result)), true;
    case RuleOp::kSub:
      return value = Value::Int(Dim::Static(x - y)), x >= y;
    case RuleOp::kMul:
      if (__builtin_mul_overflow(x, y, &result)) return false;
      return value = Value::Int(Dim::Static(result)), true;
    case RuleOp::kFloorDiv:
      if (y == 0) return false;
      return value = Value::Int(Dim::Static(x / y)), true;
    case RuleOp::kMod:
      if (y == 0) return false;
      return value = Value::Int(Dim::Static(x % y)), true;
    default:
      return false;
  }
}

// Elements and slices of lists of integers; negative places count from the end.
inline bool SimpleElement(const SymStore& syms, const Value& list, const Value& index, Value& value) {
  if (list.kind != ValueKind::kInts || index.kind != ValueKind::kInt) return false;
  const std::optional<int64_t> place = syms.Constant(index.dim);
  const auto n = static_cast<int64_t>(list.dims().size());
  if (!place || *place < -n || *place >= n) return false;
  value = Value::Int(list.dims()[static_cast<size_t>(*place < 0 ? *place + n : *place)]);
  return true;
}
inline bool SimpleSlice(const SymStore& syms, const Value& list, const Value& begin, const Value& end, Value& value) {
  if (list.kind != ValueKind::kInts) return false;
  const auto n = static_cast<int64_t>(list.dims().size());
  int64_t bounds[2] = {0, n};
  for (int k = 0; k < 2; ++k) {
    const Value& bound = k == 0 ? begin : end;
    if (bound.is_none()) continue;
    const std::optional<int64_t> place = bound.kind == ValueKind::kInt ? syms.Constant(bound.dim) : std::nullopt;
    if (!place) return false;
    bounds[k] = std::clamp<int64_t>(*place < -n ? 0 : *place < 0 ? *place + n : *place, 0, n);
  }
  const int64_t count = std::max<int64_t>(bounds[1] - bounds[0], 0);
  value = Value::Ints(list.dims().subspan(static_cast<size_t>(bounds[0]), static_cast<size_t>(count)));
  return true;
}

bool EvalSimple(const SimpleScope& scope, const RuleNode& node, Value& value);

// `a` among the items of the list that is written out as the second child.
inline bool SimpleMember(const SimpleScope& scope, const RuleNode& node, const Value& a, Value& value) {
  const RuleNode& list = scope.table.nodes[scope.table.links[node.links + 1]];
  bool found = false;
  for (uint32_t link : scope.table.links.subspan(list.links, list.num_links)) {
    Value item;
    if (!EvalSimple(scope, scope.table.nodes[link], item)) return false;
    const std::optional<bool> same = SimpleEqual(a, item);
    if (!same) return false;
    found |= *same;
  }
  value = Value::Bool(found == (node.op == RuleOp::kIn));
  return true;
}

// The common case of a simple node: constants, arguments, static integers. False where anything
// else is met, also errors; then the ordinary way is taken.
inline bool EvalSimple(const SimpleScope& scope, const RuleNode& node, Value& value) {
  switch (node.op) {
    case RuleOp::kNone:
      value = Value::None();
      return true;
    case RuleOp::kTrue:
    case RuleOp::kFalse:
      value = Value::Bool(node.op == RuleOp::kTrue);
      return true;
    case RuleOp::kInt:
      value = Value::Int(node.value >= 0 ? Dim::Static(node.value) : scope.syms.Int(node.value));
      return true;
    case RuleOp::kFloat:
      value = Value::Float(std::bit_cast<double>(node.value));
      return true;
    case RuleOp::kText:
      value = Value::String(scope.table.texts[static_cast<size_t>(node.value)]);
      return true;
    case RuleOp::kDType:
      value = Value::OfDType(static_cast<DType>(node.value));
      return true;
    case RuleOp::kMemoryFormat:
      value = Value::OfMemoryFormat(static_cast<MemoryFormat>(node.value));
      return true;
    case RuleOp::kLayoutName:
      value = Value::OfLayout(static_cast<Layout>(node.value));
      return true;
    case RuleOp::kArg:
      value = scope.args[static_cast<size_t>(node.value)];
      return true;
    case RuleOp::kVar:
      value = scope.vars[node.value];
      return true;
    case RuleOp::kLet:
      if (scope.let_states[node.value] != LetState::kDone) return false;
      value = scope.lets[node.value];
      return true;
    default:
      break;
  }
  Value a;
  if (!EvalSimple(scope, scope.table.nodes[scope.table.links[node.links]], a)) return false;
  if (node.num_links == 1) return SimpleUnary(scope.syms, node, a, value);
  if (node.op == RuleOp::kIf) {
    if (a.kind != ValueKind::kBool) return false;
    return EvalSimple(scope, scope.table.nodes[scope.table.links[node.links + (a.flag ? 1 : 2)]], value);
  }
  if (node.op == RuleOp::kIn || node.op == RuleOp::kNotIn) return SimpleMember(scope, node, a, value);
  const bool logical = node.op == RuleOp::kAnd || node.op == RuleOp::kOr;
  if (logical && a.kind == ValueKind::kBool && a.flag == (node.op == RuleOp::kOr)) {
    value = a;
    return true;
  }
  Value b;
  if (!EvalSimple(scope, scope.table.nodes[scope.table.links[node.links + 1]], b)) return false;
  if (node.op == RuleOp::kIndex) return SimpleElement(scope.syms, a, b, value);
  if (node.op == RuleOp::kSlice) {
    Value c;
    if (!EvalSimple(scope, scope.table.nodes[scope.table.links[node.links + 2]], c)) return false;
    return SimpleSlice(scope.syms, a, b, c, value);
  }
  return logical ? (value = b, a.kind == ValueKind::kBool && b.kind == ValueKind::kBool)
                 : SimplePair(node.op, a, b, value);
}

}  // namespace tare
