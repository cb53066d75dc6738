#include "eval/call.h"

#include "absl/strings/str_join.h"
#include "eval/half.h"
#include "ir/status.h"

namespace tare {
namespace {

bool IsNumber(ValueKind kind) {
  return kind == ValueKind::kInt || kind == ValueKind::kFloat || kind == ValueKind::kBool;
}

}  // namespace

AttrValue KernelCall::Find(std::string_view name) const {
  for (const NamedAttr& attr : attrs_) {
    if (attr.name == name) return attr.value;
  }
  if (const Schema* schema = context_.ops.schema(op_); schema != nullptr) {
    const int index = schema->IndexOf(name);
    if (index >= 0 && schema->args[index].has_default) return schema->args[index].default_value;
  }
  return AttrValue::None();
}

Value KernelCall::Resolve(const AttrValue& attr) const {
  switch (attr.kind) {
    case AttrKind::kOperand:
      return attr.operand < operands_.size() ? operands_[attr.operand] : Value();
    case AttrKind::kBool:
      return Value::Bool(attr.flag);
    case AttrKind::kInt:
      return Value::Int(attr.integer);
    case AttrKind::kFloat:
      return Value::Float(attr.real);
    case AttrKind::kInts: {
      std::vector<Value> items;
      for (const int64_t i : attr.ints()) items.push_back(Value::Int(i));
      return Value::List(std::move(items));
    }
    case AttrKind::kList: {
      std::vector<Value> items;
      for (const AttrValue& item : attr.items()) items.push_back(Resolve(item));  // readers bound the nesting
      return Value::List(std::move(items));
    }
    default:
      return Value();
  }
}

const Tensor& KernelCall::Wrong(std::string_view name, std::string_view expected) {
  Fail(InvalidError("eval_c6", op_name(), ": argument ", name, " is not ", expected));
  return empty_;
}

bool KernelCall::given(std::string_view name) const {
  const AttrValue attr = Find(name);
  if (attr.kind == AttrKind::kOperand)
    return attr.operand < operands_.size() && operands_[attr.operand].kind != ValueKind::kNone;
  return !attr.is_none();
}

const Tensor& KernelCall::tensor(std::string_view name) {
  const Tensor* tensor = optional_tensor(name);
  return tensor != nullptr ? *tensor : Wrong(name, "a tensor");
}

const Tensor* KernelCall::optional_tensor(std::string_view name) {
  const AttrValue attr = Find(name);
  if (attr.is_none()) return nullptr;
  if (attr.kind == AttrKind::kOperand && attr.operand < operands_.size()) {
    const Value& value = operands_[attr.operand];
    if (value.kind == ValueKind::kTensor) return &value.tensor;
    if (value.kind == ValueKind::kNone) return nullptr;
  }
  return &Wrong(name, "a tensor");
}

std::vector<const Tensor*> KernelCall::tensors(std::string_view name) {
  std::vector<const Tensor*> list;
  const AttrValue attr = Find(name);
  if (attr.kind == AttrKind::kOperand && attr.operand < operands_.size()) {
    const Value& value = operands_[attr.operand];
    if (value.kind != ValueKind::kList) Wrong(name, "a list of tensors");
    for (const Value& item : value.items) {
      if (item.kind != ValueKind::kTensor) Wrong(name, "a list of tensors");
      list.push_back(&item.tensor);
    }
    return list;
  }
  if (attr.kind == AttrKind::kInts && attr.ints().empty()) return list;
  if (attr.kind != AttrKind::kList) {
    Wrong(name, "a list of tensors");
    return list;
  }
  for (const AttrValue& item : attr.items()) {
    const Value* value =
        item.kind == AttrKind::kOperand && item.operand < operands_.size() ? &operands_[item.operand] : nullptr;
    if (item.is_none() || (value != nullptr && value->kind == ValueKind::kNone)) {
      list.push_back(nullptr);
    } else if (value != nullptr && value->kind == ValueKind::kTensor) {
      list.push_back(&value->tensor);
    } else {
      list.push_back(&Wrong(name, "a list of tensors"));
    }
  }
  return list;
}

bool KernelCall::is_number(std::string_view name) const { return IsNumber(Get(name).kind); }

Tensor KernelCall::tensor_or_number(std::string_view name) {
  const Value value = Get(name);
  if (value.kind == ValueKind::kTensor) return value.tensor;
  if (!IsNumber(value.kind)) return Wrong(name, "a tensor or a number");
  const DType dtype = value.kind == ValueKind::kInt     ? DType::kI64
                      : value.kind == ValueKind::kFloat ? DType::kF64
                                                        : DType::kBool;
  absl::StatusOr<Tensor> tensor = Make(dtype, {});
  if (!tensor.ok()) {
    Fail(tensor.status());
    return empty_;
  }
  if (value.kind == ValueKind::kInt) tensor->mutable_data<int64_t>()[0] = value.integer;
  if (value.kind == ValueKind::kFloat) tensor->mutable_data<double>()[0] = value.real;
  if (value.kind == ValueKind::kBool) tensor->mutable_data<uint8_t>()[0] = value.integer != 0;
  return *std::move(tensor);
}

int64_t KernelCall::integer(std::string_view name) {
  const Value value = Get(name);
  if (value.kind != ValueKind::kInt && value.kind != ValueKind::kBool) Wrong(name, "an integer");
  return value.integer;
}

double KernelCall::real(std::string_view name) { return number(name).as_real(); }

bool KernelCall::flag(std::string_view name) {
  const Value value = Get(name);
  if (value.kind != ValueKind::kBool && value.kind != ValueKind::kInt) Wrong(name, "a truth value");
  return value.integer != 0;
}

Number KernelCall::number(std::string_view name) {
  const Value value = Get(name);
  if (!IsNumber(value.kind)) {
    Wrong(name, "a number");
    return {};
  }
  return {value.kind, value.integer, value.real};
}

std::string_view KernelCall::text(std::string_view name) {
  const AttrValue attr = Find(name);
  if (attr.kind == AttrKind::kString) return attr.text();
  Wrong(name, "a string");
  return "";
}

std::optional<DType> KernelCall::dtype(std::string_view name) {
  const AttrValue attr = Find(name);
  if (attr.kind == AttrKind::kDType) return WidenedDType(attr.dtype);
  if (!attr.is_none()) Wrong(name, "a dtype");
  return std::nullopt;
}

std::vector<int64_t> KernelCall::ints(std::string_view name) {
  const Value value = Get(name);
  if (value.kind == ValueKind::kInt) return {value.integer};
  std::vector<int64_t> list;
  if (value.kind == ValueKind::kTensor && value.tensor.dtype() == DType::kShape) {
    const std::span<const int64_t> elements = value.tensor.data<int64_t>();
    return {elements.begin(), elements.end()};
  }
  if (value.kind != ValueKind::kList) Wrong(name, "a list of integers");
  for (const Value& item : value.items) {
    if (item.kind != ValueKind::kInt) Wrong(name, "a list of integers");
    list.push_back(item.integer);
  }
  return list;
}

std::vector<std::vector<int64_t>> KernelCall::int_lists(std::string_view name) {
  std::vector<std::vector<int64_t>> lists;
  const Value value = Get(name);
  if (value.kind != ValueKind::kList) Wrong(name, "a list of shapes");
  for (const Value& list : value.items) {
    if (list.kind != ValueKind::kList) Wrong(name, "a list of shapes");
    lists.emplace_back();
    for (const Value& item : list.items) {
      if (item.kind != ValueKind::kInt) Wrong(name, "a list of shapes");
      lists.back().push_back(item.integer);
    }
  }
  return lists;
}

std::vector<int64_t> KernelCall::ints(std::string_view name, size_t count) {
  std::vector<int64_t> list = ints(name);
  if (list.size() != count) {
    Fail(InvalidError("eval_c6", op_name(), ": ", name, " [", absl::StrJoin(list, ","), "] needs ", count, " values"));
    list.resize(count);
  }
  return list;
}

std::vector<double> KernelCall::reals(std::string_view name) {
  const Value value = Get(name);
  std::vector<double> list;
  if (value.kind != ValueKind::kList) Wrong(name, "a list of numbers");
  for (const Value& item : value.items) {
    if (!IsNumber(item.kind)) Wrong(name, "a list of numbers");
    list.push_back(item.kind == ValueKind::kFloat ? item.real : static_cast<double>(item.integer));
  }
  return list;
}

int KernelCall::axis(std::string_view name, int rank) {
  const int64_t axis = integer(name), bound = rank == 0 ? 1 : rank;
  if (axis < -bound || axis >= bound) {
    Fail(InvalidError("eval_c7", op_name(), ": ", name, " ", axis, " is outside rank ", rank));
    return 0;
  }
  return static_cast<int>(axis < 0 ? axis + bound : axis);
}

int64_t KernelCall::zero_point(std::string_view name) const {
  const AttrValue attr = Find(name);
  if (quant_ == nullptr || attr.kind != AttrKind::kOperand || attr.operand >= quant_->operands.size()) return 0;
  const QuantParams& params = quant_->operands[attr.operand];
  return params.storage == DType::kBool || params.zero_points.empty() ? 0 : params.zero_points[0];
}

int64_t KernelCall::result_zero_point() const {
  if (quant_ == nullptr || !quant_->has_result || quant_->result.zero_points.empty()) return 0;
  return quant_->result.zero_points[0];
}

std::optional<DType> KernelCall::result_dtype(size_t index) const {
  if (meta_ == nullptr) return std::nullopt;
  if (meta_->kind == MetaKind::kTensor) return WidenedDType(meta_->tensor.dtype);
  if ((meta_->kind == MetaKind::kTuple || meta_->kind == MetaKind::kList) && index < meta_->items.size()) {
    const Meta& item = context_.metas.Get(meta_->items[index]);
    if (item.kind == MetaKind::kTensor) return WidenedDType(item.tensor.dtype);
  }
  return std::nullopt;
}

std::optional<std::vector<int64_t>> KernelCall::result_shape() const {
  if (meta_ == nullptr || meta_->kind != MetaKind::kTensor) return std::nullopt;
  std::vector<int64_t> shape;
  for (const Dim dim : meta_->tensor.shape) {
    if (!dim.is_static()) return std::nullopt;
    shape.push_back(dim.value());
  }
  return shape;
}

}  // namespace tare
