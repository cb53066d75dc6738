#include "meta/bind.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/status.h"
#include "meta/rule_operators.h"

namespace tare {
namespace {

constexpr int kMaxNesting = 16;  // of lists in arguments and results

Value OfMeta(RuleContext& rc, const Meta& meta, int depth) {
  const SymStore& syms = rc.syms();
  switch (meta.kind) {
    case MetaKind::kTensor:
      return Value::Tensor(&meta.tensor);
    case MetaKind::kInt:
      return Value::Int(meta.value);
    case MetaKind::kFloat:
      if (!meta.expr.has_value() || syms.kind(meta.expr) != ExprKind::kFloatConst) return Value::SymFloat(meta.expr);
      return Value::Float(syms.float_value(meta.expr));
    case MetaKind::kBool:
      return BoolOf(rc, meta.expr);
    case MetaKind::kString:
    case MetaKind::kObject:
      return Value::String(meta.text);
    case MetaKind::kTuple:
    case MetaKind::kList: {
      if (depth > kMaxNesting) return Value::None();
      const std::span<Value> items = rc.NewValues(meta.items.size());
      for (size_t i = 0; i < items.size(); ++i) items[i] = OfMeta(rc, rc.context().metas.Get(meta.items[i]), depth + 1);
      if (meta.kind == MetaKind::kTuple) return Value::Tuple(items);
      return items.empty() ? Value::List(items) : MakeList(rc, items);
    }
    case MetaKind::kNone:
    case MetaKind::kToken:
      return Value::None();
  }
  return Value::None();
}

Value OfAttr(RuleContext& rc, const AttrValue& attr, std::span<const MetaId> operands, int depth) {
  switch (attr.kind) {
    case AttrKind::kNone:
      return Value::None();
    case AttrKind::kBool:
      return Value::Bool(attr.flag);
    case AttrKind::kInt:
      return Value::Int(rc.syms().Int(attr.integer));
    case AttrKind::kFloat:
      return Value::Float(attr.real);
    case AttrKind::kComplex:
      return Value::Complex();
    case AttrKind::kString:
    case AttrKind::kOperator:
      return Value::String(attr.text());
    case AttrKind::kDType:
      return Value::OfDType(attr.dtype);
    case AttrKind::kMemoryFormat:
      return Value::OfMemoryFormat(attr.memory_format);
    case AttrKind::kLayout:
      return Value::OfLayout(attr.layout);
    case AttrKind::kDevice:
      return Value::OfDevice(attr.device);
    case AttrKind::kInts: {
      const std::span<Dim> dims = rc.NewDims(attr.ints().size());
      for (size_t i = 0; i < dims.size(); ++i) dims[i] = rc.syms().Int(attr.ints()[i]);
      return Value::Ints(dims);
    }
    case AttrKind::kList:
    case AttrKind::kDict: {
      if (depth > kMaxNesting) return Value::None();
      const std::span<Value> items = rc.NewValues(attr.items().size());
      for (size_t i = 0; i < items.size(); ++i) items[i] = OfAttr(rc, attr.items()[i], operands, depth + 1);
      return items.empty() ? Value::List(items) : MakeList(rc, items);
    }
    case AttrKind::kOperand:
      if (attr.operand >= operands.size()) return Value::None();
      if (const Meta& meta = rc.context().metas.Get(operands[attr.operand]); meta.kind == MetaKind::kTensor)
        if (const TensorMeta* constant = rc.ConstantOperand(attr.operand, meta.tensor)) return Value::Tensor(constant);
      return OfMeta(rc, rc.context().metas.Get(operands[attr.operand]), depth);
    case AttrKind::kGraph:
      return Value::OfGraph(attr.graph);
  }
  return Value::None();
}

bool IsNumber(const Value& value) {
  switch (value.kind) {
    case ValueKind::kBool:
    case ValueKind::kSymBool:
    case ValueKind::kInt:
    case ValueKind::kFloat:
    case ValueKind::kSymFloat:
    case ValueKind::kComplex:
      return true;
    default:
      return false;
  }
}

// The conversions below change a value in place; false where it is of another kind.

bool ToReal(RuleContext& rc, Value& value) {
  if (value.kind == ValueKind::kFloat || value.kind == ValueKind::kSymFloat) return true;
  const auto dim = AsInt(value);
  if (!dim) return false;
  if (const auto constant = rc.syms().Constant(*dim)) {
    value = Value::Float(static_cast<double>(*constant));
  } else {
    const ExprId args[] = {rc.syms().OfDim(*dim)};
    value = Value::SymFloat(rc.syms().Make(ExprKind::kToFloat, args));
  }
  return true;
}

bool ToInt(Value& value) {
  if (value.kind == ValueKind::kBool) value = Value::Int(Dim::Static(value.flag ? 1 : 0));
  return value.kind == ValueKind::kInt;
}

// The value as the schema's type wants it.
bool ToType(RuleContext& rc, SchemaType type, Value& value) {
  switch (type) {
    case SchemaType::kTensor:
      return value.kind == ValueKind::kTensor || IsNumber(value);
    case SchemaType::kInt:
    case SchemaType::kSymInt:
      return ToInt(value);
    case SchemaType::kFloat:
      return ToReal(rc, value);
    case SchemaType::kBool:
      return IsCondition(value);
    case SchemaType::kScalar:
      return IsNumber(value);
    case SchemaType::kString:
      return value.kind == ValueKind::kString;
    case SchemaType::kDType:
      return value.kind == ValueKind::kDType;
    case SchemaType::kMemoryFormat:
      return value.kind == ValueKind::kMemoryFormat;
    case SchemaType::kLayout:
      return value.kind == ValueKind::kLayout;
    case SchemaType::kDevice:
      return value.kind == ValueKind::kDevice || value.kind == ValueKind::kString;
    case SchemaType::kGraph:
      return value.kind == ValueKind::kGraph;
    case SchemaType::kGenerator:
    case SchemaType::kAny:
      return true;
  }
  return false;
}

std::string_view Word(SchemaType type) {
  switch (type) {
    case SchemaType::kTensor:
      return "a tensor";
    case SchemaType::kInt:
    case SchemaType::kSymInt:
      return "an integer";
    case SchemaType::kFloat:
      return "a float";
    case SchemaType::kBool:
      return "true or false";
    case SchemaType::kScalar:
      return "a number";
    case SchemaType::kString:
      return "a text";
    case SchemaType::kDType:
      return "a dtype";
    case SchemaType::kMemoryFormat:
      return "a memory format";
    case SchemaType::kLayout:
      return "a layout";
    case SchemaType::kDevice:
      return "a device";
    case SchemaType::kGraph:
      return "a graph";
    case SchemaType::kGenerator:
    case SchemaType::kAny:
      return "a value";
  }
  return "a value";
}

absl::Status WrongKind(RuleContext& rc, const SchemaArg& arg, const Value& value) {
  return InvalidError("args_c5", "argument ", arg.name, " must be ", arg.list ? "a list, each item " : "",
                      Word(arg.type), "; found ", rc.Print(value));
}

// The value as the argument wants it, a list where it is one.
absl::Status Coerce(RuleContext& rc, const SchemaArg& arg, Value& value) {
  if (value.is_none()) {
    const bool allowed = arg.optional || arg.type == SchemaType::kAny || arg.type == SchemaType::kGenerator ||
                         (arg.has_default && arg.default_value.is_none());
    return allowed ? absl::OkStatus() : WrongKind(rc, arg, value);
  }
  if (!arg.list) return ToType(rc, arg.type, value) ? absl::OkStatus() : WrongKind(rc, arg, value);
  const bool ints = arg.type == SchemaType::kInt || arg.type == SchemaType::kSymInt;
  if (!IsList(value)) {
    Value single = value;
    if (arg.list_size < 1 || arg.type == SchemaType::kTensor || !ToType(rc, arg.type, single))
      return WrongKind(rc, arg, value);
    const std::span<Value> items = rc.NewValues(static_cast<size_t>(arg.list_size));
    std::fill(items.begin(), items.end(), single);
    value = MakeList(rc, items);
    return absl::OkStatus();
  }
  if (value.kind == ValueKind::kInts && ints) return absl::OkStatus();
  const size_t count = LengthOf(value);
  // A mask has as many entries as its kernel has results; lists of numbers are the row's to check.
  if (arg.type == SchemaType::kBool && arg.list_size > 0 && count != static_cast<size_t>(arg.list_size)) {
    return WrongKind(rc, arg, value);
  }
  const std::span<Value> items = rc.NewValues(count);
  for (size_t i = 0; i < count; ++i) {
    items[i] = ItemOf(value, i);
    if (items[i].is_none() && arg.element_optional) continue;
    if (!ToType(rc, arg.type, items[i])) return WrongKind(rc, arg, value);
  }
  value = ints ? MakeList(rc, items) : Value::List(items);
  return absl::OkStatus();
}

absl::Status Default(RuleContext& rc, const SchemaArg& arg, Value& value) {
  if (arg.has_default) {
    value = OfAttr(rc, arg.default_value, {}, 0);
    // A default is well-formed, but `int[2] stride=1` still has to become a list.
    return value.is_none() ? absl::OkStatus() : Coerce(rc, arg, value);
  }
  if (arg.optional && arg.type == SchemaType::kTensor) return absl::OkStatus();
  return InvalidError("args_c4", "argument ", arg.name, " is missing");
}

}  // namespace

Value ValueOf(RuleContext& rc, const Meta& meta) { return OfMeta(rc, meta, 0); }
Value ValueOf(RuleContext& rc, const AttrValue& attr, std::span<const MetaId> operands) {
  return OfAttr(rc, attr, operands, 0);
}

absl::StatusOr<std::span<const Value>> BindArguments(RuleContext& rc, const Schema& schema,
                                                     std::span<const NamedAttr> attrs,
                                                     std::span<const MetaId> operands) {
  const size_t count = schema.args.size();
  const std::span<Value> values = rc.NewValues(count + (schema.variadic ? 1 : 0));
  size_t at = 0;  // attrs are in schema order
  for (size_t i = 0; i < count; ++i) {
    const SchemaArg& arg = schema.args[i];
    if (at < attrs.size() && attrs[at].name == arg.name) {
      values[i] = OfAttr(rc, attrs[at++].value, operands, 0);
      TARE_RETURN_IF_ERROR(Coerce(rc, arg, values[i]));
    } else {
      TARE_RETURN_IF_ERROR(Default(rc, arg, values[i]));
    }
  }
  if (schema.variadic) {
    rc.KeepRest(attrs.subspan(at));
    const std::span<Value> rest = rc.NewValues(attrs.size() - at);
    for (size_t i = 0; i < rest.size(); ++i) rest[i] = OfAttr(rc, attrs[at + i].value, operands, 0);
    values[count] = Value::List(rest);
  } else if (at < attrs.size()) {
    return InvalidError("args_c1", "no argument ",
                        attrs[at].name.empty() ? std::string_view("at this place") : attrs[at].name);
  }
  return std::span<const Value>(values);
}

absl::StatusOr<Value> DefaultOf(RuleContext& rc, const SchemaArg& arg) {
  Value value;
  TARE_RETURN_IF_ERROR(Default(rc, arg, value));
  return value;
}

absl::StatusOr<std::span<const Value>> BindValues(RuleContext& rc, const Schema& schema, std::span<const Value> given) {
  const size_t count = schema.args.size();
  const std::span<Value> values = rc.NewValues(count + (schema.variadic ? 1 : 0));
  for (size_t i = 0; i < count; ++i) {
    if (i < given.size()) {
      values[i] = given[i];
      TARE_RETURN_IF_ERROR(Coerce(rc, schema.args[i], values[i]));
    } else {
      TARE_RETURN_IF_ERROR(Default(rc, schema.args[i], values[i]));
    }
  }
  if (schema.variadic) {
    values[count] = Value::List(given.size() > count ? given.subspan(count) : std::span<const Value>());
  } else if (given.size() > count) {
    return InvalidError("args_c3", given.size(), " arguments where the schema has ", count);
  }
  return std::span<const Value>(values);
}

}  // namespace tare
