#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "meta/functions.h"
#include "rule_fixture.h"

namespace tare {
namespace {

using Ints = std::initializer_list<int64_t>;

TEST_CASE("contiguous strides count empty axes as 1 and clamp symbols only where they may be 0") {
  RuleFixture f;
  CHECK_EQ(f.Text(ContiguousStrides(f.rc, f.Dims({2, 3, 4}))), "12,4,1");
  CHECK_EQ(f.Text(ContiguousStrides(f.rc, f.Dims({2, 0, 4}))), "4,4,1");
  CHECK_EQ(f.Text(ContiguousStrides(f.rc, {})), "");
  CHECK_EQ(f.Text(ContiguousStrides(f.rc, f.DimsOf({Dim::Static(2), f.Symbol("s0")}))), "s0,1");
  CHECK_EQ(f.Text(ContiguousStrides(f.rc, f.DimsOf({Dim::Static(2), f.Unbacked("u0")}))), "max(1,u0),1");
}

TEST_CASE("memory formats need their rank") {
  RuleFixture f;
  CHECK_EQ(f.Text(FormatStrides(f.rc, f.Dims({2, 3, 4, 5}), MemoryFormat::kChannelsLast)), "60,1,15,3");
  CHECK_EQ(f.Text(FormatStrides(f.rc, f.Dims({2, 3, 4, 5, 6}), MemoryFormat::kChannelsLast3d)), "360,1,90,18,3");
  CHECK_EQ(f.Text(FormatStrides(f.rc, f.Dims({2, 3, 4}), MemoryFormat::kChannelsLast)), "error format_c1");
  CHECK_EQ(f.Text(FormatStrides(f.rc, f.Dims({2, 3}), MemoryFormat::kPreserve)), "error format_c2");
}

TEST_CASE("which format strides look like") {
  RuleFixture f;
  struct Case {
    Ints shape, strides;
    MemoryFormat want;
  };
  using enum MemoryFormat;
  for (const Case& c : std::initializer_list<Case>{
           {{2, 3, 4, 5}, {60, 20, 5, 1}, kContiguous},
           {{2, 3, 4, 5}, {60, 1, 15, 3}, kChannelsLast},
           {{2, 3, 4, 5}, {120, 1, 15, 3}, kChannelsLast},  // batches with a gap
           {{2, 3, 1, 1}, {3, 1, 1, 1}, kContiguous},       // fits both
           {{2, 1, 4, 5}, {20, 1, 5, 1}, kChannelsLast},
           {{2, 1, 4, 5}, {20, 20, 5, 1}, kContiguous},
           {{2, 3, 4, 5}, {0, 0, 5, 1}, kContiguous},
           {{2, 0, 4, 5}, {20, 1, 5, 1}, kContiguous},
           {{2, 3, 4, 5, 6}, {360, 1, 90, 18, 3}, kChannelsLast3d},
           {{2, 3, 4}, {12, 1, 3}, kContiguous},
       }) {
    const TensorMeta* tensor = f.Tensor(f.Dims(c.shape), f.Dims(c.strides));
    CAPTURE(f.Text(tensor->strides));
    CHECK(SuggestMemoryFormat(f.rc, *tensor) == c.want);
  }
}

TEST_CASE("dense tensors keep their strides, others get dense ones in the same order") {
  RuleFixture f;
  struct Case {
    Ints shape, strides;
    std::string_view want;
  };
  for (const Case& c : std::initializer_list<Case>{
           {{2, 3, 4}, {12, 4, 1}, "12,4,1"},
           {{2, 3, 4}, {1, 2, 6}, "1,2,6"},
           {{2, 3, 4}, {24, 8, 2}, "12,4,1"},
           {{2, 3, 4}, {2, 4, 12}, "1,2,6"},
           {{4, 3}, {0, 1}, "3,1"},
           {{2, 3, 4}, {1, 0, 2}, "1,2,6"},
           {{5}, {2}, "1"},
       }) {
    CHECK_EQ(f.Text(PreserveStrides(f.rc, *f.Tensor(f.Dims(c.shape), f.Dims(c.strides)))), std::string(c.want));
  }
}

TEST_CASE("strides of element-wise results") {
  RuleFixture f;
  struct Operand {
    Ints shape, strides;
  };
  struct Case {
    std::initializer_list<Operand> operands;
    Ints shape;
    std::string_view want;
  };
  for (const Case& c : std::initializer_list<Case>{
           {{{{2, 3, 4}, {12, 4, 1}}, {{2, 3, 4}, {1, 2, 6}}}, {2, 3, 4}, "12,4,1"},  // the first decides
           {{{{2, 3, 4}, {1, 2, 6}}, {{2, 3, 4}, {12, 4, 1}}}, {2, 3, 4}, "1,2,6"},
           {{{{2, 3, 4}, {1, 2, 6}}, {{4}, {1}}}, {2, 3, 4}, "1,2,6"},
           {{{{4}, {1}}, {{2, 3, 4}, {1, 2, 6}}}, {2, 3, 4}, "1,2,6"},  // the first cannot tell
           {{{{2, 3, 4, 5}, {60, 1, 15, 3}}, {{3, 1, 1}, {1, 1, 1}}}, {2, 3, 4, 5}, "60,1,15,3"},
           {{{{2, 3}, {6, 2}}}, {2, 3}, "3,1"},
       }) {
    std::vector<const TensorMeta*> tensors;
    for (const Operand& operand : c.operands)
      tensors.push_back(f.Tensor(f.Dims(operand.shape), f.Dims(operand.strides)));
    CHECK_EQ(f.Text(ElementwiseStrides(f.rc, f.Dims(c.shape), tensors)), std::string(c.want));
  }
}

TEST_CASE("symbolic operands: channels last stays channels last") {
  RuleFixture f;
  const Dim n = f.Symbol("s0"), c = Dim::Static(3), h = f.Symbol("s1"), w = Dim::Static(5);
  const std::span<const Dim> shape = f.DimsOf({n, c, h, w});
  const auto strides = FormatStrides(f.rc, shape, MemoryFormat::kChannelsLast);
  const TensorMeta* tensor = f.Tensor(shape, *strides);
  CHECK(IsDense(f.rc, *tensor));
  CHECK(IsContiguous(f.rc, *tensor, MemoryFormat::kChannelsLast));
  CHECK_FALSE(IsContiguous(f.rc, *tensor));
  CHECK(SuggestMemoryFormat(f.rc, *tensor) == MemoryFormat::kChannelsLast);
  const TensorMeta* both[] = {tensor, tensor};
  CHECK_EQ(f.Text(ElementwiseStrides(f.rc, shape, both)), f.Text(*strides));
}

}  // namespace
}  // namespace tare
