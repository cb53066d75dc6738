#include "meta/view.h"

#include <doctest/doctest.h>

#include "rule_fixture.h"

namespace tare {
namespace {

using Ints = std::initializer_list<int64_t>;

std::string Text(RuleFixture& f, const TensorOr& tensor) {
  if (!tensor.ok()) return "error " + CheckIdOf(tensor.status());
  return f.Text((*tensor)->shape) + " {" + f.Text((*tensor)->strides) + "} @" + f.context.syms.Print((*tensor)->offset);
}

TEST_CASE("-1 stands for what the other extents leave") {
  RuleFixture f;
  struct Case {
    int64_t numel;
    Ints size;
    std::string_view want;
  };
  for (const Case& c : std::initializer_list<Case>{
           {24, {4, -1}, "4,6"},
           {24, {-1}, "24"},
           {0, {3, -1}, "3,0"},
           {1, {}, ""},
           {24, {-1, -1}, "error size_c1"},
           {24, {-2, 12}, "error size_c2"},
           {24, {5, -1}, "error size_c3"},
           {24, {5, 5}, "error size_c3"},
           {0, {0, -1}, "error size_c4"},
           {2660446024, {2, -1}, "2,1330223012"},
       }) {
    CHECK_EQ(f.Text(InferSize(f.rc, Dim::Static(c.numel), f.Dims(c.size))), std::string(c.want));
  }
}

TEST_CASE("-1 of a symbolic size divides, and guards that it divides") {
  RuleFixture f;
  const Dim s0 = f.Symbol("s0"), s1 = f.Symbol("s1");
  SymStore& syms = f.context.syms;
  CHECK_EQ(f.Text(InferSize(f.rc, syms.Mul(s0, s1), f.DimsOf({s0, syms.Int(-1)}))), "s0,s1");
  CHECK(f.state.guards.empty());
}

TEST_CASE("strides of a view, or none") {
  RuleFixture f;
  struct Case {
    Ints shape, strides, target;
    std::string_view want;
  };
  for (const Case& c : std::initializer_list<Case>{
           {{2, 3, 4}, {12, 4, 1}, {6, 4}, "4,1"},
           {{2, 3, 4}, {24, 8, 2}, {24}, "2"},
           {{2, 3, 4}, {24, 4, 1}, {2, 12}, "24,1"},
           {{2, 3, 4}, {24, 4, 1}, {6, 4}, "none"},
           {{2, 3}, {1, 2}, {6}, "none"},
           {{2, 3}, {1, 2}, {2, 1, 3}, "1,6,2"},
           {{4, 3}, {0, 1}, {2, 2, 3}, "0,0,1"},
           {{1, 3}, {99, 1}, {3}, "1"},
       }) {
    const TensorMeta* tensor = f.Tensor(f.Dims(c.shape), f.Dims(c.strides));
    const auto strides = ViewStrides(f.rc, *tensor, f.Dims(c.target));
    REQUIRE(strides.ok());
    CHECK_EQ(strides->has_value() ? f.Text(**strides) : std::string("none"), std::string(c.want));
  }
}

TEST_CASE("slices wrap and clamp their bounds") {
  RuleFixture f;
  const TensorMeta* tensor = f.Tensor(f.Dims({4, 6}));
  struct Case {
    int64_t dim;
    std::optional<int64_t> start, end;
    int64_t step;
    std::string_view want;
  };
  for (const Case& c : std::initializer_list<Case>{
           {0, 1, 3, 1, "2,6 {6,1} @6"},
           {1, -2, std::nullopt, 1, "4,2 {6,1} @4"},
           {1, -99, 99, 2, "4,3 {6,2} @0"},
           {1, 5, 2, 1, "4,0 {6,1} @5"},
           {1, 1, INT64_MAX, 2, "4,3 {6,2} @1"},
           {2, 0, 1, 1, "error dim_c1"},
           {0, 0, 1, 0, "error slice_c1"},
       }) {
    const auto dim = [&](std::optional<int64_t> value) {
      return value ? std::optional<Dim>(f.context.syms.Int(*value)) : std::nullopt;
    };
    CHECK_EQ(Text(f, Slice(f.rc, *tensor, c.dim, dim(c.start), dim(c.end), Dim::Static(c.step))), std::string(c.want));
  }
}

TEST_CASE("a slice to the largest integer keeps a symbolic extent as it is") {
  RuleFixture f;
  const Dim s0 = f.Symbol("s0");
  const TensorMeta* tensor = f.Tensor(f.DimsOf({s0, Dim::Static(4)}));
  CHECK_EQ(Text(f, Slice(f.rc, *tensor, 0, std::nullopt, f.context.syms.Int(INT64_MAX), Dim::Static(1))),
           "s0,4 {4,1} @0");
  CHECK_EQ(Text(f, Slice(f.rc, *tensor, 0, Dim::Static(1), std::nullopt, Dim::Static(1))), "s0-1,4 {4,1} @4");
}

TEST_CASE("selecting by an index whose sign is unknown mints the offset") {
  RuleFixture f;
  SymbolRow row;
  row.name = "u0";
  row.kind = SymbolKind::kUnbacked;
  row.min = INT64_MIN;
  const Dim index = f.context.syms.Symbol(row);
  const TensorOr selected = Select(f.rc, *f.Tensor(f.Dims({4, 6})), 0, index);
  REQUIRE(selected.ok());
  CHECK_EQ(f.Text((*selected)->shape), "6");
  CHECK(!(*selected)->offset.is_static());
  CHECK_EQ(Text(f, Select(f.rc, *f.Tensor(f.Dims({4, 6})), 0, Dim::Static(4))), "error select_c1");
}

TEST_CASE("expansion says which number it was given") {
  RuleFixture f;
  CHECK_EQ(Text(f, Expand(f.rc, *f.Tensor(f.Dims({2, 1})), f.Dims({5, -1, 3}))), "5,2,3 {0,1,0} @0");
  CHECK_EQ(Text(f, Expand(f.rc, *f.Tensor(f.Dims({3})), f.Dims({-1, 3}))), "error expand_c3");
  const TensorOr wide = Expand(f.rc, *f.Tensor(f.Dims({3})), f.Dims({2660446024}));
  REQUIRE(!wide.ok());
  CHECK_NE(wide.status().message().find("2660446024"), std::string::npos);
}

TEST_CASE("parts must cover the dim") {
  RuleFixture f;
  const TensorMeta* tensor = f.Tensor(f.Dims({2, 5}));
  const TensorsOr parts = SplitWithSizes(f.rc, *tensor, f.Dims({2, 3}), 1);
  REQUIRE(parts.ok());
  REQUIRE_EQ(parts->items().size(), 2);
  CHECK_EQ(Text(f, parts->items()[1].tensor), "2,3 {5,1} @2");
  CHECK_EQ(CheckIdOf(SplitWithSizes(f.rc, *tensor, f.Dims({2, 2}), 1).status()), "split_c2");
  CHECK_EQ(CheckIdOf(SplitWithSizes(f.rc, *tensor, f.Dims({-1, 6}), 1).status()), "split_c1");
}

}  // namespace
}  // namespace tare
