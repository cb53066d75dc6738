#include "meta/rule_context.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "ir/status.h"
#include "meta/bind.h"
#include "meta/rule_eval.h"
#include "meta/rule_state.h"

namespace tare {
namespace {

bool HasUnbacked(const SymStore& syms, ExprId condition) {
  for (ExprId id : syms.Symbols(condition)) {
    const SymbolKind kind = syms.symbol(id).kind;
    if (kind == SymbolKind::kUnbacked || kind == SymbolKind::kUnbackedFloat) return true;
  }
  return false;
}

// A large number, distinct for distinct names, within the symbol's range and a multiple of its
// divisor: what a symbol without a hint is assumed to be.
int64_t GenericValue(const SymbolRow& symbol) {
  uint64_t number = 0, hash = 1469598103934665603u;
  bool has_number = false;
  for (char c : symbol.name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    has_number = c >= '0' && c <= '9';
    number = has_number ? (number * 10 + static_cast<uint64_t>(c - '0')) % 1'000'000 : 0;
  }
  const uint64_t index = (has_number ? number : hash) % 257;
  int64_t value = 1013 + 30 * static_cast<int64_t>(index * 7 % 257);
  if (value > symbol.max) value = symbol.max - static_cast<int64_t>(index % 3);
  value = std::max(value, symbol.min);
  if (symbol.divisor > 1) {
    int64_t multiple;
    if (!__builtin_mul_overflow(value, symbol.divisor, &multiple) && multiple <= symbol.max) return multiple;
    const int64_t below = value - value % symbol.divisor;
    value = below >= symbol.min ? below : value;
  }
  return value;
}

// Truth under hints and, where `generic`, the assumed values of symbols without one.
std::optional<bool> ByValues(const SymStore& syms, ExprId condition, bool generic) {
  if (const auto hinted = syms.Hint(condition)) return *hinted != 0;
  if (!generic) return std::nullopt;
  SymStore::Values values;
  for (ExprId id : syms.Symbols(condition)) {
    const SymbolRow& symbol = syms.symbol(id);
    if (symbol.kind != SymbolKind::kBacked) return std::nullopt;
    values[id] = symbol.hint ? *symbol.hint : GenericValue(symbol);
  }
  const auto value = syms.Evaluate(condition, values);
  if (!value) return std::nullopt;
  return *value != 0;
}

}  // namespace

Context& RuleContext::context() const { return *state_.context; }
const Facts* RuleContext::facts() const { return state_.facts; }
std::string_view RuleContext::spec() const { return state_.spec; }

std::span<Dim> RuleContext::NewDims(size_t n) {
  state_.items += n;
  Dim* dims = state_.arena.Allocate<Dim>(n);
  std::uninitialized_value_construct_n(dims, n);
  return {dims, n};
}
std::span<Value> RuleContext::NewValues(size_t n) {
  state_.items += n;
  Value* values = state_.arena.Allocate<Value>(n);
  std::uninitialized_default_construct_n(values, n);
  return {values, n};
}
std::string_view RuleContext::NewText(std::string_view text) {
  char* copy = state_.arena.Allocate<char>(text.size());
  std::memcpy(copy, text.data(), text.size());
  return {copy, text.size()};
}
const TensorMeta* RuleContext::NewTensor(const TensorMeta& tensor) {
  return new (state_.arena.Allocate<TensorMeta>()) TensorMeta(tensor);
}
const TensorMeta* RuleContext::Contiguous(DType dtype, std::span<const Dim> shape) {
  const std::span<Dim> strides = NewDims(shape.size());
  Dim stride = Dim::Static(1);
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride = syms().Mul(stride, syms().Max(shape[i], Dim::Static(1)));
  }
  TensorMeta tensor;
  tensor.dtype = dtype;
  tensor.shape = shape;
  tensor.strides = strides;
  return NewTensor(tensor);
}

bool RuleContext::Known(ExprId condition) { return syms().Prove(condition, facts()) == Tri::kYes; }

namespace {
void Record(llvm::SmallVectorImpl<Guard>& guards, Guard guard) {
  if (std::find(guards.begin(), guards.end(), guard) == guards.end()) guards.push_back(guard);
}
}  // namespace

bool RuleContext::Assume(ExprId condition) {
  if (!condition.has_value()) return false;
  const Tri proved = syms().Prove(condition, facts());
  if (proved == Tri::kUnknown) {
    Record(state_.guards, {condition, HasUnbacked(syms(), condition) ? Guard::kRuntimeAssert : Guard::kGuard});
  }
  return proved != Tri::kNo;
}

// A condition without value compares a number that has none.
absl::StatusOr<bool> RuleContext::Decide(ExprId condition) {
  if (!condition.has_value()) return InvalidError("overflow", "a number does not fit 64 bits");
  const Tri proved = syms().Prove(condition, facts());
  if (proved != Tri::kUnknown) return proved == Tri::kYes;
  const auto value = ByValues(syms(), condition, true);
  if (!value) {
    return InvalidError("data_dependent", "cannot decide whether ", syms().Print(condition),
                        ": it depends on values known only at run time");
  }
  Record(state_.guards, {*value ? condition : syms().Not(condition), Guard::kGuard});
  return *value;
}

bool RuleContext::OrFalse(ExprId condition) {
  const auto decided = Decide(condition);
  return decided.ok() && *decided;
}
bool RuleContext::OrTrue(ExprId condition) {
  const auto decided = Decide(condition);
  return !decided.ok() || *decided;
}

absl::StatusOr<bool> RuleContext::Demand(ExprId condition) {
  if (!condition.has_value()) return InvalidError("overflow", "a number does not fit 64 bits");
  const Tri proved = syms().Prove(condition, facts());
  if (proved != Tri::kUnknown) return proved == Tri::kYes;
  if (HasUnbacked(syms(), condition)) {
    Record(state_.guards, {condition, Guard::kRuntimeAssert});
    return true;
  }
  const auto hinted = ByValues(syms(), condition, false);
  if (hinted && !*hinted) return false;
  Record(state_.guards, {condition, Guard::kGuard});
  return true;
}

bool RuleContext::KnownEqual(Dim a, Dim b) { return syms().Equal(a, b, facts()) == Tri::kYes; }
absl::StatusOr<bool> RuleContext::Equal(Dim a, Dim b) {
  const Tri answer = syms().Equal(a, b, facts());
  if (answer != Tri::kUnknown) return answer == Tri::kYes;
  return Decide(syms().Eq(a, b));
}
absl::StatusOr<bool> RuleContext::Less(Dim a, Dim b) {
  if (a.is_static() && b.is_static()) return a.value() < b.value();
  return Decide(syms().Lt(a, b));
}
absl::StatusOr<bool> RuleContext::LessEqual(Dim a, Dim b) {
  if (a.is_static() && b.is_static()) return a.value() <= b.value();
  return Decide(syms().Le(a, b));
}
bool RuleContext::EqualOrFalse(Dim a, Dim b) {
  const auto equal = Equal(a, b);
  return equal.ok() && *equal;
}
absl::StatusOr<bool> RuleContext::DemandEqual(Dim a, Dim b) {
  if (a.is_static() && b.is_static()) return a == b;
  if (KnownEqual(a, b)) return true;
  return Demand(syms().Eq(a, b));
}

absl::StatusOr<int64_t> RuleContext::Concrete(Dim a) {
  if (a.is_static()) return a.value();
  if (!a.is_valid()) return InvalidError("overflow", "a size does not fit 64 bits");
  if (const auto constant = syms().Constant(a)) return *constant;
  if (const auto constant = syms().Constant(syms().Simplify(a, facts()))) return *constant;
  const auto hint = syms().Hint(syms().OfDim(a));
  if (!hint) return InvalidError("data_dependent", "needs the value of ", syms().Print(a));
  Record(state_.guards, {syms().Eq(a, syms().Int(*hint)), Guard::kGuard});
  return *hint;
}

// Names no file uses: `u<node>_<k>`.
Dim RuleContext::MintInt(int k, int64_t min, int64_t max) {
  const NodeId node = state_.place.node;
  const std::string name = node.has_value() ? absl::StrCat("u", node.index, "_", k) : absl::StrCat("u_", k);
  state_.minted = true;
  SymbolRow row;
  row.name = context().strings.Intern(name);
  row.kind = SymbolKind::kUnbacked;
  row.min = min;
  row.max = max;
  return syms().Symbol(row);
}
ExprId RuleContext::MintFloat(int k) {
  const NodeId node = state_.place.node;
  const std::string name = node.has_value() ? absl::StrCat("zuf", node.index, "_", k) : absl::StrCat("zuf_", k);
  state_.minted = true;
  SymbolRow row;
  row.name = context().strings.Intern(name);
  row.kind = SymbolKind::kUnbackedFloat;
  return syms().FloatSymbol(row);
}

absl::StatusOr<BodyMetas> RuleContext::Body(GraphId id) {
  if (state_.bodies == nullptr)
    return InvalidError("body_c1", "the body of a higher-order op is only known in a program");
  return state_.bodies->Find(id);
}

const TensorMeta* RuleContext::ConstantOperand(uint32_t operand, const TensorMeta& tensor) {
  for (State::ConstantOperand& constant : state_.constants)
    if (constant.operand == operand) return constant.tensor = NewTensor(tensor);
  return nullptr;
}

const Elements* RuleContext::ElementsOf(const TensorMeta* tensor) const {
  for (const State::ConstantOperand& constant : state_.constants)
    if (constant.tensor == tensor) return &constant.elements;
  return nullptr;
}

std::string RuleContext::State::TextOfConstants() const {
  std::string text;
  const auto append = [&](const auto* data, size_t count) {
    text.append(reinterpret_cast<const char*>(data), count * sizeof(*data));
  };
  for (const ConstantOperand& constant : constants) {
    const uint64_t counts[] = {constant.operand, constant.elements.integers.size(), constant.elements.reals.size()};
    append(counts, 3);
    append(constant.elements.integers.data(), constant.elements.integers.size());
    append(constant.elements.reals.data(), constant.elements.reals.size());
  }
  return text;
}

Value RuleContext::ValueOf(MetaId meta) { return tare::ValueOf(*this, context().metas.Get(meta)); }

void RuleContext::KeepRest(std::span<const NamedAttr> rest) { state_.rest = rest; }
std::span<const NamedAttr> RuleContext::rest() const { return state_.rest; }

absl::StatusOr<Value> RuleContext::CallOp(std::string_view name, std::span<const Value> args) {
  const Op op = context().ops.Find(name);
  if (!op.has_value() || context().ops.Get(op).rule < 0) {
    state_.undescribed = true;
    return absl::NotFoundError(Cat(name, " has no rule"));  // never shown: the file is believed
  }
  if (state_.rule_depth >= kMaxRuleCalls) return InvalidError("rule_c9", "rules call each other too deep");
  TARE_ASSIGN_OR_RETURN(const std::span<const Value> bound, BindValues(*this, *context().ops.schema(op), args));
  ++state_.rule_depth;
  auto result = EvaluateRule(state_, state_.rules->rules()[static_cast<size_t>(context().ops.Get(op).rule)], bound);
  --state_.rule_depth;
  return result;
}

}  // namespace tare
