#include "ir/normalize.h"

#include <algorithm>
#include <vector>

#include "ir/notation.h"
#include "ir/status.h"
#include "llvm/ADT/SmallVector.h"

namespace tare {
namespace {

AttrValue NormalizeItem(SchemaType type, const AttrValue& value) {
  switch (type) {
    case SchemaType::kFloat:
      if (value.kind == AttrKind::kInt) return AttrValue::Float(static_cast<double>(value.integer));
      if (value.kind == AttrKind::kBool) return AttrValue::Float(value.flag ? 1 : 0);
      return value;
    case SchemaType::kInt:
    case SchemaType::kSymInt:
      return value.kind == AttrKind::kBool ? AttrValue::Int(value.flag ? 1 : 0) : value;
    case SchemaType::kBool:
      return value.kind == AttrKind::kInt ? AttrValue::Bool(value.integer != 0) : value;
    case SchemaType::kDevice:
      if (value.kind == AttrKind::kString) {
        if (const std::optional<Device> device = DeviceByName(value.text())) return AttrValue::OfDevice(*device);
      }
      return value;
    default:
      return value;
  }
}

}  // namespace

AttrValue NormalizeArg(const SchemaArg& arg, const AttrValue& value, StringPool& pool) {
  if (value.is_none()) return value;
  if (!arg.list) return NormalizeItem(arg.type, value);
  if (value.kind == AttrKind::kInts) {
    if (arg.type != SchemaType::kFloat && arg.type != SchemaType::kBool) return value;
    std::vector<AttrValue> items;
    for (const int64_t i : value.ints()) items.push_back(NormalizeItem(arg.type, AttrValue::Int(i)));
    return MakeList(pool, items);
  }
  if (value.kind == AttrKind::kList) {
    llvm::SmallVector<AttrValue, 8> items;
    bool changed = false;
    for (const AttrValue& item : value.items()) {
      items.push_back(NormalizeItem(arg.type, item));
      changed |= !(items.back() == item);
    }
    const bool all_ints = std::ranges::all_of(items, [](const AttrValue& v) { return v.kind == AttrKind::kInt; });
    return changed || all_ints ? MakeList(pool, {items.data(), items.size()}) : value;
  }
  const bool number = value.kind == AttrKind::kInt || value.kind == AttrKind::kFloat || value.kind == AttrKind::kBool;
  // One operand fills `int[2]`; given for `int[]` it is the list itself.
  const bool symbol = value.kind == AttrKind::kOperand && arg.type != SchemaType::kTensor && arg.list_size >= 1;
  if (!number && !symbol) return value;
  const std::vector<AttrValue> fill(std::max(arg.list_size, 1), NormalizeItem(arg.type, value));
  return MakeList(pool, fill);
}

absl::StatusOr<AttrsId> NormalizeArgs(Context& context, Op op, std::span<const NamedAttr> args) {
  const Schema* schema = context.ops.schema(op);
  if (schema == nullptr) return context.attrs.Intern(args);
  const std::string_view op_name = context.ops.Name(op);
  llvm::SmallVector<const AttrValue*, 16> given(schema->args.size(), nullptr);
  llvm::SmallVector<NamedAttr, 8> rest;
  size_t positional = 0;  // the next tensor-like argument
  for (const NamedAttr& arg : args) {
    int index = -1;
    if (arg.name.empty()) {
      while (positional < schema->args.size() && !IsTensorLike(schema->args[positional])) ++positional;
      if (positional < schema->args.size()) index = static_cast<int>(positional++);
    } else {
      index = schema->IndexOf(arg.name);
    }
    if (index >= 0) {
      if (given[index] != nullptr) {
        return InvalidError("args_c2", op_name, ": argument ", schema->args[index].name, " is given twice");
      }
      given[index] = &arg.value;
    } else if (schema->variadic) {
      rest.push_back(arg);
    } else if (arg.name.empty()) {
      return InvalidError("args_c3", op_name, ": more tensors than the schema has; others are written name=value");
    } else {
      return InvalidError("args_c1", op_name, ": unknown argument ", arg.name);
    }
  }
  llvm::SmallVector<NamedAttr, 16> normal;
  for (size_t i = 0; i < given.size(); ++i) {
    const SchemaArg& arg = schema->args[i];
    if (given[i] == nullptr) {
      if (arg.has_default) continue;
      // Torch takes only absent tensors for none; other optional arguments are written where there is no default.
      if (!arg.optional || !IsTensorLike(arg))
        return InvalidError("args_c4", op_name, ": argument ", arg.name, " is missing");
      normal.push_back({arg.name, AttrValue::None()});
      continue;
    }
    const AttrValue value = NormalizeArg(arg, *given[i], context.strings);
    if (!arg.has_default || !(value == arg.default_value)) normal.push_back({arg.name, value});
  }
  normal.append(rest.begin(), rest.end());
  return context.attrs.Intern({normal.data(), normal.size()});
}

}  // namespace tare
