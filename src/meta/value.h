// Values of the rule language: what an expression of a row evaluates to.
//
// Small, trivially copyable, passed by value; lists and tensors point into the arena of the
// evaluation and are valid until it ends. The Inferrer interns what a rule returns.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ir/attrs.h"
#include "ir/dim.h"
#include "ir/dtype.h"
#include "ir/meta.h"

namespace tare {

enum class ValueKind : uint8_t {
  kNone,
  kBool,          // flag
  kSymBool,       // expr: a boolean that depends on symbols
  kInt,           // dim: a constant or symbolic integer
  kFloat,         // real
  kSymFloat,      // expr
  kComplex,       // complex numbers matter to rules only by their kind
  kString,        // text
  kDType,         // dtype
  kMemoryFormat,  // memory_format
  kLayout,        // layout
  kDevice,        // device
  kTensor,        // tensor
  kInts,          // dims: list of integers (shapes, strides, int[] arguments)
  kList,          // items: any other list; also a tuple of results
  kTuple,         // items: several results
  kGraph,         // graph
};

struct Value {
  ValueKind kind = ValueKind::kNone;
  union {
    bool flag;
    ExprId expr;
    Dim dim;
    double real;
    DType dtype;
    MemoryFormat memory_format;
    Layout layout;
    Device device;
    const TensorMeta* tensor;
    GraphId graph;
    struct {
      const char* data;
      size_t size;
    } text_;
    struct {
      const Dim* data;
      size_t size;
    } dims_;
    struct {
      const Value* data;
      size_t size;
    } items_;
  };
  Value() : text_{nullptr, 0} {}

  static Value None() { return {}; }
  static Value Bool(bool v) {
    Value r;
    r.kind = ValueKind::kBool;
    r.flag = v;
    return r;
  }
  static Value SymBool(ExprId v) {
    Value r;
    r.kind = ValueKind::kSymBool;
    r.expr = v;
    return r;
  }
  static Value Int(Dim v) {
    Value r;
    r.kind = ValueKind::kInt;
    r.dim = v;
    return r;
  }
  static Value Float(double v) {
    Value r;
    r.kind = ValueKind::kFloat;
    r.real = v;
    return r;
  }
  static Value SymFloat(ExprId v) {
    Value r;
    r.kind = ValueKind::kSymFloat;
    r.expr = v;
    return r;
  }
  static Value Complex() {
    Value r;
    r.kind = ValueKind::kComplex;
    return r;
  }
  static Value String(std::string_view v) {
    Value r;
    r.kind = ValueKind::kString;
    r.text_ = {v.data(), v.size()};
    return r;
  }
  static Value OfDType(DType v) {
    Value r;
    r.kind = ValueKind::kDType;
    r.dtype = v;
    return r;
  }
  static Value OfMemoryFormat(MemoryFormat v) {
    Value r;
    r.kind = ValueKind::kMemoryFormat;
    r.memory_format = v;
    return r;
  }
  static Value OfLayout(Layout v) {
    Value r;
    r.kind = ValueKind::kLayout;
    r.layout = v;
    return r;
  }
  static Value OfDevice(Device v) {
    Value r;
    r.kind = ValueKind::kDevice;
    r.device = v;
    return r;
  }
  static Value Tensor(const TensorMeta* v) {
    Value r;
    r.kind = ValueKind::kTensor;
    r.tensor = v;
    return r;
  }
  static Value Ints(std::span<const Dim> v) {
    Value r;
    r.kind = ValueKind::kInts;
    r.dims_ = {v.data(), v.size()};
    return r;
  }
  static Value List(std::span<const Value> v) {
    Value r;
    r.kind = ValueKind::kList;
    r.items_ = {v.data(), v.size()};
    return r;
  }
  static Value Tuple(std::span<const Value> v) {
    Value r = List(v);
    r.kind = ValueKind::kTuple;
    return r;
  }
  static Value OfGraph(GraphId v) {
    Value r;
    r.kind = ValueKind::kGraph;
    r.graph = v;
    return r;
  }

  bool is_none() const { return kind == ValueKind::kNone; }
  std::string_view text() const { return {text_.data, text_.size}; }
  std::span<const Dim> dims() const { return {dims_.data, dims_.size}; }
  std::span<const Value> items() const { return {items_.data, items_.size}; }
};
static_assert(sizeof(Value) == 24);

}  // namespace tare
