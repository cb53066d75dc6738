// Rule functions of convolutions.
#include "ir/status.h"
#include "meta/functions.h"
#include "meta/rule_args.h"
#include "meta/sym_int.h"
#include "meta/view.h"
#include "meta/window.h"

namespace tare {
namespace {

TensorOr Convolve(RuleContext& rc, const TensorMeta& input, const TensorMeta& weight, const TensorMeta* bias,
                  const ConvParams& params) {
  TARE_ASSIGN_OR_RETURN(const std::span<const Dim> shape, ConvShape(rc, input, weight, bias, params));
  TARE_ASSIGN_OR_RETURN(const std::span<const Dim> strides, ConvStrides(rc, input, weight, params, shape));
  return Restrided(rc, input, shape, strides, Dim::Static(0));
}

absl::StatusOr<ConvParams> Params(RuleContext& rc, size_t n, std::span<const Dim> stride, std::span<const Dim> padding,
                                  std::span<const Dim> dilation, bool transposed, std::span<const Dim> output_padding) {
  ConvParams params;
  params.transposed = transposed;
  TARE_ASSIGN_OR_RETURN(params.stride, ForEachDim(rc, "stride", stride, n));
  TARE_ASSIGN_OR_RETURN(params.padding, ForEachDim(rc, "padding", padding, n));
  TARE_ASSIGN_OR_RETURN(params.dilation, ForEachDim(rc, "dilation", dilation, n));
  const PerDim none(n, Dim::Static(0));
  TARE_ASSIGN_OR_RETURN(params.output_padding, ForEachDim(rc, "output_padding", output_padding, n,
                                                          transposed ? std::span<const Dim>() : none));
  return params;
}

// convolve(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
absl::StatusOr<Value> ConvolveFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& input = args.Tensor(0);
  const TensorMeta& weight = args.Tensor(1);
  const TensorMeta* bias = args.MaybeTensor(2);
  const std::span<const Dim> stride = args.Ints(3), padding = args.Ints(4), dilation = args.Ints(5);
  const bool transposed = args.Flag(6);
  const std::span<const Dim> output_padding = args.Ints(7);
  const Dim groups = args.Int(8);
  TARE_RETURN_IF_ERROR(args.status());
  if (weight.shape.size() < 3)
    return InvalidError("conv_c15", "weight has rank ", weight.shape.size(), ", needs 3 or more");
  TARE_ASSIGN_OR_RETURN(ConvParams params,
                        Params(rc, weight.shape.size() - 2, stride, padding, dilation, transposed, output_padding));
  params.groups = groups;
  TARE_ASSIGN_OR_RETURN(const TensorMeta* result, Convolve(rc, input, weight, bias, params));
  return Value::Tensor(result);
}

// conv(n, input, weight, bias, stride, padding, dilation, transposed, output_padding, groups): also
// without a batch, and with the paddings "same" and "valid".
absl::StatusOr<Value> ConvFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const size_t n = static_cast<size_t>(args.Constant(0));
  const TensorMeta* input = &args.Tensor(1);
  const TensorMeta& weight = args.Tensor(2);
  const TensorMeta* bias = args.MaybeTensor(3);
  const std::span<const Dim> stride = args.Ints(4);
  const bool named = args.Any(5).kind == ValueKind::kString;
  const std::string_view padding_name = named ? args.Text(5) : std::string_view();
  const std::span<const Dim> padding = named ? std::span<const Dim>() : args.Ints(5);
  const std::span<const Dim> dilation = args.Ints(6);
  const bool transposed = args.Flag(7);
  const std::span<const Dim> output_padding = args.Ints(8);
  const Dim groups = args.Int(9);
  TARE_RETURN_IF_ERROR(args.status());
  SymStore& syms = rc.syms();
  if (weight.shape.size() != n + 2) {
    return InvalidError("conv_c15", "weight has rank ", weight.shape.size(), ", needs ", n + 2);
  }
  const bool batched = input->shape.size() == n + 2;
  if (!batched && input->shape.size() != n + 1) {
    return InvalidError("conv_c16", "input has rank ", input->shape.size(), ", needs ", n + 1, " or ", n + 2);
  }
  if (!batched) {
    TARE_ASSIGN_OR_RETURN(input, Unsqueeze(rc, *input, 0));
  }
  const PerDim none(n, Dim::Static(0));
  TARE_ASSIGN_OR_RETURN(ConvParams params, Params(rc, n, stride, named ? std::span<const Dim>(none) : padding, dilation,
                                                  transposed, output_padding));
  params.groups = groups;
  params.same_bias = !named && !transposed;
  if (named && padding_name != "same" && padding_name != "valid") {
    return InvalidError("conv_c17", "padding '", padding_name, "' is unknown; use 'same', 'valid' or numbers");
  }
  const std::span<const Dim> extents = input->shape.subspan(2);
  if (padding_name == "same") {
    std::span<Dim> padded = rc.NewDims(n + 2);
    std::copy(input->shape.begin(), input->shape.end(), padded.begin());
    bool uneven = false;
    for (size_t i = 0; i < n; ++i) {
      TARE_REQUIRE_EQUAL(rc, params.stride[i], Dim::Static(1),
                         InvalidError("conv_c18", "padding 'same' needs stride 1; pad explicitly"));
      TARE_RETURN_IF_ERROR(RequireNotNegative(rc, "dilation", params.dilation));
      const SymInt total = SymInt(syms, params.dilation[i]) * (SymInt(syms, weight.shape[i + 2]) - 1);
      params.padding[i] = FloorDiv(total, Dim::Static(2));
      TARE_ASSIGN_OR_RETURN(const bool even, rc.Equal(Mod(total, Dim::Static(2)), Dim::Static(0)));
      if (even) continue;
      uneven = true;
      padded[i + 2] = SymInt(syms, padded[i + 2]) + 1;
    }
    if (uneven) {
      TARE_ASSIGN_OR_RETURN(const std::span<const Dim> strides,
                            FormatStrides(rc, padded, SuggestMemoryFormat(rc, *input)));
      input = Restrided(rc, *input, padded, strides, Dim::Static(0));
    }
  }
  TARE_ASSIGN_OR_RETURN(const TensorMeta* result, Convolve(rc, *input, weight, bias, params));
  if (padding_name == "same" && !std::ranges::equal(result->shape.subspan(2), extents)) {
    // Equal by the guards on parity, which quotients of symbols do not show.
    const std::span<Dim> shape = rc.NewDims(n + 2);
    std::ranges::copy(result->shape.first(2), shape.begin());
    std::ranges::copy(extents, shape.begin() + 2);
    TARE_ASSIGN_OR_RETURN(const std::span<const Dim> strides,
                          FormatStrides(rc, shape, SuggestMemoryFormat(rc, *result)));
    result = Restrided(rc, *result, shape, strides, Dim::Static(0));
  }
  if (batched) return Value::Tensor(result);
  return Value::Tensor(Restrided(rc, *result, result->shape.subspan(1), result->strides.subspan(1), result->offset));
}

// convolve_backward(grad, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups,
// mask): gradients of input, weight and bias; none where the mask says so.
absl::StatusOr<Value> ConvolveBackward(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& grad = args.Tensor(0);
  const TensorMeta& input = args.Tensor(1);
  const TensorMeta& weight = args.Tensor(2);
  const std::span<const Dim> bias_sizes = args.Ints(3);
  const std::span<const Dim> stride = args.Ints(4), padding = args.Ints(5), dilation = args.Ints(6);
  const bool transposed = args.Flag(7);
  const std::span<const Dim> output_padding = args.Ints(8);
  const Dim groups = args.Int(9);
  RuleArgs mask(rc, args.Any(10).items());
  TARE_RETURN_IF_ERROR(args.status());
  if (weight.shape.size() < 3) {
    return InvalidError("conv_c15", "weight has rank ", weight.shape.size(), ", needs 3 or more");
  }
  TARE_ASSIGN_OR_RETURN(ConvParams params,
                        Params(rc, weight.shape.size() - 2, stride, padding, dilation, transposed, output_padding));
  params.groups = groups;
  if (CategoryOf(weight.dtype) < CategoryOf(input.dtype) && CategoryOf(weight.dtype) < DTypeCategory::kFloating) {
    return InvalidError("conv_backward_c4", "weight is ", Name(weight.dtype), ", input ", Name(input.dtype));
  }
  TARE_RETURN_IF_ERROR(RequirePositive(rc, "dilation", params.dilation));
  TensorMeta same_type = weight;
  same_type.dtype = input.dtype;
  TARE_ASSIGN_OR_RETURN(const std::span<const Dim> shape, ConvShape(rc, input, same_type, nullptr, params));
  if (grad.dtype != input.dtype) {
    return InvalidError("conv_backward_c1", "grad_output is ", Name(grad.dtype), ", input ", Name(input.dtype));
  }
  // Only a mismatch that is certain is refused, as symbolic extents are not compared by the exporter.
  bool fits = grad.shape.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) fits = !rc.Known(rc.syms().Ne(grad.shape[i], shape[i]));
  if (!fits) {
    return InvalidError("conv_backward_c2", "grad_output has shape ", rc.Print(Value::Ints(grad.shape)),
                        ", the convolution gives ", rc.Print(Value::Ints(shape)));
  }
  TARE_ASSIGN_OR_RETURN(const MemoryFormat format, ConvFormat(rc, input, weight, params));
  std::span<Value> results = rc.NewValues(3);
  const std::span<const Dim> shapes[] = {input.shape, weight.shape, bias_sizes};
  for (size_t i = 0; i < 3; ++i) {
    if (!mask.Flag(i)) continue;
    if (i == 2 && args.IsNone(3))
      return InvalidError("conv_backward_c3", "bias_sizes is missing; the mask asks for it");
    TARE_ASSIGN_OR_RETURN(const std::span<const Dim> strides,
                          FormatStrides(rc, shapes[i], i == 2 ? MemoryFormat::kContiguous : format));
    results[i] = Value::Tensor(Restrided(rc, grad, shapes[i], strides, Dim::Static(0)));
  }
  TARE_RETURN_IF_ERROR(mask.status());
  return Value::Tuple(results);
}

constexpr RuleFunctionRow kRows[] = {
    {"convolve_backward",
     "convolve_backward(grad, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, "
     "groups, "
     "mask) -> tuple",
     "Gradients of a convolution's input, weight and bias, none where the mask is false.", 11, 11, ConvolveBackward},
    {"convolve",
     "convolve(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups) -> tensor",
     "Convolution of a batch; the number of spatial dims follows from the weight.", 9, 9, ConvolveFunction},
    {"conv", "conv(n, input, weight, bias, stride, padding, dilation, transposed, output_padding, groups) -> tensor",
     "Convolution over n dims, with or without a batch; padding may be 'same' or 'valid'.", 10, 10, ConvFunction},
};

}  // namespace

std::span<const RuleFunctionRow> WindowFunctions() { return kRows; }

}  // namespace tare
