// Loops of elementwise kernels: functions of one, two or three elements over broadcast shapes.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "eval/call.h"
#include "eval/strided.h"
#include "eval/tensor.h"
#include "ir/status.h"

namespace tare {

template <typename T>
struct TypeTag {
  using type = T;
};

// Calls visit(TypeTag<T>{}) with the type elements of `dtype` have in memory: uint8_t for bool. `visit` returns
// a StatusOr<Tensor>. Errors: Unimplemented [eval_c13] complex, 8-bit floats, opaque dtypes.
template <typename Visit>
absl::StatusOr<Tensor> VisitElements(DType dtype, std::string_view op, Visit visit) {
  switch (dtype) {
    case DType::kBool:
    case DType::kU8:
      return visit(TypeTag<uint8_t>{});
    case DType::kI4:
    case DType::kI8:
      return visit(TypeTag<int8_t>{});
    case DType::kI16:
      return visit(TypeTag<int16_t>{});
    case DType::kU16:
      return visit(TypeTag<uint16_t>{});
    case DType::kI32:
      return visit(TypeTag<int32_t>{});
    case DType::kU32:
      return visit(TypeTag<uint32_t>{});
    case DType::kI48:
    case DType::kI64:
    case DType::kShape:
      return visit(TypeTag<int64_t>{});
    case DType::kU64:
      return visit(TypeTag<uint64_t>{});
    case DType::kF32:
      return visit(TypeTag<float>{});
    case DType::kF64:
      return visit(TypeTag<double>{});
    default:
      return UnimplementedError("eval_c13", op, " on ", Name(dtype), " cannot be evaluated");
  }
}

inline absl::StatusOr<Value> AsValue(absl::StatusOr<Tensor> tensor) {
  if (!tensor.ok()) return std::move(tensor).status();
  return Value(*std::move(tensor));
}

// The same for f32 and f64 alone.
template <typename Visit>
absl::StatusOr<Tensor> VisitFloats(DType dtype, std::string_view op, Visit visit) {
  if (dtype == DType::kF32) return visit(TypeTag<float>{});
  if (dtype == DType::kF64) return visit(TypeTag<double>{});
  return UnimplementedError("eval_c13", op, " on ", Name(dtype), " cannot be evaluated");
}

template <typename In, typename Out, typename F>
absl::StatusOr<Tensor> Map(const KernelCall& call, const Tensor& x, DType dtype, F f) {
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(dtype, x.shape()));
  const In* in = x.data<In>().data();
  Out* out = result.mutable_data<Out>().data();
  for (int64_t i = 0, n = x.size(); i < n; ++i) out[i] = f(in[i]);
  return result;
}

template <typename In, typename Out, typename F>
absl::StatusOr<Tensor> Map2(const KernelCall& call, const Tensor& x, const Tensor& y, DType dtype, F f) {
  TARE_ASSIGN_OR_RETURN(const Extents shape, BroadcastShape(x.shape(), y.shape()));
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(dtype, shape));
  const In* a = x.data<In>().data();
  const In* b = y.data<In>().data();
  Out* out = result.mutable_data<Out>().data();
  ForEachRun<3>(shape,
                {BroadcastStrides(x.shape(), shape), BroadcastStrides(y.shape(), shape), ContiguousStrides(shape)}, {},
                [&](const Run<3>& run) {
                  const In* p = a + run.at[0];
                  const In* q = b + run.at[1];
                  Out* to = out + run.at[2];
                  if (run.step[0] == 1 && run.step[1] == 1) {
                    for (int64_t i = 0; i < run.count; ++i) to[i] = f(p[i], q[i]);
                  } else if (run.step[1] == 0) {
                    const In second = *q;
                    for (int64_t i = 0; i < run.count; ++i) to[i] = f(p[i * run.step[0]], second);
                  } else {
                    for (int64_t i = 0; i < run.count; ++i) to[i] = f(p[i * run.step[0]], q[i * run.step[1]]);
                  }
                });
  return result;
}

// `condition` holds bytes of 0 or 1.
template <typename T>
absl::StatusOr<Tensor> SelectElements(const KernelCall& call, const Tensor& condition, const Tensor& x,
                                      const Tensor& y) {
  TARE_ASSIGN_OR_RETURN(const Extents both, BroadcastShape(x.shape(), y.shape()));
  TARE_ASSIGN_OR_RETURN(const Extents shape, BroadcastShape(condition.shape(), both));
  TARE_ASSIGN_OR_RETURN(Tensor result, call.Make(x.dtype(), shape));
  const uint8_t* c = condition.data<uint8_t>().data();
  const T* a = x.data<T>().data();
  const T* b = y.data<T>().data();
  T* out = result.mutable_data<T>().data();
  ForEachRun<4>(shape,
                {BroadcastStrides(condition.shape(), shape), BroadcastStrides(x.shape(), shape),
                 BroadcastStrides(y.shape(), shape), ContiguousStrides(shape)},
                {}, [&](const Run<4>& run) {
                  for (int64_t i = 0; i < run.count; ++i) {
                    out[run.at[3] + i * run.step[3]] = c[run.at[0] + i * run.step[0]] != 0
                                                           ? a[run.at[1] + i * run.step[1]]
                                                           : b[run.at[2] + i * run.step[2]];
                  }
                });
  return result;
}

}  // namespace tare
