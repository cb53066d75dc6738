#include "eval/aten_matmul.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/contract.h"
#include "eval/convert.h"
#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "eval/movement.h"
#include "ir/status.h"

namespace tare {
namespace {

Extents ShapeOf(const Tensor& x) { return Extents(x.shape().begin(), x.shape().end()); }

absl::Status Wrong(const KernelCall& call, const Tensor& a, const Tensor& b) {
  return InvalidError("eval_c16", call.op_name(), ": ", Describe(a), " and ", Describe(b), " do not go together");
}

// What a product is computed in, and back.
DType ScalarOf(DType dtype) { return dtype == DType::kF32 ? DType::kF32 : DType::kF64; }
// Sums of narrow integers wrap.
absl::StatusOr<Tensor> Returned(const KernelCall& call, const Tensor& x, DType dtype) {
  if (!IsInteger(dtype)) return Converted(call, x, dtype);
  TARE_ASSIGN_OR_RETURN(const Tensor wide, Converted(call, x, DType::kI64));
  return Converted(call, wide, dtype);
}

absl::StatusOr<Tensor> Batched(const KernelCall& call, const Tensor& a, const Tensor& b) {
  const MatMulShape shape{a.extent(0), a.extent(1), a.extent(2), b.extent(2)};
  return VisitFloats(a.dtype(), call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
    using T = typename decltype(tag)::type;
    TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(a.dtype(), Extents{shape.batch, shape.rows, shape.columns}));
    if (shape.inner > 0 && result.size() > 0) MatMul<T>(shape, a.data<T>(), b.data<T>(), result.mutable_data<T>());
    return result;
  });
}

absl::StatusOr<Tensor> Plus(const KernelCall& call, const Tensor& a, const Tensor& b, double factor_a,
                            double factor_b) {
  TARE_ASSIGN_OR_RETURN(const Tensor x, Converted(call, b, a.dtype()));
  return VisitElements(a.dtype(), call.op_name(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T p = static_cast<T>(factor_a), q = static_cast<T>(factor_b);
    return Map2<T, T>(call, a, x, a.dtype(), [p, q](T u, T v) { return static_cast<T>(u * p + v * q); });
  });
}

template <typename F>
absl::StatusOr<Value> TwoTensors(KernelCall& call, std::string_view first, std::string_view second, F f) {
  const Tensor& a = call.tensor(first);
  const Tensor& b = call.tensor(second);
  TARE_RETURN_IF_ERROR(call.status());
  return AsValue(f(call, a, b));
}

absl::StatusOr<Value> MatMulKernel(KernelCall& call) {
  return TwoTensors(call, "self", call.given("mat2") ? "mat2" : "other", Multiplied);
}

absl::StatusOr<Value> MatVec(KernelCall& call) { return TwoTensors(call, "self", "vec", Multiplied); }
absl::StatusOr<Value> Dot(KernelCall& call) { return TwoTensors(call, "self", "tensor", Multiplied); }

// beta * self + alpha * (a x b).
absl::StatusOr<Value> AddProduct(KernelCall& call, std::string_view first, std::string_view second) {
  const Tensor& self = call.tensor("self");
  const Tensor& a = call.tensor(first);
  const Tensor& b = call.tensor(second);
  const double beta = call.real("beta"), alpha = call.real("alpha");
  TARE_RETURN_IF_ERROR(call.status());
  TARE_ASSIGN_OR_RETURN(const Tensor product, Multiplied(call, a, b));
  if (beta == 0) return AsValue(Plus(call, product, product, alpha, 0));
  return AsValue(Plus(call, product, self, alpha, beta));
}
absl::StatusOr<Value> AddMm(KernelCall& call) { return AddProduct(call, "mat1", "mat2"); }
absl::StatusOr<Value> BAddBmm(KernelCall& call) { return AddProduct(call, "batch1", "batch2"); }

absl::StatusOr<Value> LinearKernel(KernelCall& call) {
  const Tensor& x = call.tensor("input");
  const Tensor& weight = call.tensor("weight");
  const Tensor* bias = call.optional_tensor("bias");
  TARE_RETURN_IF_ERROR(call.status());
  return AsValue(Linear(call, x, weight, bias));
}

// softmax(query key^T scale + mask) value. A mask of bool takes part where it is true.
absl::StatusOr<Value> Attention(KernelCall& call) {
  const Tensor& query = call.tensor("query");
  Tensor key = call.tensor("key"), value = call.tensor("value");
  const Tensor* mask = call.optional_tensor("attn_mask");
  const bool causal = call.flag("is_causal"), grouped = call.flag("enable_gqa");
  const double dropout = call.real("dropout_p");
  TARE_RETURN_IF_ERROR(call.status());
  if (query.rank() < 2 || key.rank() < 2 || value.rank() < 2) return Wrong(call, query, key);
  if (dropout != 0) return UnimplementedError("eval_c19", call.op_name(), " with dropout is random");
  if (grouped && query.rank() == 4 && key.rank() == 4 && value.rank() == 4) {
    for (Tensor* t : {&key, &value}) {
      if (t->extent(1) == 0 || query.extent(1) % t->extent(1) != 0) return Wrong(call, query, *t);
      const int64_t repeats = query.extent(1) / t->extent(1);
      const Extents split = {t->extent(0), t->extent(1), 1, t->extent(2), t->extent(3)};
      const Extents shape = {t->extent(0), query.extent(1), t->extent(2), t->extent(3)};
      TARE_ASSIGN_OR_RETURN(const Tensor tiled, Tiled(call, t->Reshaped(split), Extents{1, 1, repeats, 1, 1}));
      TARE_ASSIGN_OR_RETURN(*t, ReshapedTo(call, tiled, shape));
    }
  }
  double scale = 1 / std::sqrt(static_cast<double>(query.extent(query.rank() - 1)));
  if (call.given("scale")) scale = call.real("scale");
  TARE_RETURN_IF_ERROR(call.status());
  Extents perms(key.rank());
  for (int i = 0; i < key.rank(); ++i) perms[i] = i;
  std::swap(perms[key.rank() - 1], perms[key.rank() - 2]);
  TARE_ASSIGN_OR_RETURN(const Tensor transposed, Permuted(call, key, perms));
  TARE_ASSIGN_OR_RETURN(const Tensor products, Multiplied(call, query, transposed));
  TARE_ASSIGN_OR_RETURN(
      const Tensor weights, VisitFloats(products.dtype(), call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
        using T = typename decltype(tag)::type;
        const T hidden = -std::numeric_limits<T>::infinity();
        TARE_ASSIGN_OR_RETURN(Tensor scores, (Map<T, T>(call, products, products.dtype(), [scale](T v) {
                                return static_cast<T>(v * static_cast<T>(scale));
                              })));
        if (mask != nullptr && mask->dtype() == DType::kBool) {
          TARE_ASSIGN_OR_RETURN(
              const Tensor bias,
              (Map<uint8_t, T>(call, *mask, scores.dtype(), [hidden](uint8_t v) { return v != 0 ? T{0} : hidden; })));
          TARE_ASSIGN_OR_RETURN(scores, Plus(call, scores, bias, 1, 1));
        } else if (mask != nullptr) {
          TARE_ASSIGN_OR_RETURN(scores, Plus(call, scores, *mask, 1, 1));
        }
        const int64_t rows = scores.extent(scores.rank() - 2), columns = scores.extent(scores.rank() - 1);
        for (int64_t row = 0; row < (columns == 0 ? 0 : scores.size() / columns); ++row) {
          T* line = scores.mutable_data<T>().data() + row * columns;
          T most = hidden;
          for (int64_t i = 0; i < columns; ++i) {
            if (causal && i > row % rows) line[i] = hidden;
            most = std::max(most, line[i]);
          }
          double sum = 0;
          for (int64_t i = 0; i < columns; ++i)
            sum += std::exp(static_cast<double>(line[i]) - static_cast<double>(most));
          for (int64_t i = 0; i < columns; ++i) {
            // A row that may see nothing gives zeros.
            line[i] = most == hidden
                          ? T{0}
                          : static_cast<T>(std::exp(static_cast<double>(line[i]) - static_cast<double>(most)) / sum);
          }
        }
        return scores;
      }));
  return AsValue(Multiplied(call, weights, value));
}

constexpr KernelRow kRows[] = {
    {"aten.addmm.default", AddMm},
    {"aten.baddbmm.default", BAddBmm},
    {"aten.bmm.default", MatMulKernel},
    {"aten.dot.default", Dot},
    {"aten.linear.default", LinearKernel},
    {"aten.matmul.default", MatMulKernel},
    {"aten.mm.default", MatMulKernel},
    {"aten.mv.default", MatVec},
    {"aten.scaled_dot_product_attention.default", Attention},
};

}  // namespace

absl::StatusOr<Tensor> Multiplied(const KernelCall& call, const Tensor& a, const Tensor& b) {
  if (a.rank() == 0 || b.rank() == 0 || a.dtype() != b.dtype()) return Wrong(call, a, b);
  Extents left = ShapeOf(a), right = ShapeOf(b);
  if (a.rank() == 1) left.insert(left.begin(), 1);
  if (b.rank() == 1) right.push_back(1);
  if (left.back() != right[right.size() - 2]) return Wrong(call, a, b);
  const std::span<const int64_t> left_batch(left.data(), left.size() - 2), right_batch(right.data(), right.size() - 2);
  TARE_ASSIGN_OR_RETURN(const Extents batch, BroadcastShape(left_batch, right_batch));
  TARE_ASSIGN_OR_RETURN(const int64_t count, CountElements(batch));
  const auto expand = [&](const Tensor& x, const Extents& shape) -> absl::StatusOr<Tensor> {
    Extents full = batch;
    full.insert(full.end(), shape.end() - 2, shape.end());
    TARE_ASSIGN_OR_RETURN(const Tensor scalars, Converted(call, x.Reshaped(shape), ScalarOf(x.dtype())));
    const Extents flat = {count, shape[shape.size() - 2], shape.back()};
    if (full == shape) return scalars.Reshaped(flat);
    TARE_ASSIGN_OR_RETURN(const Tensor expanded, Expanded(call, scalars, full));
    return expanded.Reshaped(flat);
  };
  TARE_ASSIGN_OR_RETURN(const Tensor x, expand(a, left));
  TARE_ASSIGN_OR_RETURN(const Tensor y, expand(b, right));
  TARE_ASSIGN_OR_RETURN(const Tensor product, Batched(call, x, y));
  Extents shape = batch;
  if (a.rank() > 1) shape.push_back(left[left.size() - 2]);
  if (b.rank() > 1) shape.push_back(right.back());
  return Returned(call, product.Reshaped(shape), a.dtype());
}

absl::StatusOr<Tensor> Linear(const KernelCall& call, const Tensor& x, const Tensor& weight, const Tensor* bias) {
  if (weight.rank() == 1 && x.rank() > 0) {  // one output, which is no axis
    TARE_ASSIGN_OR_RETURN(const Tensor product, Multiplied(call, x, weight));
    return bias == nullptr ? product : Plus(call, product, *bias, 1, 1);
  }
  if (x.rank() == 0 || weight.rank() != 2 || x.dtype() != weight.dtype() || x.extent(x.rank() - 1) != weight.extent(1))
    return Wrong(call, x, weight);
  const int64_t inner = weight.extent(1), columns = weight.extent(0);
  Extents shape = ShapeOf(x);
  shape.back() = columns;
  TARE_ASSIGN_OR_RETURN(const int64_t outputs, CountElements(shape));
  const DType scalar = ScalarOf(x.dtype());
  TARE_ASSIGN_OR_RETURN(const Tensor a, Converted(call, x, scalar));
  TARE_ASSIGN_OR_RETURN(const Tensor w, Converted(call, weight, scalar));
  TARE_ASSIGN_OR_RETURN(Tensor result, VisitFloats(scalar, call.op_name(), [&](auto tag) -> absl::StatusOr<Tensor> {
                          using T = typename decltype(tag)::type;
                          TARE_ASSIGN_OR_RETURN(Tensor out, call.Make(scalar, shape));
                          if (outputs == 0 || inner == 0) return out;
                          ConvShape s;  // a convolution by a window of one element
                          s.in_channels = inner;
                          s.out_channels = columns;
                          s.in[2] = s.out[2] = outputs / columns;
                          Convolve<T>(s, a.data<T>(), w.data<T>(), out.mutable_data<T>());
                          return out;
                        }));
  if (bias != nullptr) {
    if (bias->dtype() != x.dtype()) return Wrong(call, x, *bias);
    TARE_ASSIGN_OR_RETURN(result, Plus(call, result, *bias, 1, 1));
  }
  return Returned(call, result, x.dtype());
}

std::span<const KernelRow> AtenMatMulKernels() { return kRows; }

}  // namespace tare
