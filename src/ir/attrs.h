// Arguments of a node: constants by value, tensors and symbolic scalars by operand index.
//
// A node `aten.cat.default([%a, %b], dim=1)` has operands {a, b} and the argument list
//   { tensors = [$0, $1], dim = 1 }
// where $k is the k-th operand; operands come in the order of their first use, usually one per use.
// Normal form for an op with a schema: entries in schema order, entries equal to the schema's default
// left out, numbers of the kind the schema says, a list of constant ints always kInts. Normal forms
// are interned: equal lists have one AttrsId.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ir/dtype.h"
#include "ir/ids.h"
#include "ir/meta.h"

namespace tare {

enum class AttrKind : uint8_t {
  kNone,
  kBool,
  kInt,
  kFloat,
  kComplex,
  kString,
  kDType,
  kMemoryFormat,
  kLayout,
  kDevice,
  kInts,      // list of constant ints
  kList,      // any other list; items
  kDict,      // string -> value; items hold key, value, key, value …
  kOperand,   // $index
  kGraph,     // body of a higher-order op
  kOperator,  // an op given as an argument; text is its target
};

inline constexpr int kMaxOperands = UINT16_MAX;  // of one node; readers refuse more
inline constexpr int kMaxAttrDepth = 32;         // nesting of lists and dicts; readers refuse more

enum class MemoryFormat : uint8_t { kContiguous, kChannelsLast, kChannelsLast3d, kPreserve };

struct AttrValue {
  AttrKind kind = AttrKind::kNone;
  union {
    bool flag;
    int64_t integer;
    double real;
    DType dtype;
    MemoryFormat memory_format;
    Layout layout;
    Device device;
    uint32_t operand;
    GraphId graph;
    struct {
      double re, im;
    } complex;
    struct {
      const char* data;
      size_t size;
    } text_;
    struct {
      const int64_t* data;
      size_t size;
    } ints_;
    struct {
      const AttrValue* data;
      size_t size;
    } items_;
  };
  AttrValue() : integer(0) {}

  static AttrValue None() { return {}; }
  static AttrValue Bool(bool v) {
    AttrValue a;
    a.kind = AttrKind::kBool;
    a.flag = v;
    return a;
  }
  static AttrValue Int(int64_t v) {
    AttrValue a;
    a.kind = AttrKind::kInt;
    a.integer = v;
    return a;
  }
  static AttrValue Float(double v) {
    AttrValue a;
    a.kind = AttrKind::kFloat;
    a.real = v;
    return a;
  }
  static AttrValue Complex(double re, double im) {
    AttrValue a;
    a.kind = AttrKind::kComplex;
    a.complex = {re, im};
    return a;
  }
  static AttrValue String(std::string_view v) {
    AttrValue a;
    a.kind = AttrKind::kString;
    a.text_ = {v.data(), v.size()};
    return a;
  }
  static AttrValue Operator(std::string_view v) {
    AttrValue a = String(v);
    a.kind = AttrKind::kOperator;
    return a;
  }
  static AttrValue OfDType(DType v) {
    AttrValue a;
    a.kind = AttrKind::kDType;
    a.integer = 0;
    a.dtype = v;
    return a;
  }
  static AttrValue OfMemoryFormat(MemoryFormat v) {
    AttrValue a;
    a.kind = AttrKind::kMemoryFormat;
    a.memory_format = v;
    return a;
  }
  static AttrValue OfLayout(Layout v) {
    AttrValue a;
    a.kind = AttrKind::kLayout;
    a.layout = v;
    return a;
  }
  static AttrValue OfDevice(Device v) {
    AttrValue a;
    a.kind = AttrKind::kDevice;
    a.device = v;
    return a;
  }
  static AttrValue Operand(uint32_t i) {
    AttrValue a;
    a.kind = AttrKind::kOperand;
    a.operand = i;
    return a;
  }
  static AttrValue OfGraph(GraphId v) {
    AttrValue a;
    a.kind = AttrKind::kGraph;
    a.graph = v;
    return a;
  }
  static AttrValue Ints(std::span<const int64_t> v) {
    AttrValue a;
    a.kind = AttrKind::kInts;
    a.ints_ = {v.data(), v.size()};
    return a;
  }
  // Use MakeList (stores.h) so that lists of constant ints become kInts.
  static AttrValue List(std::span<const AttrValue> v) {
    AttrValue a;
    a.kind = AttrKind::kList;
    a.items_ = {v.data(), v.size()};
    return a;
  }
  static AttrValue Dict(std::span<const AttrValue> v) {
    AttrValue a = List(v);
    a.kind = AttrKind::kDict;
    return a;
  }

  std::string_view text() const { return {text_.data, text_.size}; }
  std::span<const int64_t> ints() const { return {ints_.data, ints_.size}; }
  std::span<const AttrValue> items() const { return {items_.data, items_.size}; }
  bool is_none() const { return kind == AttrKind::kNone; }
};
static_assert(sizeof(AttrValue) == 24);
// Structural equality; floats by bit pattern, so NaN equals itself and -0.0 differs from 0.0.
bool operator==(const AttrValue& a, const AttrValue& b);

// One argument. For an op with a schema `name` is the schema's; positional arguments of
// higher-order ops have the name "".
struct NamedAttr {
  std::string_view name;
  AttrValue value;
  bool keyword = false;  // only for ops without a schema: how the file passed it
};

}  // namespace tare
