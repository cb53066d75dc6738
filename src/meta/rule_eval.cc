#include "meta/rule_eval.h"

#include <bit>

#include "absl/base/attributes.h"
#include "absl/strings/str_cat.h"
#include "ir/status.h"
#include "llvm/ADT/SmallVector.h"
#include "meta/bind.h"
#include "meta/function_table.h"
#include "meta/rule_operators.h"
#include "meta/rule_parser.h"
#include "meta/rule_simple.h"
#include "meta/rule_state.h"

namespace tare {
namespace {

constexpr int kMaxDepth = 320;  // nested evaluations: expressions, lets and rules together

// One activation of a rule.
class Activation {
 public:
  Activation(RuleContext::State& state, const Rule& rule, std::span<const Value> args, int depth)
      : state_(state),
        rc_(state),
        table_(*rule.table),
        row_(*rule.row),
        simple_{table_, rc_.syms(), args, nullptr, nullptr, nullptr},
        depth_(depth) {}

  absl::StatusOr<Value> RunBodies() {
    if (row_.bodies == kNoRuleNode) return Value::None();
    Start();
    return Eval(row_.bodies);
  }

  absl::StatusOr<Value> Run() {
    Start();
    for (const RuleCheck& check : table_.checks.subspan(row_.checks, row_.num_checks)) {
      TARE_RETURN_IF_ERROR(RunCheck(check));
    }
    const auto results = table_.results.subspan(row_.results, row_.num_results);
    if (!row_.several) return RunResult(results[0]);
    const std::span<Value> items = rc_.NewValues(results.size());
    for (size_t i = 0; i < items.size(); ++i) {
      TARE_ASSIGN_OR_RETURN(items[i], RunResult(results[i]));
    }
    return Value::Tuple(items);
  }

 private:
  void Start() {
    lets_ = rc_.NewValues(row_.num_lets);
    let_states_.assign(row_.num_lets, LetState::kUntouched);
    simple_.lets = lets_.data();
    simple_.let_states = let_states_.data();
  }

  absl::Status RunCheck(const RuleCheck& check) {
    Value holds;
    if (!Simple(check.that, holds)) {
      TARE_ASSIGN_OR_RETURN(holds, EvalAny(check.that));
    }
    if (holds.kind == ValueKind::kBool && holds.flag) return absl::OkStatus();
    if (!IsCondition(holds)) {
      return At(InvalidError("rule_c8", "a check must be a condition, found ", rc_.Print(holds)), check.that);
    }
    if (holds.kind == ValueKind::kSymBool) {
      TARE_ASSIGN_OR_RETURN(const bool accepted, rc_.Demand(holds.expr));
      if (accepted) return absl::OkStatus();
    }
    // The sentence names arguments of this row, which may not be the op that was called.
    const std::string in = state_.rule_depth > 0 ? Cat("in ", table_.texts[row_.name], ": ") : "";
    return InvalidError(table_.texts[check.id], in, Message(check.say));
  }

  std::string Message(uint32_t say) {
    std::string text;
    const RuleNode& list = table_.nodes[say];
    for (uint32_t part : table_.links.subspan(list.links, list.num_links)) {
      const auto value = Eval(part);
      text += value.ok() ? rc_.Print(*value) : "?";
    }
    return text;
  }

  absl::StatusOr<Value> RunResult(const RuleResult& result) {
    if (result.result != kNoRuleNode) return Eval(result.result);
    TARE_ASSIGN_OR_RETURN(const Value shape, Eval(result.shape));
    TARE_ASSIGN_OR_RETURN(const Value dtype, Eval(result.dtype));
    if (shape.kind == ValueKind::kTensor && result.layout == kNoRuleNode) {
      // A function that gave a whole tensor: only its dtype is replaced.
      if (dtype.kind != ValueKind::kDType) return NoResult(result.dtype, "dtype", dtype);
      TensorMeta tensor = *shape.tensor;
      tensor.dtype = dtype.dtype;
      return Value::Tensor(rc_.NewTensor(tensor));
    }
    const bool empty = IsList(shape) && LengthOf(shape) == 0;
    if (shape.kind != ValueKind::kInts && !empty) return NoResult(result.shape, "shape", shape);
    if (dtype.kind != ValueKind::kDType) return NoResult(result.dtype, "dtype", dtype);
    TensorMeta tensor = *rc_.Contiguous(dtype.dtype, empty ? std::span<const Dim>() : shape.dims());
    if (result.layout != kNoRuleNode) {
      TARE_ASSIGN_OR_RETURN(const Value layout, Eval(result.layout));
      TARE_RETURN_IF_ERROR(SetLayout(tensor, layout, result.layout));
    }
    if (result.offset != kNoRuleNode) {
      TARE_ASSIGN_OR_RETURN(const Value offset, Eval(result.offset));
      const auto dim = AsInt(offset);
      if (!dim) return NoResult(result.offset, "offset", offset);
      tensor.offset = *dim;
    }
    return Value::Tensor(rc_.NewTensor(tensor));
  }

  // `layout`: strides; `contiguous` or none; another format by name.
  absl::Status SetLayout(TensorMeta& tensor, const Value& layout, uint32_t node) {
    if (layout.is_none()) return absl::OkStatus();
    if (layout.kind == ValueKind::kTensor) {
      tensor.strides = layout.tensor->strides;
    } else if (layout.kind == ValueKind::kInts) {
      tensor.strides = layout.dims();
    } else if (IsList(layout) && LengthOf(layout) == 0) {
      tensor.strides = {};
    } else if (layout.kind == ValueKind::kString && layout.text() == "contiguous") {
      return absl::OkStatus();
    } else if (layout.kind == ValueKind::kMemoryFormat) {
      if (layout.memory_format == MemoryFormat::kContiguous) return absl::OkStatus();
      const auto strides = FormatStrides(tensor.shape, layout.memory_format);
      if (!strides.ok()) return At(strides.status(), node);
      tensor.strides = *strides;
    } else {
      return NoResult(node, "layout", layout);
    }
    if (tensor.strides.size() != tensor.shape.size()) {
      return At(InvalidError("rule_c8", tensor.strides.size(), " strides for ", tensor.shape.size(), " dims"), node);
    }
    return absl::OkStatus();
  }
  absl::StatusOr<std::span<const Dim>> FormatStrides(std::span<const Dim> shape, MemoryFormat format) {
    const size_t rank = format == MemoryFormat::kChannelsLast ? 4 : 5;
    if (format == MemoryFormat::kPreserve || shape.size() != rank) {
      return InvalidError("rule_c8", "no such layout for ", shape.size(), " dims");
    }
    const std::span<Dim> strides = rc_.NewDims(rank);
    Dim stride = Dim::Static(1);
    for (size_t k = 0; k < rank; ++k) {  // channels innermost, then the last dims
      const size_t dim = k == 0 ? 1 : k == rank - 1 ? 0 : rank - k;
      strides[dim] = stride;
      stride = rc_.syms().Mul(stride, rc_.syms().Max(shape[dim], Dim::Static(1)));
    }
    return std::span<const Dim>(strides);
  }
  absl::Status NoResult(uint32_t node, std::string_view what, const Value& value) const {
    return At(InvalidError("rule_c8", rc_.Print(value), " is no ", what), node);
  }

  // --- expressions

  bool Simple(uint32_t index, Value& value) const {
    const RuleNode& node = table_.nodes[index];
    return (node.detail & kSimpleRule) != 0 && EvalSimple(simple_, node, value);
  }
  absl::StatusOr<Value> Eval(uint32_t index) {
    Value simple;
    if (Simple(index, simple)) return simple;
    return EvalAny(index);
  }
  // Kept apart: its frame is large.
  ABSL_ATTRIBUTE_NOINLINE absl::StatusOr<Value> EvalAny(uint32_t index) {
    const RuleNode& node = table_.nodes[index];
    if (depth_ >= kMaxDepth || ++state_.steps > kMaxRuleSteps || state_.items > kMaxRuleItems) {
      return At(InvalidError("rule_c9", "the rule takes too much work"), index);
    }
    ++depth_;
    auto value = Dispatch(node);
    --depth_;
    if (!value.ok()) return At(value.status(), index);
    return value;
  }

  // A fault of the row gets the row's place, once; anything else is a fault of the call.
  absl::Status At(const absl::Status& status, uint32_t index) const {
    const std::string id = CheckIdOf(status);
    if (id != "rule_c8" && id != "rule_args_c1") return status;
    std::string_view text = std::string_view(status.message().data(), status.message().size());
    if (text.find(" (rule ") != std::string_view::npos) return status;
    if (const size_t suffix = text.rfind(" ["); suffix != std::string_view::npos) text = text.substr(0, suffix);
    const RulePlace place = UnpackPlace(table_.nodes[index].place);
    return CheckError(status.code(), id,
                      absl::StrCat(TextPiece(text), " (rule of ", TextPiece(table_.texts[row_.name]), ", ",
                                   TextPiece(table_.texts[row_.file]), ":", place.line, ":", place.column, ")"));
  }

  std::span<const uint32_t> Links(const RuleNode& node) const {
    return table_.links.subspan(node.links, node.num_links);
  }

  absl::StatusOr<Value> Dispatch(const RuleNode& node) {
    switch (node.op) {
      case RuleOp::kLet:
        return Let(static_cast<size_t>(node.value));
      case RuleOp::kAnd:
      case RuleOp::kOr:
        return Logical(node);
      case RuleOp::kIf: {
        const auto links = Links(node);
        TARE_ASSIGN_OR_RETURN(const Value condition, Eval(links[0]));
        TARE_ASSIGN_OR_RETURN(const bool yes, Truth(rc_, condition));
        return Eval(links[yes ? 1 : 2]);
      }
      case RuleOp::kField: {
        TARE_ASSIGN_OR_RETURN(const Value value, Eval(Links(node)[0]));
        return FieldOf(rc_, static_cast<RuleField>(node.detail & ~kSimpleRule), value);
      }
      case RuleOp::kNeg:
      case RuleOp::kNot: {
        TARE_ASSIGN_OR_RETURN(const Value value, Eval(Links(node)[0]));
        return node.op == RuleOp::kNeg ? ApplyNeg(rc_, value) : ApplyNot(rc_, value);
      }
      case RuleOp::kRank:
      case RuleOp::kLen:
      case RuleOp::kIsNone: {
        TARE_ASSIGN_OR_RETURN(const Value value, Eval(Links(node)[0]));
        if (node.op == RuleOp::kIsNone) return Value::Bool(value.is_none());
        return node.op == RuleOp::kRank ? RankOf(rc_, value) : LenOf(rc_, value);
      }
      case RuleOp::kSlice: {
        const auto links = Links(node);
        TARE_ASSIGN_OR_RETURN(const Value list, Eval(links[0]));
        TARE_ASSIGN_OR_RETURN(const Value begin, Eval(links[1]));
        TARE_ASSIGN_OR_RETURN(const Value end, Eval(links[2]));
        return SliceOf(rc_, list, begin, end);
      }
      case RuleOp::kList: {
        TARE_ASSIGN_OR_RETURN(const std::span<const Value> items, Items(node));
        return MakeList(rc_, items);
      }
      case RuleOp::kTuple: {
        TARE_ASSIGN_OR_RETURN(const std::span<const Value> items, Items(node));
        return Value::Tuple(items);
      }
      case RuleOp::kCall: {
        TARE_ASSIGN_OR_RETURN(const std::span<const Value> items, Items(node));
        return Call(node, items);
      }
      case RuleOp::kRule: {
        TARE_ASSIGN_OR_RETURN(const std::span<const Value> items, Items(node));
        return CallRule(node, items);
      }
      case RuleOp::kFor:
        return For(node);
      case RuleOp::kStar:
        return InvalidError("rule_c8", "* stands in lists and calls only");
      default: {
        const auto links = Links(node);
        TARE_ASSIGN_OR_RETURN(const Value a, Eval(links[0]));
        TARE_ASSIGN_OR_RETURN(const Value b, Eval(links[1]));
        return node.op == RuleOp::kIndex ? ElementOf(rc_, a, b) : ApplyBinary(rc_, node.op, a, b);
      }
    }
  }

  absl::StatusOr<Value> Let(size_t slot) {
    if (let_states_[slot] == LetState::kDone) return lets_[slot];
    if (let_states_[slot] == LetState::kRunning) return InvalidError("rule_c8", "a let depends on itself");
    let_states_[slot] = LetState::kRunning;
    auto value = Eval(table_.lets[row_.lets + slot]);
    let_states_[slot] = value.ok() ? LetState::kDone : LetState::kUntouched;
    if (value.ok()) lets_[slot] = *value;
    return value;
  }

  // The right side is not evaluated when the left one decides.
  absl::StatusOr<Value> Logical(const RuleNode& node) {
    const auto links = Links(node);
    TARE_ASSIGN_OR_RETURN(Value left, Eval(links[0]));
    if (left.kind == ValueKind::kSymBool) {
      const Tri proved = rc_.syms().Prove(left.expr, rc_.facts());
      if (proved != Tri::kUnknown) left = Value::Bool(proved == Tri::kYes);
    }
    if (left.kind == ValueKind::kBool && left.flag == (node.op == RuleOp::kOr)) return left;
    TARE_ASSIGN_OR_RETURN(const Value right, Eval(links[1]));
    return CombineConditions(rc_, node.op, left, right);
  }

  absl::StatusOr<std::span<const Value>> Items(const RuleNode& node) {
    const auto links = Links(node);
    bool spread = false;
    for (uint32_t link : links) spread |= table_.nodes[link].op == RuleOp::kStar;
    if (!spread) {
      const std::span<Value> items = rc_.NewValues(links.size());
      for (size_t i = 0; i < items.size(); ++i) {
        if (Simple(links[i], items[i])) continue;
        TARE_ASSIGN_OR_RETURN(items[i], EvalAny(links[i]));
      }
      return std::span<const Value>(items);
    }
    llvm::SmallVector<Value, 16> items;
    for (uint32_t link : links) {
      const RuleNode& child = table_.nodes[link];
      const bool star = child.op == RuleOp::kStar;
      TARE_ASSIGN_OR_RETURN(const Value value, Eval(star ? Links(child)[0] : link));
      if (!star) {
        items.push_back(value);
      } else if (!IsList(value)) {
        return InvalidError("rule_c8", "* needs a list, found ", rc_.Print(value));
      } else {
        for (size_t i = 0; i < LengthOf(value); ++i) items.push_back(ItemOf(value, i));
      }
      if (items.size() > kMaxRuleList) return InvalidError("rule_c9", "list is too long");
    }
    const std::span<Value> copy = rc_.NewValues(items.size());
    std::copy(items.begin(), items.end(), copy.begin());
    return std::span<const Value>(copy);
  }

  absl::StatusOr<Value> Call(const RuleNode& node, std::span<const Value> items) {
    const RuleFunctionRow& function = state_.functions[static_cast<size_t>(node.value)];
    const int count = static_cast<int>(items.size());
    if (count < function.min_args || (function.max_args >= 0 && count > function.max_args)) {
      return InvalidError("rule_c8", function.name, " got ", count, " arguments");
    }
    return function.function(rc_, items);
  }

  absl::StatusOr<Value> CallRule(const RuleNode& node, std::span<const Value> items) {
    const Rule& rule = state_.rules->rules()[static_cast<size_t>(node.value)];
    if (state_.rule_depth >= kMaxRuleCalls) return InvalidError("rule_c9", "rules call each other too deep");
    const Schema& schema = state_.SchemaOfRule(static_cast<size_t>(node.value));
    TARE_ASSIGN_OR_RETURN(const std::span<const Value> args, BindValues(rc_, schema, items));
    ++state_.rule_depth;
    auto value = Activation(state_, rule, args, depth_).Run();
    --state_.rule_depth;
    return value;
  }

  absl::StatusOr<Value> For(const RuleNode& node) {
    const auto links = Links(node);
    TARE_ASSIGN_OR_RETURN(const Value list, Eval(links[1]));
    if (!IsList(list)) return InvalidError("rule_c8", "for needs a list, found ", rc_.Print(list));
    const size_t n = LengthOf(list);
    const std::span<Value> items = rc_.NewValues(n);
    size_t kept = 0;
    if (vars_ == nullptr) simple_.vars = vars_ = rc_.NewValues(kMaxRuleVars).data();
    Value& variable = vars_[node.value & 0xff];
    const Value outer = variable;  // of a comprehension that asked for a let with one of its own
    for (size_t i = 0; i < n; ++i) {
      variable = ItemOf(list, i);
      if (links.size() == 3) {
        TARE_ASSIGN_OR_RETURN(const Value condition, Eval(links[2]));
        TARE_ASSIGN_OR_RETURN(const bool yes, Truth(rc_, condition));
        if (!yes) continue;
      }
      TARE_ASSIGN_OR_RETURN(items[kept], Eval(links[0]));
      ++kept;
    }
    variable = outer;
    return MakeList(rc_, items.first(kept));
  }

  RuleContext::State& state_;
  RuleContext rc_;
  const RuleTable& table_;
  const RuleRow& row_;
  SimpleScope simple_;
  std::span<Value> lets_;
  llvm::SmallVector<LetState, 16> let_states_;
  Value* vars_ = nullptr;  // of comprehensions; made by the first one
  int depth_;
};

}  // namespace

absl::StatusOr<Value> EvaluateRule(RuleContext::State& state, const Rule& rule, std::span<const Value> args) {
  return Activation(state, rule, args, 0).Run();
}

absl::StatusOr<Value> EvaluateBodies(RuleContext::State& state, const Rule& rule, std::span<const Value> args) {
  return Activation(state, rule, args, 0).RunBodies();
}

}  // namespace tare
