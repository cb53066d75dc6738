#include "tools/tensor_io.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "eval/half.h"
#include "eval/quantize.h"
#include "formats/npy/npy.h"
#include "ir/status.h"

namespace tare {
namespace {

absl::StatusOr<Tensor> AsF32(const Tensor& tensor) {
  const Value value(tensor);
  TARE_ASSIGN_OR_RETURN(const std::vector<Value> wide, WidenHalves(std::span(&value, 1), nullptr));
  return wide[0].tensor;
}

template <typename T>
double At(const Tensor& tensor, int64_t index) {
  return static_cast<double>(tensor.data<T>()[index]);
}

}  // namespace

double ElementAsReal(const Tensor& tensor, int64_t index) {
  switch (tensor.dtype()) {
    case DType::kBool:
    case DType::kU8:
      return At<uint8_t>(tensor, index);
    case DType::kI4:
    case DType::kI8:
      return At<int8_t>(tensor, index);
    case DType::kI16:
      return At<int16_t>(tensor, index);
    case DType::kU16:
      return At<uint16_t>(tensor, index);
    case DType::kI32:
      return At<int32_t>(tensor, index);
    case DType::kU32:
      return At<uint32_t>(tensor, index);
    case DType::kI48:
    case DType::kI64:
    case DType::kShape:
      return At<int64_t>(tensor, index);
    case DType::kU64:
      return At<uint64_t>(tensor, index);
    case DType::kF32:
      return At<float>(tensor, index);
    case DType::kF64:
      return At<double>(tensor, index);
    case DType::kC64:
      return At<float>(tensor, 2 * index);
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

absl::StatusOr<Tensor> ReadTensor(std::string_view path) {
  TARE_ASSIGN_OR_RETURN(const NpyArray array, ReadNpyFile(path));
  TARE_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Make(array.dtype, array.shape, nullptr));
  if (!array.bytes.empty()) std::memcpy(tensor.mutable_bytes().data(), array.bytes.data(), array.bytes.size());
  return tensor;
}

absl::Status WriteTensor(const Tensor& tensor, std::string_view path) {
  Tensor plain = tensor;
  if (tensor.dtype() == DType::kI48 || tensor.dtype() == DType::kShape) plain = tensor.Viewed(DType::kI64);
  if (tensor.dtype() == DType::kI4) plain = tensor.Viewed(DType::kI8);
  if (tensor.dtype() == DType::kBF16) {
    TARE_ASSIGN_OR_RETURN(plain, AsF32(tensor));
  }
  NpyArray array;
  array.dtype = plain.dtype();
  array.shape.assign(plain.shape().begin(), plain.shape().end());
  array.bytes.assign(plain.bytes().begin(), plain.bytes().end());
  return WriteNpyFile(array, path);
}

absl::StatusOr<Tensor> AsStated(const Tensor& tensor, const Meta& meta) {
  if (meta.kind != MetaKind::kTensor) return tensor;
  const DType stated = meta.tensor.dtype;
  if (tensor.dtype() == DType::kI64 && (stated == DType::kI48 || stated == DType::kShape)) return tensor.Viewed(stated);
  if (tensor.dtype() == DType::kI8 && stated == DType::kI4) return tensor.Viewed(stated);
  if (tensor.dtype() == DType::kU16 && stated == DType::kBF16) return tensor.Viewed(stated);
  if (tensor.dtype() == DType::kI64 && stated == DType::kI32) {
    TARE_ASSIGN_OR_RETURN(Tensor narrow, Tensor::Make(stated, tensor.shape(), nullptr));
    for (int64_t i = 0; i < tensor.size(); ++i) {
      const int64_t value = tensor.data<int64_t>()[i];
      if (value < INT32_MIN || value > INT32_MAX)
        return InvalidError("run_c4", "element ", i, " is ", value, ", which does not fit i32");
      narrow.mutable_data<int32_t>()[i] = static_cast<int32_t>(value);
    }
    return narrow;
  }
  return tensor;
}

absl::StatusOr<Tensor> Quantize(const Tensor& tensor, const QuantParams& params) {
  if (tensor.dtype() != DType::kF32) return InvalidError("run_c1", "only f32 is quantised, not ", Describe(tensor));
  if (params.scales.size() != 1 || params.zero_points.size() != 1 || params.qmin > params.qmax)
    return UnimplementedError("run_c2", "inputs and outputs quantised per channel are not supported");
  TARE_ASSIGN_OR_RETURN(Tensor result, Tensor::Make(params.storage, tensor.shape(), nullptr));
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const int64_t q =
        QuantizeElement(tensor.data<float>()[i], params.scales[0], params.zero_points[0], params.qmin, params.qmax);
    std::memcpy(result.mutable_bytes().data() + i * ElementBytes(params.storage), &q, ElementBytes(params.storage));
  }
  return result;
}

absl::StatusOr<Tensor> Dequantize(const Tensor& tensor, const QuantParams& params) {
  if (!IsInteger(tensor.dtype())) return InvalidError("run_c1", Describe(tensor), " is not quantised");
  if (params.scales.size() != 1 || params.zero_points.size() != 1)
    return UnimplementedError("run_c2", "inputs and outputs quantised per channel are not supported");
  TARE_ASSIGN_OR_RETURN(Tensor result, Tensor::Make(DType::kF32, tensor.shape(), nullptr));
  for (int64_t i = 0; i < tensor.size(); ++i) {
    result.mutable_data<float>()[i] =
        DequantizeElement(static_cast<int64_t>(ElementAsReal(tensor, i)), params.scales[0], params.zero_points[0]);
  }
  return result;
}

Difference Compare(const Tensor& got, const Tensor& want, double tolerance) {
  Difference d;
  d.elements = want.size();
  d.same_type = got.dtype() == want.dtype() && std::ranges::equal(got.shape(), want.shape());
  if (!std::ranges::equal(got.shape(), want.shape())) return d;
  for (int64_t i = 0; i < want.size(); ++i) {
    const double a = ElementAsReal(got, i), b = ElementAsReal(want, i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    double distance = std::abs(a - b);
    if (std::isnan(distance)) distance = std::numeric_limits<double>::infinity();
    ++d.differing;
    d.more_than_one += distance > 1 ? 1 : 0;
    d.beyond += !(distance <= tolerance * std::max(1.0, std::abs(b))) ? 1 : 0;
    d.max_abs = std::max(d.max_abs, distance);
    if (b != 0) d.max_rel = std::max(d.max_rel, distance / std::abs(b));
  }
  return d;
}

}  // namespace tare
