// Strides of results: contiguous, memory formats, preserved order, and what element-wise ops choose.
#include <algorithm>
#include <numeric>

#include "llvm/ADT/SmallVector.h"
#include "meta/functions.h"
#include "meta/rule_args.h"

namespace tare {
namespace {

constexpr int kChannelsLastOrder[] = {0, 2, 3, 1};       // outermost first
constexpr int kChannelsLast3dOrder[] = {0, 2, 3, 4, 1};  // outermost first

const Dim kZero = Dim::Static(0);
const Dim kOne = Dim::Static(1);

bool IsOne(RuleContext& rc, Dim dim) { return dim.is_static() ? dim.value() == 1 : rc.EqualOrFalse(dim, kOne); }
bool IsZero(RuleContext& rc, Dim dim) { return dim.is_static() ? dim.value() == 0 : rc.EqualOrFalse(dim, kZero); }
bool Same(RuleContext& rc, Dim a, Dim b) { return a == b || rc.EqualOrFalse(a, b); }
// Positive where every backed symbol is: exporters trace with extents of 2 and more, whatever range a
// file states later. An extent of 0 leaves no elements, whose strides carry no meaning.
// `steps` bounds the work on expressions that share parts; beyond it the answer is no.
bool IsPositive(const SymStore& syms, ExprId expr, int& steps) {
  if (--steps < 0) return false;
  const auto positive = [&](ExprId arg) { return IsPositive(syms, arg, steps); };
  switch (syms.kind(expr)) {
    case ExprKind::kIntConst:
      return syms.int_value(expr) > 0;
    case ExprKind::kSymbol:
      return syms.symbol(expr).kind == SymbolKind::kBacked;
    case ExprKind::kAdd:
    case ExprKind::kMul:
      return std::ranges::all_of(syms.args(expr), positive);
    case ExprKind::kMax:
      return std::ranges::any_of(syms.args(expr), positive);
    default:
      return false;
  }
}

Dim AtLeastOne(RuleContext& rc, Dim dim) {
  if (dim.is_static()) return Dim::Static(std::max<int64_t>(dim.value(), 1));
  int steps = 64;
  if (!dim.is_valid() || IsPositive(rc.syms(), dim.expr(), steps)) return dim;
  return rc.syms().Max(dim, kOne);
}

// a >= b of extents or strides; a multiple counts as not less, so that 4*u0 >= u0 needs no facts.
bool NotLess(RuleContext& rc, Dim a, Dim b) {
  if (a.is_static() && b.is_static()) return a.value() >= b.value();
  if (a == b || IsZero(rc, b)) return true;
  if (IsZero(rc, a)) return false;
  SymStore& syms = rc.syms();
  return rc.OrFalse(syms.Le(b, a)) || rc.OrFalse(syms.Eq(syms.Mod(a, b), kZero));
}

// Without elements, or with one.
bool HasAtMostOneElement(RuleContext& rc, std::span<const Dim> shape) {
  if (std::ranges::any_of(shape, [&](Dim dim) { return IsZero(rc, dim); })) return true;
  return std::ranges::all_of(shape, [&](Dim dim) { return IsOne(rc, dim); });
}

// Strides are those of a contiguous tensor whose dims are `order`, outermost first. Extents of 1 do
// not count; a symbolic extent may or may not have been clamped to 1 while the strides were made.
bool NestedInOrder(RuleContext& rc, std::span<const Dim> shape, std::span<const Dim> strides,
                   std::span<const int> order) {
  Dim expected = kOne, clamped = kOne;
  for (size_t k = order.size(); k-- > 0;) {
    const Dim extent = shape[order[k]], stride = strides[order[k]];
    if (IsOne(rc, extent)) continue;
    if (!Same(rc, stride, expected) && !Same(rc, stride, clamped)) return false;
    expected = rc.syms().Mul(expected, extent);
    clamped = rc.syms().Mul(clamped, AtLeastOne(rc, extent));
  }
  return true;
}

llvm::SmallVector<int, 8> IdentityOrder(size_t rank) {
  llvm::SmallVector<int, 8> order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// The operand's strides after it was expanded to `shape`: 0 where it repeats.
llvm::SmallVector<Dim, 8> ExpandedStrides(RuleContext& rc, const TensorMeta& tensor, std::span<const Dim> shape) {
  llvm::SmallVector<Dim, 8> strides(shape.size());
  const size_t lead = shape.size() - tensor.shape.size();
  for (size_t k = shape.size(); k-- > 0;) {
    if (k >= lead) {
      const bool repeats = tensor.shape[k - lead] == 1 && !(shape[k] == 1);
      strides[k] = repeats ? kZero : tensor.strides[k - lead];
    } else if (shape[k] == 1) {
      strides[k] = k + 1 == shape.size() ? kOne : rc.syms().Mul(shape[k + 1], strides[k + 1]);
    } else {
      strides[k] = kZero;
    }
  }
  return strides;
}

// Which of two dims is the outer one: the first operand that can tell says. > 0: they must swap,
// < 0: they are in order, 0: nobody can tell. Not transitive, hence the insertion sort below.
int CompareDims(RuleContext& rc, std::span<const Dim> shape, std::span<const llvm::SmallVector<Dim, 8>> strides,
                int inner, int outer) {
  for (const auto& operand : strides) {
    const Dim a = operand[inner], b = operand[outer];
    if (IsZero(rc, a) || IsZero(rc, b)) continue;
    if (Same(rc, a, b)) {
      if (NotLess(rc, shape[outer], shape[inner])) continue;
      return 1;
    }
    if (NotLess(rc, b, a)) return -1;
    if (NotLess(rc, a, b)) return 1;
  }
  return 0;
}

// Dims outermost first.
llvm::SmallVector<int, 8> ElementwiseOrder(RuleContext& rc, std::span<const Dim> shape,
                                           std::span<const TensorMeta* const> tensors) {
  llvm::SmallVector<llvm::SmallVector<Dim, 8>, 3> strides;
  for (const TensorMeta* tensor : tensors) {
    if (!tensor->shape.empty()) strides.push_back(ExpandedStrides(rc, *tensor, shape));
  }
  const auto all_nested = [&](std::span<const int> order) {
    return std::ranges::all_of(strides, [&](const auto& s) { return NestedInOrder(rc, shape, s, order); });
  };
  llvm::SmallVector<int, 8> order = IdentityOrder(shape.size());
  const bool contiguous = all_nested(order);
  // Both at once only where the order of channels and pixels does not matter.
  const bool may_be_channels_last =
      shape.size() == 4 && (!contiguous || IsOne(rc, shape[1]) || (IsOne(rc, shape[2]) && IsOne(rc, shape[3])));
  const bool channels_last = may_be_channels_last && all_nested(kChannelsLastOrder);
  if (contiguous && !channels_last) return order;
  if (channels_last && !contiguous) return {std::begin(kChannelsLastOrder), std::end(kChannelsLastOrder)};
  std::ranges::reverse(order);  // innermost first while sorting
  for (int i = 1; i < static_cast<int>(order.size()); ++i) {
    int at = i;
    for (int k = i - 1; k >= 0; --k) {
      const int comparison = CompareDims(rc, shape, strides, order[k], order[at]);
      if (comparison < 0) break;
      if (comparison > 0) {
        std::swap(order[k], order[at]);
        at = k;
      }
    }
  }
  std::ranges::reverse(order);
  return order;
}

std::optional<MemoryFormat> FormatOf(const Value& value) {
  if (value.kind == ValueKind::kMemoryFormat) return value.memory_format;
  return std::nullopt;
}

std::span<const Dim> ShapeOf(RuleArgs& args, size_t i) {
  return args.Any(i).kind == ValueKind::kTensor ? args.Tensor(i).shape : args.Ints(i);
}

absl::StatusOr<Value> ContiguousFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const std::span<const Dim> shape = ShapeOf(args, 0);
  TARE_RETURN_IF_ERROR(args.status());
  return Value::Ints(ContiguousStrides(rc, shape));
}

absl::StatusOr<Value> FormatStridesFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const std::span<const Dim> shape = ShapeOf(args, 0);
  TARE_RETURN_IF_ERROR(args.status());
  TARE_ASSIGN_OR_RETURN(const std::span<const Dim> strides,
                        FormatStrides(rc, shape, FormatOf(args.Any(1)).value_or(MemoryFormat::kContiguous)));
  return Value::Ints(strides);
}

absl::StatusOr<Value> LikeStridesFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& tensor = args.Tensor(0);
  TARE_RETURN_IF_ERROR(args.status());
  TARE_ASSIGN_OR_RETURN(const std::span<const Dim> strides, LikeStrides(rc, tensor, FormatOf(args.Any(1))));
  return Value::Ints(strides);
}

absl::StatusOr<Value> PreserveFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& tensor = args.Tensor(0);
  TARE_RETURN_IF_ERROR(args.status());
  return Value::Ints(PreserveStrides(rc, tensor));
}

absl::StatusOr<Value> SuggestFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& tensor = args.Tensor(0);
  TARE_RETURN_IF_ERROR(args.status());
  return Value::OfMemoryFormat(SuggestMemoryFormat(rc, tensor));
}

absl::StatusOr<Value> IsContiguousFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& tensor = args.Tensor(0);
  TARE_RETURN_IF_ERROR(args.status());
  return Value::Bool(IsContiguous(rc, tensor, FormatOf(args.Any(1)).value_or(MemoryFormat::kContiguous)));
}

// stretched(x, shape): x expanded; numbers and tensors without dims as they are.
absl::StatusOr<Value> StretchedFunction(RuleContext& rc, std::span<const Value> values) {
  if (values[0].kind != ValueKind::kTensor || values[0].tensor->shape.empty()) return values[0];
  RuleArgs args(rc, values);
  const std::span<const Dim> shape = args.Ints(1);
  TARE_RETURN_IF_ERROR(args.status());
  TensorMeta tensor = args.Tensor(0);
  TARE_RETURN_IF_ERROR(RequireExpandable(rc, tensor.shape, shape));
  const llvm::SmallVector<Dim, 8> expanded = ExpandedStrides(rc, tensor, shape);
  const std::span<Dim> strides = rc.NewDims(shape.size());
  std::ranges::copy(expanded, strides.begin());
  tensor.shape = shape;
  tensor.strides = strides;
  return Value::Tensor(rc.NewTensor(tensor));
}

// The dtype an elementwise op computes in: half precision is computed in f32.
absl::StatusOr<DType> ComputedDType(RuleContext& rc, std::string_view kind, std::span<const Value> operands) {
  const bool to_float = kind == "int_to_float";
  TARE_ASSIGN_OR_RETURN(const DType dtype,
                        Promote(rc, to_float ? PromotionKind::kIntToFloat : PromotionKind::kDefault, operands));
  if (dtype == DType::kC32) return DType::kC64;
  return dtype == DType::kF16 || dtype == DType::kBF16 ? DType::kF32 : dtype;
}

// elementwise(operands[, kind or dtype]). Operands of another dtype than the one computed in are converted
// first: their copies have strides of their own where the operands are not dense.
absl::StatusOr<Value> ElementwiseFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const std::span<const Value> operands = values[0].kind == ValueKind::kList ? values[0].items() : values.first(1);
  const bool as_kind = values.size() > 1 && values[1].kind == ValueKind::kString;
  const bool as_dtype = values.size() > 1 && !as_kind;
  const std::string_view kind = as_kind ? args.Text(1) : std::string_view();
  DType computed = as_dtype ? args.Type(1) : DType::kF32;
  TARE_RETURN_IF_ERROR(args.status());
  llvm::SmallVector<const TensorMeta*, 4> tensors;
  for (const Value& operand : operands) {
    if (operand.kind == ValueKind::kTensor) tensors.push_back(operand.tensor);
  }
  if (values.size() > 1 && tensors.size() > 1) {
    if (as_kind) {
      TARE_ASSIGN_OR_RETURN(computed, ComputedDType(rc, kind, operands));
    }
    for (const TensorMeta*& tensor : tensors) {
      if (tensor->dtype == computed || tensor->shape.size() < 2 || IsDense(rc, *tensor)) continue;
      TensorMeta copy = *tensor;
      copy.strides = PreserveStrides(rc, *tensor);
      tensor = rc.NewTensor(copy);
    }
  }
  TARE_ASSIGN_OR_RETURN(const std::span<const Dim> shape, BroadcastOperands(rc, operands));
  return Value::Ints(ElementwiseStrides(rc, shape, tensors));
}

constexpr RuleFunctionRow kRows[] = {
    {"contiguous", "contiguous(shape) -> strides", "Strides of a contiguous tensor of that shape.", 1, 1,
     ContiguousFunction},
    {"format_strides", "format_strides(shape, format) -> strides", "Strides of a new tensor in a memory format.", 2, 2,
     FormatStridesFunction},
    {"like_strides", "like_strides(x, format) -> strides",
     "Strides of a new tensor like x; none and preserve keep its order of dims.", 2, 2, LikeStridesFunction},
    {"preserve", "preserve(x) -> strides", "Strides of x where it is dense, else dense ones in its order of dims.", 1,
     1, PreserveFunction},
    {"suggest", "suggest(x) -> format", "channels_last (3d) where the strides look like it, else contiguous.", 1, 1,
     SuggestFunction},
    {"elementwise", "elementwise([operand, …][, kind or dtype]) -> strides",
     "Strides elementwise ops give a result of these operands, converted first to the dtype given or promoted to.", 1,
     2, ElementwiseFunction},
    {"stretched", "stretched(x, shape) -> tensor",
     "x expanded to the shape; numbers and tensors without dims as they are.", 2, 2, StretchedFunction},
    {"is_contiguous", "is_contiguous(x, format) -> bool", "x is contiguous, in the format if one is given.", 1, 2,
     IsContiguousFunction},
};

}  // namespace

std::span<const Dim> StridesInOrder(RuleContext& rc, std::span<const Dim> shape, std::span<const int> dims) {
  const std::span<Dim> strides = rc.NewDims(shape.size());
  Dim next = kOne;
  for (size_t k = dims.size(); k-- > 0;) {
    strides[dims[k]] = next;
    next = rc.syms().Mul(next, AtLeastOne(rc, shape[dims[k]]));
  }
  return strides;
}

std::span<const Dim> ContiguousStrides(RuleContext& rc, std::span<const Dim> shape) {
  return StridesInOrder(rc, shape, IdentityOrder(shape.size()));
}

absl::StatusOr<std::span<const Dim>> FormatStrides(RuleContext& rc, std::span<const Dim> shape, MemoryFormat format) {
  const auto in_order = [&](std::span<const int> order, std::string_view name) -> absl::StatusOr<std::span<const Dim>> {
    if (shape.size() != order.size()) {
      return InvalidError("format_c1", name, " needs ", order.size(), " dims, the shape ", rc.Print(Value::Ints(shape)),
                          " has ", shape.size());
    }
    return StridesInOrder(rc, shape, order);
  };
  switch (format) {
    case MemoryFormat::kContiguous:
      return ContiguousStrides(rc, shape);
    case MemoryFormat::kChannelsLast:
      return in_order(kChannelsLastOrder, "channels_last");
    case MemoryFormat::kChannelsLast3d:
      return in_order(kChannelsLast3dOrder, "channels_last_3d");
    case MemoryFormat::kPreserve:
      break;
  }
  return InvalidError("format_c2", "there is no tensor whose memory format could be preserved");
}

absl::StatusOr<std::span<const Dim>> LikeStrides(RuleContext& rc, const TensorMeta& tensor,
                                                 std::optional<MemoryFormat> format) {
  if (!format || *format == MemoryFormat::kPreserve) return PreserveStrides(rc, tensor);
  return FormatStrides(rc, tensor.shape, *format);
}

std::span<const Dim> PreserveStrides(RuleContext& rc, const TensorMeta& tensor) {
  if (IsDense(rc, tensor)) return tensor.strides;
  const TensorMeta* one[] = {&tensor};
  return ElementwiseStrides(rc, tensor.shape, one);
}

bool IsContiguous(RuleContext& rc, const TensorMeta& tensor, MemoryFormat format) {
  switch (format) {
    case MemoryFormat::kChannelsLast:
      return tensor.shape.size() == 4 && NestedInOrder(rc, tensor.shape, tensor.strides, kChannelsLastOrder);
    case MemoryFormat::kChannelsLast3d:
      return tensor.shape.size() == 5 && NestedInOrder(rc, tensor.shape, tensor.strides, kChannelsLast3dOrder);
    default:
      break;
  }
  return HasAtMostOneElement(rc, tensor.shape) ||
         NestedInOrder(rc, tensor.shape, tensor.strides, IdentityOrder(tensor.shape.size()));
}

bool IsDense(RuleContext& rc, const TensorMeta& tensor) {
  if (HasAtMostOneElement(rc, tensor.shape)) return true;
  // Insertion sort by stride, outermost first; symbolic strides may not be comparable.
  llvm::SmallVector<int, 8> order = IdentityOrder(tensor.shape.size());
  const auto less = [&](int a, int b) {
    const Dim x = tensor.strides[a], y = tensor.strides[b];
    if (x.is_static() && y.is_static()) return x.value() < y.value();
    return !Same(rc, x, y) && NotLess(rc, y, x);
  };
  for (size_t i = 1; i < order.size(); ++i) {
    for (size_t k = i; k > 0 && less(order[k - 1], order[k]); --k) std::swap(order[k - 1], order[k]);
  }
  return NestedInOrder(rc, tensor.shape, tensor.strides, order);
}

MemoryFormat SuggestMemoryFormat(RuleContext& rc, const TensorMeta& tensor) {
  const bool is_3d = tensor.shape.size() == 5;
  if (tensor.shape.size() != 4 && !is_3d) return MemoryFormat::kContiguous;
  const std::span<const int> order = is_3d ? std::span<const int>(kChannelsLast3dOrder) : kChannelsLastOrder;
  SymStore& syms = rc.syms();
  const auto maybe_zero = [&](Dim dim) { return dim.is_static() ? dim == 0 : rc.OrTrue(syms.Eq(dim, kZero)); };
  const auto maybe_less = [&](Dim a, Dim b) {
    return a.is_static() && b.is_static() ? a.value() < b.value() : rc.OrTrue(syms.Lt(a, b));
  };
  const Dim channel_stride = tensor.strides[1];
  if (maybe_zero(channel_stride)) return MemoryFormat::kContiguous;
  Dim least = kZero;
  for (size_t k = order.size(); k-- > 0;) {
    const Dim extent = tensor.shape[order[k]], stride = tensor.strides[order[k]];
    if (maybe_zero(extent) || maybe_less(stride, least)) return MemoryFormat::kContiguous;
    // [N,C,1,1]: strides fit both formats; contiguous is meant.
    if (k == 0 && Same(rc, least, channel_stride)) return MemoryFormat::kContiguous;
    least = syms.Mul(stride, extent);
  }
  return is_3d ? MemoryFormat::kChannelsLast3d : MemoryFormat::kChannelsLast;
}

std::span<const Dim> ElementwiseStrides(RuleContext& rc, std::span<const Dim> shape,
                                        std::span<const TensorMeta* const> tensors) {
  if (shape.size() < 2) return ContiguousStrides(rc, shape);
  return StridesInOrder(rc, shape, ElementwiseOrder(rc, shape, tensors));
}

std::span<const RuleFunctionRow> LayoutFunctions() { return kRows; }

}  // namespace tare
