// Metadata: what is known of a value without its elements.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ir/dim.h"
#include "ir/dtype.h"
#include "ir/ids.h"

namespace tare {

enum class MetaKind : uint8_t {
  kTensor,
  kTuple,   // several results: items
  kList,    // Tensor[]: items
  kInt,     // scalar int: value
  kFloat,   // scalar float: expr
  kBool,    // scalar bool: expr
  kString,  // a constant string input or output: text
  kNone,    // nothing is returned, or an absent result
  kToken,   // effect token
  kObject,  // an opaque custom object; text is its class name
};

// Storage layouts of torch; only strided tensors have meaningful strides.
enum class Layout : uint8_t { kStrided, kSparseCoo, kSparseCsr, kSparseCsc, kSparseBsr, kSparseBsc, kMkldnn };
enum class DeviceType : uint8_t { kCpu, kCuda, kMeta, kOther };
struct Device {
  DeviceType type = DeviceType::kCpu;
  int8_t index = -1;  // -1 = not stated
  friend constexpr bool operator==(Device, Device) = default;
};

// A dense view of a storage: element (i0, i1, …) lives at offset + sum(i_k * stride_k) elements.
// Strides of dims of size 1 and of tensors without elements carry no meaning; they are kept as
// found, since later rules may look at them, and are ignored by SameMeta.
struct TensorMeta {
  DType dtype = DType::kF32;
  Layout layout = Layout::kStrided;
  Device device;
  std::span<const Dim> shape;
  std::span<const Dim> strides;  // same length as shape
  Dim offset;                    // elements
};

// One interned record. Spans point into the store and live as long as it.
struct Meta {
  MetaKind kind = MetaKind::kNone;
  TensorMeta tensor;              // kTensor
  std::span<const MetaId> items;  // kTuple, kList
  Dim value;                      // kInt
  ExprId expr;                    // kFloat, kBool
  std::string_view text;          // kString, kObject
};

inline constexpr int kMaxRank = 64;                      // torch's own limit
inline constexpr int64_t kMaxElements = INT64_MAX / 16;  // of one tensor

}  // namespace tare
