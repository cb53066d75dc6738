// ATen's convolutions, computed channels last. Source: torch/_meta_registrations.py for extents.
#include <algorithm>
#include <numeric>

#include "eval/contract.h"
#include "eval/convert.h"
#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "eval/movement.h"
#include "ir/status.h"

namespace tare {
namespace {

constexpr int64_t kMaxStep = int64_t{1} << 31;

// The arguments of a call, one value per spatial axis.
struct ConvArgs {
  std::vector<int64_t> stride, dilation, before, after, output_padding;
  bool transposed = false;
  int64_t groups = 1;
};

std::vector<int64_t> PerAxis(KernelCall& call, std::string_view name, size_t spatial) {
  std::vector<int64_t> values = call.ints(name);
  if (values.size() == 1) values.resize(spatial, values[0]);
  if (values.size() != spatial)
    call.Fail(InvalidError("eval_c16", call.op_name(), ": ", name, " needs ", spatial, " values"));
  values.resize(spatial);
  return values;
}

// [N, C, spatial…] to [N, spatial…, C], and back; a weight of a transposed convolution swaps its first two axes first.
absl::StatusOr<Tensor> ChannelsLast(const KernelCall& call, const Tensor& x) {
  Extents perms = {0};
  for (int i = 2; i < x.rank(); ++i) perms.push_back(i);
  perms.push_back(1);
  return Permuted(call, x, perms);
}
absl::StatusOr<Tensor> ChannelsSecond(const KernelCall& call, const Tensor& x) {
  Extents perms = {0, x.rank() - 1};
  for (int i = 1; i + 1 < x.rank(); ++i) perms.push_back(i);
  return Permuted(call, x, perms);
}

// [in, out / groups, spatial…] to [out, in / groups, spatial…].
absl::StatusOr<Tensor> ForwardWeight(const KernelCall& call, const Tensor& weight, int64_t groups) {
  Extents split(weight.shape().begin(), weight.shape().end());
  split[0] /= groups;
  split.insert(split.begin(), groups);
  Extents perms(split.size());
  std::iota(perms.begin(), perms.end(), 0);
  std::swap(perms[1], perms[2]);
  TARE_ASSIGN_OR_RETURN(const Tensor swapped, Permuted(call, weight.Reshaped(split), perms));
  Extents shape(weight.shape().begin(), weight.shape().end());
  std::swap(shape[0], shape[1]);
  shape[0] *= groups;
  shape[1] /= groups;
  return swapped.Reshaped(shape);
}

absl::StatusOr<ConvShape> ShapeOf(const KernelCall& call, const Tensor& x, const Tensor& weight, const ConvArgs& args) {
  const auto wrong = [&] {
    return InvalidError("eval_c16", call.op_name(), ": ", Describe(x), " and ", Describe(weight),
                        " do not go together");
  };
  const int spatial = x.rank() - 2;
  if (spatial < 1 || spatial > 3 || weight.rank() != x.rank() || args.groups < 1) return wrong();
  ConvShape s;
  s.batch = x.extent(0);
  s.groups = args.groups;
  s.in_channels = x.extent(1);
  s.out_channels = args.transposed ? weight.extent(1) * args.groups : weight.extent(0);
  const int64_t taken = args.transposed ? weight.extent(0) : weight.extent(1) * args.groups;
  if (taken != s.in_channels || s.in_channels % s.groups != 0 || s.out_channels % s.groups != 0) return wrong();
  for (int i = 0; i < spatial; ++i) {
    const int to = 3 - spatial + i;
    s.in[to] = x.extent(2 + i);
    s.kernel[to] = weight.extent(2 + i);
    s.stride[to] = args.stride[i];
    s.dilation[to] = args.dilation[i];
    for (const int64_t v : {s.stride[to], s.dilation[to], s.kernel[to], s.in[to]}) {
      if (v < 1 || v > kMaxStep) return wrong();
    }
    if (std::max(args.before[i], args.after[i]) > kMaxStep || std::min(args.before[i], args.after[i]) < -kMaxStep)
      return wrong();
    const int64_t reach = (s.kernel[to] - 1) * s.dilation[to] + 1;
    if (args.transposed) {
      s.before[to] = -args.before[i];
      s.out[to] = (s.in[to] - 1) * s.stride[to] - args.before[i] - args.after[i] + reach + args.output_padding[i];
    } else {
      s.before[to] = args.before[i];
      const int64_t span = s.in[to] + args.before[i] + args.after[i] - reach;
      if (span < 0) return wrong();
      s.out[to] = span / s.stride[to] + 1;
    }
    if (s.out[to] < 1) return wrong();
  }
  return s;
}

absl::StatusOr<Value> Convolved(KernelCall& call, const Tensor& input, const Tensor& weight, const Tensor* bias,
                                const ConvArgs& args, bool batched) {
  Tensor x = input;
  if (!batched) {
    Extents shape(input.shape().begin(), input.shape().end());
    shape.insert(shape.begin(), 1);
    x = input.Reshaped(shape);
  }
  if (x.dtype() != weight.dtype()) return InvalidError("eval_c14", call.op_name(), ": dtypes differ");
  TARE_ASSIGN_OR_RETURN(const ConvShape s, ShapeOf(call, x, weight, args));
  TARE_ASSIGN_OR_RETURN(const Tensor last, ChannelsLast(call, x));
  Tensor w = weight;
  if (args.transposed) {
    TARE_ASSIGN_OR_RETURN(w, ForwardWeight(call, weight, args.groups));
  }
  const bool depthwise = !args.transposed && s.groups > 1 && s.groups == s.in_channels;
  if (depthwise) {
    // [out, 1, spatial…] to [spatial…, out].
    TARE_ASSIGN_OR_RETURN(w, Permuted(call, w.Reshaped(Extents{s.out_channels, Product(s.kernel)}), Extents{1, 0}));
  } else {
    TARE_ASSIGN_OR_RETURN(w, ChannelsLast(call, w));
  }
  Extents shape = {s.batch};
  for (int i = 5 - x.rank(); i < 3; ++i) shape.push_back(s.out[i]);
  shape.push_back(s.out_channels);
  TARE_ASSIGN_OR_RETURN(
      Tensor sums, VisitFloats(x.dtype(), call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
        using T = typename decltype(tag)::type;
        TARE_ASSIGN_OR_RETURN(Tensor out, call.Make(x.dtype(), shape));
        const auto run = args.transposed ? ConvolveTransposed<T> : depthwise ? ConvolveDepthwise<T> : Convolve<T>;
        run(s, last.data<T>(), w.data<T>(), out.mutable_data<T>());
        if (bias == nullptr) return out;
        if (bias->dtype() != x.dtype() || bias->size() != s.out_channels)
          return InvalidError("eval_c16", call.op_name(), ": bias is ", Describe(*bias));
        return Map2<T, T>(call, out, *bias, x.dtype(), [](T a, T b) { return a + b; });
      }));
  TARE_ASSIGN_OR_RETURN(Tensor result, ChannelsSecond(call, sums));
  if (!batched) result = result.Reshaped(result.shape().subspan(1));
  return Value(std::move(result));
}

// Padding of a string: "valid" is none, "same" keeps the extent, the odd element after.
void NamedPadding(KernelCall& call, const Tensor& weight, size_t spatial, ConvArgs& args) {
  const std::string_view name = call.text("padding");
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t total = name == "same" ? args.dilation[i] * (weight.extent(static_cast<int>(i) + 2) - 1) : 0;
    args.before.push_back(total / 2);
    args.after.push_back(total - total / 2);
  }
  if (name != "same" && name != "valid") call.Fail(InvalidError("eval_c16", call.op_name(), ": padding is ", name));
}

enum class Form : uint8_t { kForward, kNamedPadding, kTransposed, kByFlag };

template <Form kForm>
absl::StatusOr<Value> Conv(KernelCall& call) {
  const Tensor& input = call.tensor("input");
  const Tensor& weight = call.tensor("weight");
  const Tensor* bias = call.optional_tensor("bias");
  TARE_RETURN_IF_ERROR(call.status());
  const bool batched = input.rank() == weight.rank();
  if (weight.rank() < 3 || (!batched && input.rank() + 1 != weight.rank()))
    return InvalidError("eval_c16", call.op_name(), ": ", Describe(input), " and ", Describe(weight),
                        " do not go together");
  const size_t spatial = weight.shape().size() - 2;
  ConvArgs args;
  args.stride = PerAxis(call, "stride", spatial);
  args.dilation = PerAxis(call, "dilation", spatial);
  args.groups = call.integer("groups");
  args.transposed = kForm == Form::kTransposed || (kForm == Form::kByFlag && call.flag("transposed"));
  args.output_padding = args.transposed ? PerAxis(call, "output_padding", spatial) : std::vector<int64_t>(spatial, 0);
  if constexpr (kForm == Form::kNamedPadding) {
    NamedPadding(call, weight, spatial, args);
  } else {
    args.before = args.after = PerAxis(call, "padding", spatial);
  }
  TARE_RETURN_IF_ERROR(call.status());
  return Convolved(call, input, weight, bias, args, batched);
}

constexpr KernelRow kRows[] = {
    {"aten._convolution.default", Conv<Form::kByFlag>},
    {"aten._convolution.deprecated", Conv<Form::kByFlag>},
    {"aten.conv1d.default", Conv<Form::kForward>},
    {"aten.conv1d.padding", Conv<Form::kNamedPadding>},
    {"aten.conv2d.default", Conv<Form::kForward>},
    {"aten.conv2d.padding", Conv<Form::kNamedPadding>},
    {"aten.conv3d.default", Conv<Form::kForward>},
    {"aten.conv3d.padding", Conv<Form::kNamedPadding>},
    {"aten.conv_transpose1d.default", Conv<Form::kTransposed>},
    {"aten.conv_transpose2d.input", Conv<Form::kTransposed>},
    {"aten.conv_transpose3d.input", Conv<Form::kTransposed>},
    {"aten.convolution.default", Conv<Form::kByFlag>},
};

}  // namespace

std::span<const KernelRow> AtenConvKernels() { return kRows; }

}  // namespace tare
