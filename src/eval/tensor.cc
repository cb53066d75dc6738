#include "eval/tensor.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "absl/strings/str_join.h"
#include "ir/meta.h"
#include "ir/status.h"

namespace tare {

int ElementBytes(DType dtype) {
  switch (dtype) {
    case DType::kShape:
      return 8;
    default:
      return BytesOf(dtype);
  }
}

absl::StatusOr<int64_t> CountElements(std::span<const int64_t> shape) {
  int64_t count = 1;
  bool empty = false;
  for (const int64_t extent : shape) {
    if (extent < 0) return InvalidError("eval_c1", "extent ", extent, " is negative");
    empty |= extent == 0;
    if (__builtin_mul_overflow(count, std::max<int64_t>(extent, 1), &count) || count > kMaxElements)
      return InvalidError("eval_c1", "a shape of [", absl::StrJoin(shape, ","), "] has too many elements");
  }
  return empty ? 0 : count;
}

absl::StatusOr<Tensor> Tensor::Make(DType dtype, std::span<const int64_t> shape,
                                    const std::shared_ptr<MemoryBudget>& budget) {
  const int64_t element_bytes = ElementBytes(dtype);
  if (element_bytes == 0) return UnimplementedError("eval_c2", "elements of ", Name(dtype), " cannot be evaluated");
  TARE_ASSIGN_OR_RETURN(const int64_t count, CountElements(shape));
  const auto exhausted = [&] {
    return CheckError(absl::StatusCode::kResourceExhausted, "eval_c3",
                      Cat(Name(dtype), "[", absl::StrJoin(shape, ","), "] does not fit the memory limit of ",
                          budget == nullptr ? INT64_MAX : budget->limit_bytes(), " bytes"));
  };
  int64_t bytes;
  if (__builtin_mul_overflow(count, element_bytes, &bytes)) return exhausted();
  if (budget != nullptr && !budget->Take(bytes)) return exhausted();
  auto* const memory = static_cast<std::byte*>(std::calloc(std::max<int64_t>(bytes, 1), 1));
  if (memory == nullptr) {
    if (budget != nullptr) budget->Return(bytes);
    return exhausted();
  }
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.shape_.assign(shape.begin(), shape.end());
  tensor.size_ = count;
  tensor.bytes_ = std::shared_ptr<std::byte[]>(memory, [budget, bytes](std::byte* p) {
    std::free(p);
    if (budget != nullptr) budget->Return(bytes);
  });
  return tensor;
}

Tensor Tensor::Reshaped(std::span<const int64_t> shape) const {
  const absl::StatusOr<int64_t> count = CountElements(shape);
  TARE_CHECK(count.ok() && *count == size_);
  Tensor view = *this;
  view.shape_.assign(shape.begin(), shape.end());
  return view;
}

Tensor Tensor::Viewed(DType dtype) const {
  TARE_CHECK(ElementBytes(dtype) == ElementBytes(dtype_));
  Tensor view = *this;
  view.dtype_ = dtype;
  return view;
}

std::string Describe(const Tensor& tensor) {
  return Cat(Name(tensor.dtype()), "[", absl::StrJoin(tensor.shape(), ","), "]");
}

}  // namespace tare
