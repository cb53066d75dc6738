#include "meta/window.h"

#include <doctest/doctest.h>

#include "rule_fixture.h"

namespace tare {
namespace {

Dim Of(int64_t value) { return Dim::Static(value); }

TEST_CASE("extents of convolutions") {
  RuleFixture f;
  struct Case {
    int64_t in, kernel, stride, pad, dilation, want;
  };
  for (const Case& c : std::initializer_list<Case>{
           {224, 7, 2, 3, 1, 112},
           {8, 3, 1, 0, 2, 4},
           {5, 2, 3, 0, 1, 2},
           {2, 5, 1, 0, 1, -2},  // the caller refuses it
       }) {
    CHECK_EQ(ConvExtent(f.rc, Of(c.in), Of(c.kernel), Of(c.stride), Of(c.pad), Of(c.dilation)),
             f.context.syms.Int(c.want));
  }
  CHECK_EQ(ConvTransposeExtent(f.rc, Of(4), Of(5), Of(3), Of(2), Of(1), Of(0)), Of(10));
  const Dim s0 = f.Symbol("s0");
  CHECK_EQ(f.context.syms.Print(ConvExtent(f.rc, s0, Of(3), Of(2), Of(1), Of(1))), "(s0+1)//2");
}

TEST_CASE("a window that would start in the padding behind the input is dropped") {
  RuleFixture f;
  struct Case {
    int64_t in, kernel, stride, pad, floor, ceil;
  };
  for (const Case& c : std::initializer_list<Case>{
           {56, 3, 2, 0, 27, 28},
           {12, 1, 2, 0, 6, 6},
           {17, 2, 2, 1, 9, 9},
           {5, 3, 3, 1, 2, 2},
           {19199998, 1921, 1, 960, 19199998, 19199998},
       }) {
    CHECK_EQ(
        PoolExtent(f.rc, Of(c.in), Of(c.kernel), Of(c.stride), Of(c.pad), Of(c.pad), Of(1), Rounding::kFloor).value(),
        Of(c.floor));
    CHECK_EQ(
        PoolExtent(f.rc, Of(c.in), Of(c.kernel), Of(c.stride), Of(c.pad), Of(c.pad), Of(1), Rounding::kCeil).value(),
        Of(c.ceil));
  }
}

ConvParams Params(size_t n) {
  ConvParams params;
  params.stride = params.dilation = PerDim(n, Of(1));
  params.padding = params.output_padding = PerDim(n, Of(0));
  params.groups = Of(1);
  return params;
}

TEST_CASE("a convolution names what does not fit") {
  RuleFixture f;
  const TensorMeta* input = f.Tensor(f.Dims({1, 4, 8, 8}));
  struct Case {
    std::string_view what, want;
    std::initializer_list<int64_t> weight, bias;
    int64_t groups, dilation, stride;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"plain", "1,6,6,6", {6, 4, 3, 3}, {6}, 1, 1, 1},
           {"grouped", "1,6,6,6", {6, 2, 3, 3}, {6}, 2, 1, 1},
           {"channels", "error conv_c6", {6, 3, 3, 3}, {6}, 1, 1, 1},
           {"fewer filters than groups", "error conv_c4", {2, 1, 3, 3}, {2}, 4, 1, 1},
           {"filters not shared out", "error conv_c5", {5, 2, 3, 3}, {5}, 2, 1, 1},
           {"bias", "error conv_c8", {6, 4, 3, 3}, {5}, 1, 1, 1},
           {"kernel beyond the input", "error conv_c12", {6, 4, 9, 3}, {6}, 1, 1, 1},
           {"dilation that overflows", "error conv_c9", {6, 4, 3, 3}, {6}, 1, int64_t{1} << 62, 1},
           {"stride", "error window_c2", {6, 4, 3, 3}, {6}, 1, 1, 0},
       }) {
    CAPTURE(std::string(c.what));
    ConvParams params = Params(2);
    params.groups = Of(c.groups);
    params.dilation = PerDim(2, Of(c.dilation));
    params.stride = PerDim(2, Of(c.stride));
    CHECK_EQ(f.Text(ConvShape(f.rc, *input, *f.Tensor(f.Dims(c.weight)), f.Tensor(f.Dims(c.bias)), params)),
             std::string(c.want));
  }
}

TEST_CASE("channels last of input or weight is kept; in three dims only where oneDNN runs") {
  RuleFixture f;
  const auto plain = f.Tensor(f.Dims({1, 4, 8, 8}));
  const auto last = f.Tensor(f.Dims({1, 4, 8, 8}), f.Dims({256, 1, 32, 4}));
  const auto weight = f.Tensor(f.Dims({4, 4, 3, 3}));
  const auto weight_last = f.Tensor(f.Dims({4, 4, 3, 3}), f.Dims({36, 1, 12, 4}));
  CHECK_EQ(ConvFormat(f.rc, *plain, *weight, Params(2)).value(), MemoryFormat::kContiguous);
  CHECK_EQ(ConvFormat(f.rc, *last, *weight, Params(2)).value(), MemoryFormat::kChannelsLast);
  CHECK_EQ(ConvFormat(f.rc, *plain, *weight_last, Params(2)).value(), MemoryFormat::kChannelsLast);
  const auto cube = f.Tensor(f.Dims({1, 4, 5, 6, 7}), f.Dims({840, 1, 168, 28, 4}));
  const auto cubes = f.Tensor(f.Dims({2, 4, 5, 6, 7}), f.Dims({840, 1, 168, 28, 4}));
  const auto kernel = f.Tensor(f.Dims({4, 4, 3, 3, 3}));
  CHECK_EQ(ConvFormat(f.rc, *cube, *kernel, Params(3)).value(), MemoryFormat::kContiguous);
  CHECK_EQ(ConvFormat(f.rc, *cubes, *kernel, Params(3)).value(), MemoryFormat::kChannelsLast3d);
}

TEST_CASE("a list of one stands for every dim") {
  RuleFixture f;
  CHECK_EQ(ForEachDim(f.rc, "stride", f.Dims({2}), 3).value(), PerDim(3, Of(2)));
  CHECK_EQ(ForEachDim(f.rc, "stride", {}, 2, f.Dims({3, 4})).value(), PerDim({Of(3), Of(4)}));
  CHECK_EQ(CheckIdOf(ForEachDim(f.rc, "stride", f.Dims({1, 2, 3}), 2).status()), "window_c1");
}

}  // namespace
}  // namespace tare
