#include "meta/rule_args.h"

#include "absl/strings/str_cat.h"
#include "ir/status.h"

namespace tare {
namespace {
const Value kNoValue;
const TensorMeta kNoTensor;
}  // namespace

void RuleArgs::Wrong(size_t i, std::string_view wanted) {
  if (!status_.ok()) return;
  status_ = InvalidError("rule_args_c1", "argument ", i + 1, " is not ", wanted, ": ",
                         i < values_.size() ? rc_.Print(values_[i]) : std::string("missing"));
}

const Value& RuleArgs::Any(size_t i) const { return i < values_.size() ? values_[i] : kNoValue; }

const TensorMeta& RuleArgs::Tensor(size_t i) {
  const Value& value = Any(i);
  if (value.kind == ValueKind::kTensor) return *value.tensor;
  Wrong(i, "a tensor");
  return kNoTensor;
}

const TensorMeta* RuleArgs::MaybeTensor(size_t i) { return IsNone(i) ? nullptr : &Tensor(i); }

llvm::SmallVector<const TensorMeta*, 8> RuleArgs::Tensors(size_t i) {
  const Value& value = Any(i);
  const bool is_list = value.kind == ValueKind::kList || value.kind == ValueKind::kTuple;
  if (!is_list) {
    if (!value.is_none() && !(value.kind == ValueKind::kInts && value.dims().empty())) Wrong(i, "a list of tensors");
    return {};
  }
  llvm::SmallVector<const TensorMeta*, 8> tensors(value.items().size());
  for (size_t k = 0; k < tensors.size(); ++k) {
    const Value& item = value.items()[k];
    if (item.kind == ValueKind::kTensor) {
      tensors[k] = item.tensor;
    } else if (item.is_none()) {
      tensors[k] = nullptr;
    } else {
      Wrong(i, "a list of tensors");
      tensors[k] = &kNoTensor;
    }
  }
  return tensors;
}

Dim RuleArgs::Int(size_t i) {
  const Value& value = Any(i);
  if (value.kind == ValueKind::kInt) return value.dim;
  if (value.kind == ValueKind::kBool) return Dim::Static(value.flag ? 1 : 0);
  Wrong(i, "an integer");
  return Dim::Static(0);
}

std::optional<Dim> RuleArgs::MaybeInt(size_t i) {
  if (IsNone(i)) return std::nullopt;
  return Int(i);
}

int64_t RuleArgs::Constant(size_t i) {
  absl::StatusOr<int64_t> value = rc_.Concrete(Int(i));
  if (value.ok()) return *value;
  if (status_.ok()) status_ = value.status();
  return 0;
}

std::span<const Dim> RuleArgs::Ints(size_t i) {
  const Value& value = Any(i);
  if (value.is_none()) return {};
  if (value.kind == ValueKind::kInts) return value.dims();
  if (value.kind == ValueKind::kInt) return {&value.dim, 1};
  if ((value.kind == ValueKind::kList || value.kind == ValueKind::kTuple) && value.items().empty()) return {};
  Wrong(i, "a list of integers");
  return {};
}

bool RuleArgs::Flag(size_t i) {
  const Value& value = Any(i);
  if (value.is_none()) return false;
  if (value.kind == ValueKind::kBool) return value.flag;
  if (value.kind == ValueKind::kInt && value.dim.is_static()) return value.dim.value() != 0;
  Wrong(i, "true or false");
  return false;
}

double RuleArgs::Real(size_t i) {
  const Value& value = Any(i);
  if (value.kind == ValueKind::kFloat) return value.real;
  if (value.kind == ValueKind::kInt || value.kind == ValueKind::kBool) return static_cast<double>(Constant(i));
  Wrong(i, "a number");
  return 0;
}

std::string_view RuleArgs::Text(size_t i) {
  const Value& value = Any(i);
  if (value.kind == ValueKind::kString) return value.text();
  Wrong(i, "a string");
  return {};
}

DType RuleArgs::Type(size_t i) {
  const Value& value = Any(i);
  if (value.kind == ValueKind::kDType) return value.dtype;
  Wrong(i, "a dtype");
  return DType::kF32;
}

}  // namespace tare
