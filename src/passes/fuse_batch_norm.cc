#include <Eigen/Core>
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/context.h"
#include "ir/status.h"
#include "meta/op_names.h"
#include "passes/builtin_passes.h"
#include "passes/constant_values.h"

namespace tare {
namespace {

enum class ConvKind : uint8_t { kForward, kTransposed, kByFlag };
struct ConvRow {
  Op op;
  ConvKind kind;
};
constexpr ConvRow kConvs[] = {
    {op::aten_conv1d_default, ConvKind::kForward},
    {op::aten_conv1d_padding, ConvKind::kForward},
    {op::aten_conv2d_default, ConvKind::kForward},
    {op::aten_conv2d_padding, ConvKind::kForward},
    {op::aten_conv3d_default, ConvKind::kForward},
    {op::aten_conv3d_padding, ConvKind::kForward},
    {op::aten_conv_transpose1d_default, ConvKind::kTransposed},
    {op::aten_conv_transpose2d_input, ConvKind::kTransposed},
    {op::aten_conv_transpose3d_input, ConvKind::kTransposed},
    {op::aten_convolution_default, ConvKind::kByFlag},
};

constexpr Op kNorms[] = {op::aten_batch_norm_default, op::aten__native_batch_norm_legit_no_training_default};

using Values = Eigen::ArrayXd;
using Matrix = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Affine form of the norm, per channel: y = scale * x + shift.
struct Affine {
  Values scale, shift;
};

// Folds a batch norm in inference into the convolution before it.
//
//   %c = conv2d(%x, w, b);  %y = batch_norm(%c, gamma, beta, mean, var, eps)
//     =>   %c = conv2d(%x, w * s, (b - mean) * s + beta)    with s = gamma / sqrt(var + eps) per channel
//
// Computed in f64 and rounded once. The convolution may have no other user; all weights must be f32 or
// f64 constants that nothing writes. The old ones stay inputs of the program until dead-code takes them away.
class FuseBatchNorm final : public RewritePass {
 public:
  explicit FuseBatchNorm(const Context&) {}
  std::string_view name() const override { return "fuse-batch-norm"; }
  std::span<const Op> targets() const override { return kNorms; }

  absl::Status Rewrite(Node norm, Rewriter& rw) const override {
    if (norm.flag("training").value_or(false)) return absl::OkStatus();
    const Node conv = norm.arg("input");
    if (!conv.has_value() || conv.num_uses() != 1) return absl::OkStatus();
    const auto* row =
        std::find_if(std::begin(kConvs), std::end(kConvs), [&](const ConvRow& r) { return r.op == conv.op(); });
    if (row == std::end(kConvs)) return absl::OkStatus();
    const ConvKind kind = row->kind;
    const bool transposed =
        kind == ConvKind::kTransposed || (kind == ConvKind::kByFlag && conv.flag("transposed").value_or(false));
    const std::optional<std::vector<Node>> results = Results(norm);
    const Node weight = conv.arg("weight"), bias = conv.arg("bias");
    if (!results.has_value() || !weight.has_value() || !weight.is_tensor()) return absl::OkStatus();

    const Context& context = rw.context();
    const Constant* weight_constant = weight.constant();
    if (weight_constant == nullptr) return absl::OkStatus();
    const std::optional<std::vector<double>> w = ReadFloats(context, *weight_constant);
    const std::optional<Affine> affine = AffineOf(context, norm);
    if (!w.has_value() || !affine.has_value()) return absl::OkStatus();
    const TensorMeta& weight_meta = context.metas.Get(weight_constant->meta).tensor;
    const int64_t groups = conv.integer("groups").value_or(1);
    const int64_t channels = affine->scale.size();
    const std::optional<std::vector<double>> folded = Scaled(weight_meta, *w, affine->scale, transposed, groups);
    if (!folded.has_value()) return absl::OkStatus();

    Values shift = affine->shift;
    if (bias.has_value()) {
      const Constant* bias_constant = bias.constant();
      if (bias_constant == nullptr) return absl::OkStatus();
      const std::optional<std::vector<double>> b = ReadFloats(context, *bias_constant);
      if (!b.has_value() || static_cast<int64_t>(b->size()) != channels) return absl::OkStatus();
      shift += affine->scale * Eigen::Map<const Values>(b->data(), channels);
    }
    return Replace(conv, *weight_constant, weight_meta, *folded, {shift.data(), shift.data() + channels}, *results, rw);
  }

 private:
  // The values that stand for the normalised tensor; nothing when another result is used too.
  static std::optional<std::vector<Node>> Results(Node norm) {
    if (norm.is_tensor()) return std::vector<Node>{norm};
    std::vector<Node> results = norm.users();
    for (const Node user : results)
      if (user.op() != op::getitem || user.integer("index") != 0) return std::nullopt;
    return results;
  }

  static std::optional<Affine> AffineOf(const Context& context, Node norm) {
    const auto values = [&](std::string_view name) -> std::optional<Values> {
      const Node node = norm.arg(name);
      if (!node.has_value()) return Values();
      const Constant* constant = node.constant();
      if (constant == nullptr) return std::nullopt;
      const std::optional<std::vector<double>> read = ReadFloats(context, *constant);
      if (!read.has_value() || read->empty()) return std::nullopt;
      return Eigen::Map<const Values>(read->data(), static_cast<Eigen::Index>(read->size()));
    };
    const std::optional<Values> gamma = values("weight"), beta = values("bias"), mean = values("running_mean"),
                                var = values("running_var");
    const std::optional<double> eps = norm.number("eps");
    if (!gamma || !beta || !mean || !var || !eps || mean->size() == 0 || var->size() != mean->size())
      return std::nullopt;
    const Eigen::Index channels = mean->size();
    if ((gamma->size() != 0 && gamma->size() != channels) || (beta->size() != 0 && beta->size() != channels))
      return std::nullopt;
    Affine affine;
    affine.scale = (*var + *eps).rsqrt();
    if (gamma->size() != 0) affine.scale *= *gamma;
    affine.shift = -affine.scale * *mean;
    if (beta->size() != 0) affine.shift += *beta;
    if (!affine.scale.allFinite() || !affine.shift.allFinite()) return std::nullopt;
    return affine;
  }

  // Weights are [out, in / groups, …]; those of a transposed convolution [in, out / groups, …].
  static std::optional<std::vector<double>> Scaled(const TensorMeta& meta, std::vector<double> w, const Values& scale,
                                                   bool transposed, int64_t groups) {
    if (meta.shape.size() < 3 || w.empty() || groups < 1) return std::nullopt;
    const int64_t first = meta.shape[0].value(), second = meta.shape[1].value();
    const int64_t kernel = static_cast<int64_t>(w.size()) / (first * second);
    if (!transposed) {
      if (first != scale.size()) return std::nullopt;
      Eigen::Map<Matrix>(w.data(), first, second * kernel).colwise() *= scale;
      return w;
    }
    if (first % groups != 0 || second * groups != scale.size()) return std::nullopt;
    const int64_t inputs = first / groups;
    for (int64_t i = 0; i < first; ++i) {
      Eigen::Map<Matrix>(w.data() + i * second * kernel, second, kernel).colwise() *=
          scale.segment(i / inputs * second, second);
    }
    return w;
  }

  static absl::Status Replace(Node conv, const Constant& old, const TensorMeta& old_meta,
                              std::span<const double> weight, std::vector<double> bias,
                              const std::vector<Node>& results, Rewriter& rw) {
    const DType dtype = old_meta.dtype;
    const std::string name = old.name;  // adding a constant moves the others
    const std::vector<Dim> shape(old_meta.shape.begin(), old_meta.shape.end());
    absl::StatusOr<Node> new_weight =
        rw.AddConstant(absl::StrCat(name, "_normed"), Contiguous(dtype, shape).meta, FloatBytes(dtype, weight));
    if (!new_weight.ok()) return new_weight.status();
    const std::vector<Dim> bias_shape = {Dim::Static(static_cast<int64_t>(bias.size()))};
    absl::StatusOr<Node> new_bias =
        rw.AddConstant(absl::StrCat(name, "_normed_bias"), Contiguous(dtype, bias_shape).meta, FloatBytes(dtype, bias));
    if (!new_bias.ok()) return new_bias.status();
    absl::Status status = rw.Amend(conv, {{"weight", *new_weight}, {"bias", *new_bias}});
    for (size_t i = 0; i < results.size() && status.ok(); ++i) status = rw.ReplaceUses(results[i], conv);
    return status;
  }

  struct OwnedMeta {
    TensorMeta meta;
    std::vector<Dim> strides;
  };
  static OwnedMeta Contiguous(DType dtype, const std::vector<Dim>& shape) {
    OwnedMeta owned;
    owned.strides.resize(shape.size());
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      owned.strides[i] = Dim::Static(stride);
      stride *= std::max<int64_t>(shape[i].value(), 1);
    }
    owned.meta.dtype = dtype;
    owned.meta.shape = shape;
    owned.meta.strides = owned.strides;
    owned.meta.offset = Dim::Static(0);
    return owned;
  }
};

}  // namespace

absl::StatusOr<Pass> MakeFuseBatchNorm(Context& context, const PassOptions& options) {
  return MakeRewrite<FuseBatchNorm>(context, options);
}

}  // namespace tare
