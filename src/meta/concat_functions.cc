// Rule functions that join tensors or repeat one.
#include <algorithm>

#include "ir/status.h"
#include "llvm/ADT/SmallVector.h"
#include "meta/functions.h"
#include "meta/rule_args.h"
#include "meta/sym_int.h"
#include "meta/view.h"

namespace tare {
namespace {

const Dim kZero = Dim::Static(0);
const Dim kOne = Dim::Static(1);

using Tensors = std::span<const TensorMeta* const>;

std::string Text(RuleContext& rc, Dim dim) { return rc.Print(Value::Int(dim)); }

// A 1-D tensor without elements joins anything.
bool JoinsAnything(RuleContext& rc, const TensorMeta& tensor) {
  return tensor.shape.size() == 1 && rc.KnownEqual(tensor.shape[0], kZero);
}

// The format all tensors look like, contiguous when they differ.
MemoryFormat CommonFormat(RuleContext& rc, Tensors tensors) {
  const MemoryFormat format = SuggestMemoryFormat(rc, *tensors[0]);
  for (const TensorMeta* tensor : tensors.subspan(1)) {
    if (SuggestMemoryFormat(rc, *tensor) != format) return MemoryFormat::kContiguous;
  }
  return format;
}

TensorOr Concatenate(RuleContext& rc, Tensors tensors, int64_t dim) {
  SymStore& syms = rc.syms();
  llvm::SmallVector<Value, 8> operands;
  const TensorMeta* model = nullptr;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorMeta& tensor = *tensors[i];
    operands.push_back(Value::Tensor(&tensor));
    if (tensor.shape.empty()) return InvalidError("cat_c1", "tensor ", i, " has no dims; use stack");
    if (model == nullptr && !JoinsAnything(rc, tensor)) model = &tensor;
  }
  if (model == nullptr) model = tensors[0];
  TARE_ASSIGN_OR_RETURN(dim, WrapDim(dim, model->shape.size()));
  TARE_ASSIGN_OR_RETURN(const DType dtype, ResultType(rc, operands));
  SymInt total(syms, int64_t{0});
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorMeta& tensor = *tensors[i];
    if (JoinsAnything(rc, tensor)) continue;
    if (tensor.shape.size() != model->shape.size()) {
      return InvalidError("cat_c2", "tensor ", i, " has rank ", tensor.shape.size(), ", the others have ",
                          model->shape.size());
    }
    for (size_t k = 0; k < tensor.shape.size(); ++k) {
      if (static_cast<int64_t>(k) == dim) continue;
      TARE_REQUIRE_EQUAL(
          rc, tensor.shape[k], model->shape[k],
          InvalidError("cat_c3", "tensor ", i, " has extent ", Text(rc, tensor.shape[k]), " in dim ", k,
                       ", the others have ", Text(rc, model->shape[k]), "; only dim ", dim, " may differ"));
    }
    total = total + tensor.shape[dim];
  }
  TensorMeta result = *model;
  result.dtype = dtype;
  result.shape = WithExtent(rc, model->shape, dim, total);
  TARE_ASSIGN_OR_RETURN(result.strides, FormatStrides(rc, result.shape, CommonFormat(rc, tensors)));
  result.offset = kZero;
  return rc.NewTensor(result);
}

absl::StatusOr<llvm::SmallVector<const TensorMeta*, 8>> ReadTensors(RuleArgs& args, std::string_view check_id) {
  auto tensors = args.Tensors(0);
  TARE_RETURN_IF_ERROR(args.status());
  if (tensors.empty()) return InvalidError(check_id, "the list of tensors is empty");
  for (const TensorMeta* tensor : tensors) {
    if (tensor == nullptr) return InvalidError(check_id, "the list of tensors has an absent entry");
  }
  return tensors;
}

absl::StatusOr<Value> Cat(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  TARE_ASSIGN_OR_RETURN(const auto tensors, ReadTensors(args, "cat_c4"));
  const int64_t dim = args.Constant(1);
  TARE_RETURN_IF_ERROR(args.status());
  TARE_ASSIGN_OR_RETURN(const TensorMeta* result, Concatenate(rc, tensors, dim));
  return Value::Tensor(result);
}

// Joins along a new dim. Where that dim is not the last, the strides are those of a concatenation
// along the next dim, seen with that dim split. Source: torch/_refs/__init__.py, stack.
absl::StatusOr<Value> Stack(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  TARE_ASSIGN_OR_RETURN(auto tensors, ReadTensors(args, "stack_c1"));
  const int64_t wanted = args.Constant(1);
  TARE_RETURN_IF_ERROR(args.status());
  const std::span<const Dim> shape = tensors[0]->shape;
  TARE_ASSIGN_OR_RETURN(const int64_t dim, WrapDim(wanted, shape.size() + 1));
  for (size_t i = 1; i < tensors.size(); ++i) {
    const std::span<const Dim> other = tensors[i]->shape;
    const auto differs = [&] {
      return InvalidError("stack_c2", "tensor ", i, " has shape ", rc.Print(Value::Ints(other)), ", the first has ",
                          rc.Print(Value::Ints(shape)), "; all must be equal");
    };
    if (other.size() != shape.size()) return differs();
    for (size_t k = 0; k < shape.size(); ++k) TARE_REQUIRE_EQUAL(rc, other[k], shape[k], differs());
  }
  if (static_cast<size_t>(dim) == shape.size()) {
    for (const TensorMeta*& tensor : tensors) {
      TARE_ASSIGN_OR_RETURN(tensor, Unsqueeze(rc, *tensor, dim));
    }
    TARE_ASSIGN_OR_RETURN(const TensorMeta* result, Concatenate(rc, tensors, dim));
    return Value::Tensor(result);
  }
  TARE_ASSIGN_OR_RETURN(const TensorMeta* joined, Concatenate(rc, tensors, dim));
  const std::span<const Dim> stacked = WithAxis(rc, shape, dim, Dim::Static(static_cast<int64_t>(tensors.size())));
  TARE_ASSIGN_OR_RETURN(const TensorMeta* result, Reshape(rc, *joined, stacked));
  return Value::Tensor(result);
}

// repeat(x, repeats) -> shape: new leading dims where repeats has more entries than x has dims.
absl::StatusOr<Value> Repeat(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const std::span<const Dim> repeats = args.Ints(1);
  TARE_RETURN_IF_ERROR(args.status());
  const size_t rank = self.shape.size();
  if (repeats.size() < rank) {
    return InvalidError("repeat_c1", "repeats ", rc.Print(Value::Ints(repeats)), " has fewer entries than the ", rank,
                        " dims of the tensor");
  }
  std::span<Dim> shape = rc.NewDims(repeats.size());
  const size_t added = repeats.size() - rank;
  for (size_t i = 0; i < repeats.size(); ++i) {
    TARE_REQUIRE(rc, rc.syms().Le(kZero, repeats[i]),
                 InvalidError("repeat_c2", "repeats ", rc.Print(Value::Ints(repeats)), " must not be negative"));
    shape[i] = i < added ? repeats[i] : rc.syms().Mul(self.shape[i - added], repeats[i]);
  }
  return Value::Ints(shape);
}

// tile(x, repeats) -> shape: as repeat, a short list stands for the last dims.
absl::StatusOr<Value> Tile(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const std::span<const Dim> repeats = args.Ints(1);
  TARE_RETURN_IF_ERROR(args.status());
  std::span<Dim> padded = rc.NewDims(std::max(repeats.size(), self.shape.size()));
  std::fill(padded.begin(), padded.end(), kOne);
  std::copy(repeats.rbegin(), repeats.rend(), padded.rbegin());
  const Value call[] = {values[0], Value::Ints(padded)};
  return Repeat(rc, call);
}

// repeat_each(x, repeats, dim, output_size) -> shape: every slice along dim `repeats` times in a row;
// without a dim of the flat tensor.
absl::StatusOr<Value> RepeatEach(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const Dim repeats = args.Int(1);
  const bool has_dim = !args.IsNone(2);
  const int64_t wanted = has_dim ? args.Constant(2) : 0;
  const std::optional<Dim> output_size = args.MaybeInt(3);
  TARE_RETURN_IF_ERROR(args.status());
  SymStore& syms = rc.syms();
  std::span<const Dim> shape = self.shape;
  if (!has_dim || shape.empty()) {
    TARE_RETURN_IF_ERROR(WrapDim(wanted, 1).status());
    std::span<Dim> flat = rc.NewDims(1);
    flat[0] = Numel(rc, self.shape);
    shape = flat;
  }
  TARE_ASSIGN_OR_RETURN(const int64_t dim, WrapDim(wanted, shape.size()));
  TARE_REQUIRE(rc, syms.Le(kZero, repeats), InvalidError("repeat_each_c1", "repeats must not be negative"));
  const Dim length = syms.Mul(shape[dim], repeats);
  if (output_size.has_value()) {
    TARE_REQUIRE_EQUAL(rc, *output_size, length,
                       InvalidError("repeat_each_c2", "output_size is ", Text(rc, *output_size), ", the result has ",
                                    Text(rc, length)));
  }
  return Value::Ints(WithExtent(rc, shape, dim, length));
}

constexpr RuleFunctionRow kRows[] = {
    {"cat", "cat(tensors, dim) -> tensor", "Tensors joined along dim; channels last is kept where all have it.", 2, 2,
     Cat},
    {"stack", "stack(tensors, dim) -> tensor", "Tensors of one shape joined along a new dim.", 2, 2, Stack},
    {"repeat", "repeat(x, repeats) -> shape", "Shape of x repeated along every dim.", 2, 2, Repeat},
    {"tile", "tile(x, repeats) -> shape", "As repeat; a short list stands for the last dims.", 2, 2, Tile},
    {"repeat_each", "repeat_each(x, repeats, dim, output_size) -> shape",
     "Shape of x with every slice along dim repeated in a row.", 4, 4, RepeatEach},
};

}  // namespace

std::span<const RuleFunctionRow> ConcatFunctions() { return kRows; }

}  // namespace tare
