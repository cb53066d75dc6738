#include "meta/window.h"

#include <algorithm>

#include "ir/status.h"
#include "meta/functions.h"
#include "meta/rule_args.h"
#include "meta/sym_int.h"
#include "meta/view.h"

namespace tare {
namespace {

const Dim kZero = Dim::Static(0);
const Dim kOne = Dim::Static(1);

std::string Text(RuleContext& rc, Dim dim) { return rc.Print(Value::Int(dim)); }

// Whether oneDNN takes the convolution rather than the plain kernels.
absl::StatusOr<bool> UsesOneDnn(RuleContext& rc, const TensorMeta& input, const TensorMeta& weight,
                                const ConvParams& params) {
  if (params.transposed) {
    for (size_t i = 0; i < params.stride.size(); ++i) {
      TARE_ASSIGN_OR_RETURN(const bool small, rc.Less(params.output_padding[i], params.stride[i]));
      if (!small) return false;
    }
  }
  if (input.dtype == DType::kBF16) return true;
  if (input.dtype != DType::kF32) return false;
  TARE_ASSIGN_OR_RETURN(const bool grouped, rc.Less(kOne, params.groups));
  if (grouped) return true;
  const size_t rank = weight.shape.size();
  if (rank > 3) {
    TARE_ASSIGN_OR_RETURN(const bool wide, rc.Less(Dim::Static(3), weight.shape[rank - 1]));
    TARE_ASSIGN_OR_RETURN(const bool high, rc.Less(Dim::Static(3), weight.shape[rank - 2]));
    if (wide && high) return true;
  }
  TARE_ASSIGN_OR_RETURN(const bool batch, rc.Less(kOne, input.shape[0]));
  if (batch) return true;
  return rc.Less(Dim::Static(20480), Numel(rc, input.shape.first(std::min<size_t>(rank, 4))));
}

// Dilations are positive; only oneDNN takes 0, a transposed kernel only where it has one element.
absl::Status RequireDilation(RuleContext& rc, const TensorMeta& input, const TensorMeta& weight,
                             const ConvParams& params) {
  PerDim strict;
  for (size_t i = 0; i < params.dilation.size(); ++i) {
    const bool lenient = params.dilation[i] == 0 && (!params.transposed || weight.shape[i + 2] == 1);
    if (!lenient) strict.push_back(params.dilation[i]);
  }
  if (strict.size() < params.dilation.size()) {
    TARE_ASSIGN_OR_RETURN(const bool one_dnn, UsesOneDnn(rc, input, weight, params));
    if (!one_dnn) strict = params.dilation;
  }
  return RequirePositive(rc, "dilation", strict);
}

}  // namespace

absl::StatusOr<PerDim> ForEachDim(RuleContext& rc, std::string_view name, std::span<const Dim> values, size_t n,
                                  std::span<const Dim> otherwise) {
  if (values.empty() && !otherwise.empty()) return PerDim(otherwise.begin(), otherwise.end());
  if (values.size() == n) return PerDim(values.begin(), values.end());
  if (values.size() == 1) return PerDim(n, values[0]);
  return InvalidError("window_c1", name, " ", rc.Print(Value::Ints(values)), " needs 1 or ", n, " entries");
}

absl::Status RequirePositive(RuleContext& rc, std::string_view name, std::span<const Dim> values) {
  for (Dim value : values) {
    TARE_REQUIRE(rc, rc.syms().Lt(kZero, value),
                 InvalidError("window_c2", name, " ", rc.Print(Value::Ints(values)), " must be at least 1 everywhere"));
  }
  return absl::OkStatus();
}

absl::Status RequireNotNegative(RuleContext& rc, std::string_view name, std::span<const Dim> values) {
  for (Dim value : values) {
    TARE_REQUIRE(rc, rc.syms().Le(kZero, value),
                 InvalidError("window_c2", name, " ", rc.Print(Value::Ints(values)), " must not be negative"));
  }
  return absl::OkStatus();
}

absl::Status RequireSpatial(RuleContext& rc, const TensorMeta& tensor, size_t n) {
  const size_t rank = tensor.shape.size();
  if (rank != n + 1 && rank != n + 2) {
    return InvalidError("window_c3", "the tensor has rank ", rank, ", needs ", n + 1, " or ", n + 2);
  }
  for (size_t i = rank == n + 2 ? 1 : 0; i < rank; ++i) {
    TARE_REQUIRE(rc, rc.syms().Ne(tensor.shape[i], kZero),
                 InvalidError("window_c4", "dim ", i, " of ", rc.Print(Value::Ints(tensor.shape)),
                              " has no elements; only the batch may be empty"));
  }
  return absl::OkStatus();
}

Dim ConvExtent(RuleContext& rc, Dim in, Dim kernel, Dim stride, Dim pad, Dim dilation) {
  SymStore& syms = rc.syms();
  const SymInt reach = SymInt(syms, dilation) * (SymInt(syms, kernel) - 1);
  return FloorDiv(SymInt(syms, in) + SymInt(syms, pad) * 2 - reach - 1, stride) + 1;
}

Dim ConvTransposeExtent(RuleContext& rc, Dim in, Dim kernel, Dim stride, Dim pad, Dim dilation, Dim output_pad) {
  SymStore& syms = rc.syms();
  const SymInt reach = SymInt(syms, dilation) * (SymInt(syms, kernel) - 1);
  return (SymInt(syms, in) - 1) * stride - SymInt(syms, pad) * 2 + reach + output_pad + 1;
}

absl::StatusOr<Dim> PoolExtent(RuleContext& rc, Dim in, Dim kernel, Dim stride, Dim before, Dim after, Dim dilation,
                               Rounding rounding) {
  SymStore& syms = rc.syms();
  const SymInt reach = SymInt(syms, dilation) * (SymInt(syms, kernel) - 1);
  SymInt room = SymInt(syms, in) + before + after - reach - 1;
  if (rounding == Rounding::kFloor) return FloorDiv(room, stride) + 1;
  SymInt out = FloorDiv(room + (SymInt(syms, stride) - 1), stride) + 1;
  TARE_ASSIGN_OR_RETURN(const bool starts_inside, rc.Less((out - 1) * stride, SymInt(syms, in) + before));
  return starts_inside ? out : out - 1;
}

namespace {
// oneDNN converts a bias of another dtype; ordinary kernels refuse it.
bool ConvertsBias(const TensorMeta& input, const ConvParams& params) {
  const bool one_dnn = input.dtype == DType::kF32 || input.dtype == DType::kF16 || input.dtype == DType::kBF16;
  return one_dnn && !params.same_bias && !(params.transposed && input.shape.size() == 5);
}
}  // namespace

absl::StatusOr<std::span<const Dim>> ConvShape(RuleContext& rc, const TensorMeta& input, const TensorMeta& weight,
                                               const TensorMeta* bias, const ConvParams& params) {
  SymStore& syms = rc.syms();
  const size_t rank = weight.shape.size();
  if (input.shape.size() != rank) {
    return InvalidError("conv_c1", "input has rank ", input.shape.size(), ", weight has ", rank, "; they must agree");
  }
  if (input.dtype != weight.dtype || (bias != nullptr && bias->dtype != input.dtype && !ConvertsBias(input, params))) {
    return InvalidError("conv_c2", "input is ", Name(input.dtype), ", weight ", Name(weight.dtype),
                        bias == nullptr ? "" : ", bias ", bias == nullptr ? "" : Name(bias->dtype),
                        "; cast one of them");
  }
  TARE_REQUIRE(rc, syms.Lt(kZero, params.groups), InvalidError("conv_c3", "groups must be at least 1"));
  TARE_RETURN_IF_ERROR(RequirePositive(rc, "stride", params.stride));
  // What the kernels refuse only when they run.
  const bool runs = !rc.KnownEqual(input.shape[0], kZero) && !rc.KnownEqual(input.shape[1], kZero);
  if (runs) TARE_RETURN_IF_ERROR(RequireDilation(rc, input, weight, params));
  TARE_RETURN_IF_ERROR(RequireNotNegative(rc, "padding", params.padding));
  TARE_RETURN_IF_ERROR(RequireNotNegative(rc, "output_padding", params.output_padding));
  const SymInt rows(syms, weight.shape[0]), columns(syms, weight.shape[1]);
  TARE_REQUIRE(rc, syms.Le(params.groups, rows),
               InvalidError("conv_c4", "weight has ", Text(rc, rows), " filters for ", Text(rc, params.groups),
                            " groups; it needs at least one each"));
  TARE_REQUIRE_EQUAL(
      rc, Mod(rows, params.groups), kZero,
      InvalidError("conv_c5", Text(rc, rows), " filters cannot be shared out to ", Text(rc, params.groups), " groups"));
  const SymInt in_channels = params.transposed ? rows : columns * params.groups;
  const SymInt out_channels = params.transposed ? columns * params.groups : rows;
  TARE_REQUIRE_EQUAL(rc, input.shape[1], in_channels,
                     InvalidError("conv_c6", "input has ", Text(rc, input.shape[1]), " channels, weight ",
                                  rc.Print(Value::Ints(weight.shape)), " with ", Text(rc, params.groups),
                                  " groups needs ", Text(rc, in_channels)));
  if (bias != nullptr) {
    if (bias->shape.size() != 1) return InvalidError("conv_c7", "bias has rank ", bias->shape.size(), ", needs 1");
    TARE_REQUIRE_EQUAL(rc, bias->shape[0], out_channels,
                       InvalidError("conv_c8", "bias has ", Text(rc, bias->shape[0]), " entries for ",
                                    Text(rc, out_channels), " output channels"));
  }
  std::span<Dim> shape = rc.NewDims(rank);
  shape[0] = input.shape[0];
  shape[1] = rc.KnownEqual(input.shape[1], kZero) ? kZero : Dim(out_channels);
  for (size_t i = 0; i + 2 < rank; ++i) {
    const Dim in = input.shape[i + 2], kernel = weight.shape[i + 2];
    const SymInt reach = SymInt(syms, params.dilation[i]) * (SymInt(syms, kernel) - 1) + 1;
    if (!reach.dim().is_valid()) return InvalidError("conv_c9", "the dilated kernel of dim ", i + 2, " overflows");
    TARE_REQUIRE(rc, syms.Lt(kZero, kernel), InvalidError("conv_c10", "the kernel has no elements along dim ", i + 2));
    if (params.transposed) {
      const SymInt stride(syms, params.stride[i]);
      if (runs)
        TARE_REQUIRE(rc, syms.Lt(params.output_padding[i], Max(stride, params.dilation[i])),
                     InvalidError("conv_c11", "output_padding ", Text(rc, params.output_padding[i]),
                                  " must be below stride or dilation of dim ", i + 2));
      shape[i + 2] =
          ConvTransposeExtent(rc, in, kernel, stride, params.padding[i], params.dilation[i], params.output_padding[i]);
    } else {
      const SymInt padded = SymInt(syms, in) + SymInt(syms, params.padding[i]) * 2;
      TARE_REQUIRE(rc, syms.Le(reach, padded),
                   InvalidError("conv_c12", "the kernel reaches over ", Text(rc, reach), " elements of dim ", i + 2,
                                ", the padded input has ", Text(rc, padded), "; add padding or lower dilation"));
      shape[i + 2] = ConvExtent(rc, in, kernel, params.stride[i], params.padding[i], params.dilation[i]);
    }
    TARE_REQUIRE(rc, syms.Lt(kZero, shape[i + 2]),
                 InvalidError("conv_c13", "dim ", i + 2, " of the result would have extent ", Text(rc, shape[i + 2])));
    TARE_REQUIRE(rc, syms.Ne(in, kZero),
                 InvalidError("conv_c14", "dim ", i + 2, " of the input has no elements; only batch and channels may"));
  }
  return std::span<const Dim>(shape);
}

absl::StatusOr<std::span<const Dim>> ConvStrides(RuleContext& rc, const TensorMeta& input, const TensorMeta& weight,
                                                 const ConvParams& params, std::span<const Dim> shape) {
  if (weight.shape.size() != 3) {
    TARE_ASSIGN_OR_RETURN(const MemoryFormat format, ConvFormat(rc, input, weight, params));
    return FormatStrides(rc, shape, format);
  }
  // As an image of one row; the input is made contiguous before.
  const TensorMeta* dense =
      IsContiguous(rc, input, MemoryFormat::kContiguous) ? &input : rc.Contiguous(input.dtype, input.shape);
  TARE_ASSIGN_OR_RETURN(const TensorMeta* image, Unsqueeze(rc, *dense, 2));
  TARE_ASSIGN_OR_RETURN(const TensorMeta* kernel, Unsqueeze(rc, weight, 2));
  TARE_ASSIGN_OR_RETURN(const MemoryFormat format, ConvFormat(rc, *image, *kernel, params));
  if (format == MemoryFormat::kContiguous) return FormatStrides(rc, shape, format);
  const Dim rows[] = {shape[0], shape[1], Dim::Static(1), shape[2]};
  TARE_ASSIGN_OR_RETURN(const std::span<const Dim> strides, FormatStrides(rc, rows, format));
  const std::span<Dim> flat = rc.NewDims(3);
  flat[0] = strides[0];
  flat[1] = strides[1];
  flat[2] = strides[3];
  return std::span<const Dim>(flat);
}

absl::StatusOr<MemoryFormat> ConvFormat(RuleContext& rc, const TensorMeta& input, const TensorMeta& weight,
                                        const ConvParams& params) {
  const MemoryFormat of_input = SuggestMemoryFormat(rc, input), of_weight = SuggestMemoryFormat(rc, weight);
  const MemoryFormat format = of_input != MemoryFormat::kContiguous ? of_input : of_weight;
  if (format != MemoryFormat::kChannelsLast3d) return format;
  TARE_ASSIGN_OR_RETURN(const bool one_dnn, UsesOneDnn(rc, input, weight, params));
  return one_dnn ? format : MemoryFormat::kContiguous;
}

}  // namespace tare
