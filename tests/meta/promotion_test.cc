#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "meta/functions.h"
#include "rule_fixture.h"

namespace tare {
namespace {

constexpr DType kOrder[] = {DType::kBool, DType::kU8,  DType::kI8,  DType::kI16, DType::kI32, DType::kI64, DType::kF16,
                            DType::kBF16, DType::kF32, DType::kF64, DType::kC32, DType::kC64, DType::kC128};

TEST_CASE("two dtypes join at the lowest dtype that holds both") {
  // Row and column in the order above.
  constexpr std::string_view kTable[] = {"bool u8 i8 i16 i32 i64 f16 bf16 f32 f64 c32 c64 c128",
                                         "u8 u8 i16 i16 i32 i64 f16 bf16 f32 f64 c32 c64 c128",
                                         "i8 i16 i8 i16 i32 i64 f16 bf16 f32 f64 c32 c64 c128",
                                         "i16 i16 i16 i16 i32 i64 f16 bf16 f32 f64 c32 c64 c128",
                                         "i32 i32 i32 i32 i32 i64 f16 bf16 f32 f64 c32 c64 c128",
                                         "i64 i64 i64 i64 i64 i64 f16 bf16 f32 f64 c32 c64 c128",
                                         "f16 f16 f16 f16 f16 f16 f16 f32 f32 f64 c32 c64 c128",
                                         "bf16 bf16 bf16 bf16 bf16 bf16 f32 bf16 f32 f64 c32 c64 c128",
                                         "f32 f32 f32 f32 f32 f32 f32 f32 f32 f64 c32 c64 c128",
                                         "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 c32 c64 c128",
                                         "c32 c32 c32 c32 c32 c32 c32 c32 c32 c32 c32 c64 c128",
                                         "c64 c64 c64 c64 c64 c64 c64 c64 c64 c64 c64 c64 c128",
                                         "c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128"};
  for (size_t a = 0; a < std::size(kOrder); ++a) {
    std::string row;
    for (const DType b : kOrder) row += (row.empty() ? "" : " ") + std::string(Name(JoinDTypes(kOrder[a], b).value()));
    CHECK_EQ(row, std::string(kTable[a]));
  }
}

TEST_CASE("dtypes without a place in the order win over ordinary ones and do not mix") {
  CHECK_EQ(JoinDTypes(DType::kU16, DType::kI64).value(), DType::kU16);
  CHECK_EQ(JoinDTypes(DType::kF32, DType::kF8E5M2).value(), DType::kF8E5M2);
  CHECK_EQ(JoinDTypes(DType::kU32, DType::kU32).value(), DType::kU32);
  CHECK_EQ(CheckIdOf(JoinDTypes(DType::kU16, DType::kU32).status()), "promote_c1");
}

TEST_CASE("tensors with dims beat those without, which beat numbers, within the highest category") {
  RuleFixture f;
  const auto with_dims = [&](DType dtype) { return Value::Tensor(f.Tensor(f.Dims({2}), {}, dtype)); };
  const auto without = [&](DType dtype) { return Value::Tensor(f.Tensor({}, {}, dtype)); };
  using enum DType;
  struct Case {
    std::vector<Value> operands;
    DType want;
  };
  for (const Case& c : std::initializer_list<Case>{
           {{with_dims(kF16), without(kF64)}, kF16},
           {{with_dims(kI32), without(kF64)}, kF64},
           {{with_dims(kI8), without(kI64)}, kI8},
           {{with_dims(kI8), Value::Int(Dim::Static(300))}, kI8},
           {{with_dims(kI8), Value::Float(2.5)}, kF32},
           {{with_dims(kBool), Value::Int(Dim::Static(2))}, kI64},
           {{with_dims(kBool), Value::Bool(true)}, kBool},
           {{with_dims(kF16), Value::Complex()}, kC32},
           {{with_dims(kBF16), without(kC128)}, kC64},
           {{with_dims(kI32), Value::None()}, kI32},
           {{Value::Int(Dim::Static(1)), Value::Float(0.5)}, kF32},
       }) {
    CHECK_EQ(ResultType(f.rc, c.operands).value(), c.want);
  }
}

TEST_CASE("kinds of promotion") {
  RuleFixture f;
  const auto promote = [&](PromotionKind kind, DType dtype) {
    const Value operand = Value::Tensor(f.Tensor(f.Dims({2}), {}, dtype));
    return Promote(f.rc, kind, {&operand, 1}).value();
  };
  CHECK_EQ(promote(PromotionKind::kIntToFloat, DType::kI8), DType::kF32);
  CHECK_EQ(promote(PromotionKind::kIntToFloat, DType::kBF16), DType::kBF16);
  CHECK_EQ(promote(PromotionKind::kAlwaysBool, DType::kF64), DType::kBool);
  CHECK_EQ(promote(PromotionKind::kComplexToFloat, DType::kC128), DType::kF64);
  CHECK_EQ(promote(PromotionKind::kBoolToLong, DType::kBool), DType::kI64);
}

TEST_CASE("a value can be written where its category does not fall") {
  CHECK(CanCast(DType::kF64, DType::kF16));
  CHECK(CanCast(DType::kI64, DType::kU8));
  CHECK(CanCast(DType::kBool, DType::kC64));
  CHECK_FALSE(CanCast(DType::kF16, DType::kI64));
  CHECK_FALSE(CanCast(DType::kC64, DType::kF64));
  CHECK_FALSE(CanCast(DType::kI8, DType::kBool));
}

}  // namespace
}  // namespace tare
