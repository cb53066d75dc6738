// Elements of one tensor, and what a node computes: a tensor, a list, a number or nothing.
//
// Row-major without gaps, native byte order. bool is one byte of 0 or 1; int4 is one per byte; int48 and
// shape are int64. A tensor is a value: copies share the elements, which never change once it is
// returned from the kernel that made it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/dtype.h"

namespace tare {

// Bytes that tensors may take together. Not thread-safe: one evaluation has one.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  bool Take(int64_t bytes) {
    if (bytes > limit_bytes_ - live_bytes_) return false;
    live_bytes_ += bytes;
    if (live_bytes_ > peak_bytes_) peak_bytes_ = live_bytes_;
    return true;
  }
  void Return(int64_t bytes) { live_bytes_ -= bytes; }
  int64_t limit_bytes() const { return limit_bytes_; }
  int64_t live_bytes() const { return live_bytes_; }
  int64_t peak_bytes() const { return peak_bytes_; }

 private:
  int64_t limit_bytes_, live_bytes_ = 0, peak_bytes_ = 0;
};

// Bytes of one element as kept here; 0 for dtypes that cannot be evaluated.
int ElementBytes(DType dtype);

// Elements of a shape. Errors: InvalidArgument [eval_c1] a negative extent or more than kMaxElements.
absl::StatusOr<int64_t> CountElements(std::span<const int64_t> shape);

class Tensor {
 public:
  Tensor() = default;  // f32 without elements, of shape [0]

  // Zero-filled. Errors: Unimplemented [eval_c2] a dtype without storage; ResourceExhausted [eval_c3] the
  // budget is used up; those of CountElements. `budget` may be null.
  static absl::StatusOr<Tensor> Make(DType dtype, std::span<const int64_t> shape,
                                     const std::shared_ptr<MemoryBudget>& budget);

  DType dtype() const { return dtype_; }
  std::span<const int64_t> shape() const { return shape_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  int64_t extent(int axis) const { return shape_[axis]; }
  int64_t size() const { return size_; }  // elements
  int64_t size_bytes() const { return size_ * ElementBytes(dtype_); }

  template <typename T>
  std::span<const T> data() const {
    return {reinterpret_cast<const T*>(bytes_.get()), static_cast<size_t>(size_)};
  }
  std::span<const std::byte> bytes() const { return {bytes_.get(), static_cast<size_t>(size_bytes())}; }
  std::shared_ptr<const void> owner() const { return bytes_; }  // of the bytes
  // Only for the maker, before the tensor is given away.
  template <typename T>
  std::span<T> mutable_data() {
    return {reinterpret_cast<T*>(bytes_.get()), static_cast<size_t>(size_)};
  }
  std::span<std::byte> mutable_bytes() { return {bytes_.get(), static_cast<size_t>(size_bytes())}; }

  // The same elements under another shape of as many; or read as another dtype of as many bytes.
  Tensor Reshaped(std::span<const int64_t> shape) const;
  Tensor Viewed(DType dtype) const;

 private:
  DType dtype_ = DType::kF32;
  std::vector<int64_t> shape_ = {0};
  int64_t size_ = 0;
  std::shared_ptr<std::byte[]> bytes_;
};

// `f32[2,3]`.
std::string Describe(const Tensor& tensor);

// The rules of src/meta have a Value of their own; the names must differ for the linker.
inline namespace evaluation {

enum class ValueKind : uint8_t { kNone, kTensor, kList, kInt, kFloat, kBool };

struct Value {
  ValueKind kind = ValueKind::kNone;
  Tensor tensor;             // kTensor
  std::vector<Value> items;  // kList: several results, Tensor[], a shape
  int64_t integer = 0;       // kInt, kBool
  double real = 0;           // kFloat

  Value() = default;
  Value(Tensor t) : kind(ValueKind::kTensor), tensor(std::move(t)) {}
  static Value List(std::vector<Value> items) {
    Value v;
    v.kind = ValueKind::kList;
    v.items = std::move(items);
    return v;
  }
  static Value Int(int64_t integer) {
    Value v;
    v.kind = ValueKind::kInt;
    v.integer = integer;
    return v;
  }
  static Value Float(double real) {
    Value v;
    v.kind = ValueKind::kFloat;
    v.real = real;
    return v;
  }
  static Value Bool(bool flag) {
    Value v = Int(flag ? 1 : 0);
    v.kind = ValueKind::kBool;
    return v;
  }
};

}  // namespace evaluation

}  // namespace tare
