// Operators of the rule language on values.
#pragma once

#include "absl/status/statusor.h"
#include "meta/rule_code.h"
#include "meta/rule_context.h"

namespace tare {

// Errors without a place: InvalidArgument [rule_c8] operands of kinds the operator does not take.
absl::StatusOr<Value> ApplyBinary(RuleContext& rc, RuleOp op, const Value& a, const Value& b);
absl::StatusOr<Value> ApplyNot(RuleContext& rc, const Value& a);
absl::StatusOr<Value> ApplyNeg(RuleContext& rc, const Value& a);
// `a` and `b` are conditions; neither is known to decide.
absl::StatusOr<Value> CombineConditions(RuleContext& rc, RuleOp op, const Value& a, const Value& b);

Value BoolOf(RuleContext& rc, ExprId condition);  // Bool when it is a constant
bool IsCondition(const Value& value);
// A yes or no, as RuleContext::Decide. Errors: [rule_c8] when it is no condition.
absl::StatusOr<bool> Truth(RuleContext& rc, const Value& value);

absl::StatusOr<Value> ElementOf(RuleContext& rc, const Value& list, const Value& index);
absl::StatusOr<Value> SliceOf(RuleContext& rc, const Value& list, const Value& begin, const Value& end);
absl::StatusOr<Value> FieldOf(RuleContext& rc, RuleField field, const Value& value);

absl::StatusOr<Value> RankOf(RuleContext& rc, const Value& value);
absl::StatusOr<Value> LenOf(RuleContext& rc, const Value& value);

// kInts when all are integers, else a kList.
Value MakeList(RuleContext& rc, std::span<const Value> items);
size_t LengthOf(const Value& list);  // of kInts, kList, kTuple; else 0
bool IsList(const Value& value);
Value ItemOf(const Value& list, size_t i);
// The integer behind a number: kInt, or kBool as 0 or 1.
std::optional<Dim> AsInt(const Value& value);

}  // namespace tare
