#include "meta/autocast.h"

#include <algorithm>

#include "meta/functions.h"

namespace tare {
namespace {

// In order of their text.
constexpr std::string_view kLower[] = {
    "aten._addmm_activation.default",
    "aten._convolution.deprecated",
    "aten._native_multi_head_attention.default",
    "aten.addbmm.default",
    "aten.addmm.default",
    "aten.baddbmm.default",
    "aten.bmm.default",
    "aten.conv1d.default",
    "aten.conv1d.padding",
    "aten.conv2d.default",
    "aten.conv2d.padding",
    "aten.conv3d.default",
    "aten.conv3d.padding",
    "aten.conv_tbc.default",
    "aten.conv_transpose1d.default",
    "aten.conv_transpose2d.input",
    "aten.conv_transpose3d.input",
    "aten.linalg_vecdot.default",
    "aten.linear.default",
    "aten.matmul.default",
    "aten.mkldnn_rnn_layer.default",
    "aten.mm.default",
    "aten.prelu.default",
    "aten.scaled_dot_product_attention.default",
};
constexpr std::string_view kWidest[] = {
    "aten.cat.default",
    "aten.index_copy.default",
    "aten.stack.default",
};
constexpr std::string_view kF32[] = {
    "aten._grid_sampler_2d_cpu_fallback.default",
    "aten._lu_with_info.default",
    "aten.adaptive_avg_pool3d.default",
    "aten.adaptive_max_pool3d.default",
    "aten.avg_pool3d.default",
    "aten.binary_cross_entropy.default",
    "aten.binary_cross_entropy_with_logits.default",
    "aten.cdist.default",
    "aten.cholesky.default",
    "aten.cholesky_inverse.default",
    "aten.cholesky_solve.default",
    "aten.cosine_embedding_loss.default",
    "aten.cross_entropy_loss.default",
    "aten.ctc_loss.IntList",
    "aten.ctc_loss.Tensor",
    "aten.fake_quantize_per_tensor_affine.default",
    "aten.fft_fft.default",
    "aten.fft_fft2.default",
    "aten.fft_fftn.default",
    "aten.fft_hfft.default",
    "aten.fft_ifft.default",
    "aten.fft_ifft2.default",
    "aten.fft_ifftn.default",
    "aten.fft_ihfft.default",
    "aten.fft_irfft.default",
    "aten.fft_irfft2.default",
    "aten.fft_irfftn.default",
    "aten.fft_rfft.default",
    "aten.fft_rfft2.default",
    "aten.fft_rfftn.default",
    "aten.fractional_max_pool2d.default",
    "aten.fractional_max_pool3d.default",
    "aten.geqrf.default",
    "aten.grid_sampler.default",
    "aten.grid_sampler_2d.default",
    "aten.grid_sampler_3d.default",
    "aten.hinge_embedding_loss.default",
    "aten.huber_loss.default",
    "aten.inverse.default",
    "aten.kl_div.default",
    "aten.l1_loss.default",
    "aten.linalg_cholesky.default",
    "aten.linalg_cholesky_ex.default",
    "aten.linalg_cond.default",
    "aten.linalg_cond.p_str",
    "aten.linalg_eig.default",
    "aten.linalg_eigh.default",
    "aten.linalg_eigvals.default",
    "aten.linalg_eigvalsh.default",
    "aten.linalg_householder_product.default",
    "aten.linalg_inv.default",
    "aten.linalg_inv_ex.default",
    "aten.linalg_lstsq.default",
    "aten.linalg_matrix_rank.atol_rtol_float",
    "aten.linalg_matrix_rank.atol_rtol_tensor",
    "aten.linalg_matrix_rank.default",
    "aten.linalg_matrix_rank.tol_tensor",
    "aten.linalg_qr.default",
    "aten.linalg_solve.default",
    "aten.linalg_svd.default",
    "aten.linalg_svdvals.default",
    "aten.linalg_tensorinv.default",
    "aten.linalg_tensorsolve.default",
    "aten.lu_solve.default",
    "aten.margin_ranking_loss.default",
    "aten.max_pool3d.default",
    "aten.max_unpool2d.default",
    "aten.max_unpool3d.default",
    "aten.mse_loss.default",
    "aten.multi_margin_loss.default",
    "aten.multilabel_margin_loss.default",
    "aten.multilabel_margin_loss_forward.default",
    "aten.nanquantile.default",
    "aten.nanquantile.scalar",
    "aten.nll_loss.default",
    "aten.nll_loss2d.default",
    "aten.orgqr.default",
    "aten.ormqr.default",
    "aten.pinverse.default",
    "aten.poisson_nll_loss.default",
    "aten.polar.default",
    "aten.prod.default",
    "aten.prod.dim_int",
    "aten.qr.default",
    "aten.quantile.default",
    "aten.quantile.scalar",
    "aten.reflection_pad1d.default",
    "aten.reflection_pad2d.default",
    "aten.replication_pad1d.default",
    "aten.replication_pad2d.default",
    "aten.replication_pad3d.default",
    "aten.smooth_l1_loss.default",
    "aten.soft_margin_loss.default",
    "aten.stft.center",
    "aten.stft.default",
    "aten.svd.default",
    "aten.trace.default",
    "aten.triangular_solve.default",
    "aten.triplet_margin_loss.default",
    "aten.view_as_complex.default",
};

bool IsCast(const Value& value) {
  return value.kind == ValueKind::kTensor && IsFloating(value.tensor->dtype) && value.tensor->dtype != DType::kF64;
}

Value Cast(RuleContext& rc, const Value& value, DType dtype) {
  if (value.kind == ValueKind::kList) {
    const std::span<Value> items = rc.NewValues(value.items().size());
    for (size_t i = 0; i < items.size(); ++i) {
      const Value& item = value.items()[i];
      items[i] = item.kind == ValueKind::kTensor ? Cast(rc, item, dtype) : item;
    }
    return Value::List(items);
  }
  if (!IsCast(value) || value.tensor->dtype == dtype) return value;
  TensorMeta cast = *value.tensor;
  cast.dtype = dtype;
  cast.strides = PreserveStrides(rc, *value.tensor);
  cast.offset = Dim::Static(0);
  return Value::Tensor(rc.NewTensor(cast));
}

bool AnyF32(std::span<const Value> args) {
  const auto is_f32 = [](const Value& value) { return IsCast(value) && value.tensor->dtype == DType::kF32; };
  return std::ranges::any_of(args, [&](const Value& value) {
    return is_f32(value) || (value.kind == ValueKind::kList && std::ranges::any_of(value.items(), is_f32));
  });
}

}  // namespace

AutocastPolicy AutocastPolicyOf(std::string_view op_name) {
  if (std::ranges::binary_search(kLower, op_name)) return AutocastPolicy::kLower;
  if (std::ranges::binary_search(kF32, op_name)) return AutocastPolicy::kF32;
  if (std::ranges::binary_search(kWidest, op_name)) return AutocastPolicy::kWidest;
  return AutocastPolicy::kNone;
}

std::span<const Value> Autocast(RuleContext& rc, AutocastPolicy policy, DType dtype, std::span<const Value> args) {
  if (policy == AutocastPolicy::kNone) return args;
  if (policy == AutocastPolicy::kF32 || (policy == AutocastPolicy::kWidest && AnyF32(args))) dtype = DType::kF32;
  const std::span<Value> cast = rc.NewValues(args.size());
  for (size_t i = 0; i < args.size(); ++i) cast[i] = Cast(rc, args[i], dtype);
  return cast;
}

}  // namespace tare
