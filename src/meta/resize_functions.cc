// Rule functions of padding, interpolation and pixel shuffling.
#include <algorithm>
#include <array>
#include <cmath>

#include "ir/status.h"
#include "meta/functions.h"
#include "meta/rule_args.h"
#include "meta/sym_int.h"
#include "meta/view.h"
#include "meta/window.h"

namespace tare {
namespace {

const Dim kZero = Dim::Static(0);

std::string Text(RuleContext& rc, Dim dim) { return rc.Print(Value::Int(dim)); }

// `pads` holds (before, after) pairs from the last dim on; negative ones crop.
// Errors: [pad_c1] an odd number, [pad_c2] more pairs than dims, [pad_c3] a negative extent.
absl::StatusOr<std::span<const Dim>> PadShape(RuleContext& rc, std::span<const Dim> shape, std::span<const Dim> pads) {
  SymStore& syms = rc.syms();
  const size_t rank = shape.size();
  if (pads.size() % 2 != 0) return InvalidError("pad_c1", "pad has ", pads.size(), " entries; they come in pairs");
  if (pads.size() / 2 > rank) {
    return InvalidError("pad_c2", "pad has ", pads.size() / 2, " pairs, the tensor has rank ", rank);
  }
  std::span<Dim> padded = rc.NewDims(rank);
  std::copy(shape.begin(), shape.end(), padded.begin());
  for (size_t k = 0; k < pads.size() / 2; ++k) {
    const size_t dim = rank - 1 - k;
    padded[dim] = SymInt(syms, shape[dim]) + pads[2 * k] + pads[2 * k + 1];
    if (!padded[dim].is_valid()) return InvalidError("pad_c4", "the padded extent of dim ", dim, " overflows 64 bits");
    TARE_REQUIRE(rc, syms.Le(kZero, padded[dim]),
                 InvalidError("pad_c3", "dim ", dim, " of extent ", Text(rc, shape[dim]), " would get extent ",
                              Text(rc, padded[dim]), "; crop less"));
  }
  return std::span<const Dim>(padded);
}

// pad_constant(x, pad): keeps channels last; a mere crop keeps the order of dims.
absl::StatusOr<Value> PadConstant(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const std::span<const Dim> pads = args.Ints(1);
  TARE_RETURN_IF_ERROR(args.status());
  TARE_ASSIGN_OR_RETURN(const std::span<const Dim> shape, PadShape(rc, self.shape, pads));
  bool crops = true;
  for (Dim pad : pads) crops = crops && rc.Known(rc.syms().Le(pad, kZero));
  std::span<const Dim> strides;
  if (crops) {
    strides = PreserveStrides(rc, *Restrided(rc, self, shape, self.strides, self.offset));
  } else {
    TARE_ASSIGN_OR_RETURN(strides, FormatStrides(rc, shape, SuggestMemoryFormat(rc, self)));
  }
  return Value::Tensor(Restrided(rc, self, shape, strides, kZero));
}

// pad_edges(n, x, pad, mode): reflection, replication or circular padding of the last n dims.
absl::StatusOr<Value> PadEdges(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const size_t n = static_cast<size_t>(args.Constant(0));
  const TensorMeta& self = args.Tensor(1);
  const std::span<const Dim> pads = args.Ints(2);
  const std::string_view mode = args.Text(3);
  TARE_RETURN_IF_ERROR(args.status());
  SymStore& syms = rc.syms();
  if (pads.size() != 2 * n) return InvalidError("pad_edges_c1", "padding has ", pads.size(), " entries, needs ", 2 * n);
  TARE_RETURN_IF_ERROR(RequireSpatial(rc, self, n));
  for (size_t k = 0; k < pads.size() && mode != "replicate"; ++k) {
    const Dim extent = self.shape[self.shape.size() - 1 - k / 2];
    const bool wraps = mode == "circular";
    TARE_REQUIRE(rc, wraps ? syms.Le(pads[k], extent) : syms.Lt(pads[k], extent),
                 InvalidError("pad_edges_c2", "padding ", Text(rc, pads[k]), " of an extent of ", Text(rc, extent),
                              wraps ? " wraps around more than once" : " must be smaller than it to reflect"));
  }
  TARE_ASSIGN_OR_RETURN(const std::span<const Dim> shape, PadShape(rc, self.shape, pads));
  if (mode != "circular") {
    // Some extents may become 0, but not all of them.
    llvm::SmallVector<ExprId, 3> some;
    for (size_t i = shape.size() - n; i < shape.size(); ++i) some.push_back(syms.Lt(kZero, shape[i]));
    if (!std::ranges::any_of(some, [&](ExprId condition) { return rc.Known(condition); })) {
      TARE_REQUIRE(
          rc, some.size() == 1 ? some[0] : syms.Make(ExprKind::kOr, some),
          InvalidError("pad_edges_c3", "nothing is left of ", rc.Print(Value::Ints(self.shape)), "; crop less"));
    }
  }
  MemoryFormat format = MemoryFormat::kContiguous;
  if (mode != "circular" && n == 2) format = SuggestMemoryFormat(rc, self);
  TARE_ASSIGN_OR_RETURN(const std::span<const Dim> strides, FormatStrides(rc, shape, format));
  return Value::Tensor(Restrided(rc, self, shape, strides, kZero));
}

// resize(n, x, output_size): shape of an interpolation of [N, C, …] to these extents.
absl::StatusOr<Value> Resize(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const size_t n = static_cast<size_t>(args.Constant(0));
  const TensorMeta& self = args.Tensor(1);
  const std::span<const Dim> size = args.Ints(2);
  TARE_RETURN_IF_ERROR(args.status());
  SymStore& syms = rc.syms();
  if (self.shape.size() != n + 2) {
    return InvalidError("resize_c1", "the input has rank ", self.shape.size(), ", needs ", n + 2);
  }
  if (size.size() != n) {
    return InvalidError("resize_c2", "output_size ", rc.Print(Value::Ints(size)), " needs ", n, " entries");
  }
  for (size_t i = 0; i < n; ++i) {
    TARE_REQUIRE(rc, syms.Lt(kZero, size[i]),
                 InvalidError("resize_c3", "output_size ", rc.Print(Value::Ints(size)), " must be at least 1"));
  }
  for (size_t i = 1; i < self.shape.size(); ++i) {
    TARE_REQUIRE(rc, syms.Lt(kZero, self.shape[i]),
                 InvalidError("resize_c4", "dim ", i, " of the input has no elements; only the batch may be empty"));
  }
  std::span<Dim> shape = rc.NewDims(n + 2);
  std::copy(self.shape.begin(), self.shape.begin() + 2, shape.begin());
  std::copy(size.begin(), size.end(), shape.begin() + 2);
  return Value::Ints(shape);
}

// floor(extent * scale) for a positive scale, in double precision as the exporter does.
absl::StatusOr<Dim> ScaleExtent(RuleContext& rc, Dim extent, double scale) {
  SymStore& syms = rc.syms();
  if (!(scale > 0) || !std::isfinite(scale))
    return InvalidError("scale_c1", "scale factor ", scale, " must be positive");
  if (scale == std::floor(scale) && scale < 9e15) return syms.Mul(extent, syms.Int(static_cast<int64_t>(scale)));
  if (extent.is_static()) {
    const double scaled = static_cast<double>(extent.value()) * scale;
    if (!(scaled < 9e18)) return InvalidError("scale_c2", "an extent scaled by ", scale, " overflows");
    return syms.Int(static_cast<int64_t>(scaled));
  }
  const ExprId real = syms.Make(ExprKind::kToFloat, std::array{syms.OfDim(extent)});
  const ExprId product = syms.Make(ExprKind::kMul, std::array{real, syms.Float(scale)});
  return syms.ToDim(syms.Make(ExprKind::kTrunc, std::array{product}));
}

// scaled_size(x, output_size, scale_factors): one of the two is given.
absl::StatusOr<Value> ScaledSize(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const bool has_size = !args.IsNone(1), has_scale = !args.IsNone(2);
  const std::span<const Dim> size = args.Ints(1);
  TARE_RETURN_IF_ERROR(args.status());
  if (has_size == has_scale) {
    return InvalidError("scaled_size_c1", "give either output_size or scale_factors",
                        has_size ? ", not both" : "; neither is there");
  }
  if (has_size) return Value::Ints(size);
  const Value& factors = args.Any(2);
  const size_t count = factors.kind == ValueKind::kInts ? factors.dims().size() : factors.items().size();
  if (count + 2 != self.shape.size()) {
    return InvalidError("scaled_size_c2", "scale_factors has ", count, " entries, the input has rank ",
                        self.shape.size());
  }
  std::span<Dim> scaled = rc.NewDims(count);
  for (size_t i = 0; i < count; ++i) {
    double scale = 0;
    if (factors.kind == ValueKind::kInts) {
      TARE_ASSIGN_OR_RETURN(const int64_t whole, rc.Concrete(factors.dims()[i]));
      scale = static_cast<double>(whole);
    } else {
      RuleArgs items(rc, factors.items());
      scale = items.Real(i);
      TARE_RETURN_IF_ERROR(items.status());
    }
    TARE_ASSIGN_OR_RETURN(scaled[i], ScaleExtent(rc, self.shape[i + 2], scale));
  }
  return Value::Ints(scaled);
}

// pixel_shuffle(x, r): [.., C r r, H, W] -> [.., C, H r, W r]
absl::StatusOr<Value> PixelShuffle(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const Dim factor = args.Int(1);
  TARE_RETURN_IF_ERROR(args.status());
  SymStore& syms = rc.syms();
  const size_t rank = self.shape.size();
  if (rank < 3) return InvalidError("pixel_shuffle_c1", "the input has rank ", rank, ", needs 3 or more");
  TARE_REQUIRE(rc, syms.Lt(kZero, factor), InvalidError("pixel_shuffle_c2", "the factor must be at least 1"));
  const SymInt channels(syms, self.shape[rank - 3]), square = SymInt(syms, factor) * factor;
  TARE_REQUIRE_EQUAL(
      rc, Mod(channels, square), kZero,
      InvalidError("pixel_shuffle_c3", Text(rc, channels), " channels are not a multiple of ", Text(rc, square)));
  std::span<Dim> shape = rc.NewDims(rank);
  std::copy(self.shape.begin(), self.shape.end(), shape.begin());
  shape[rank - 3] = FloorDiv(channels, square);
  shape[rank - 2] = SymInt(syms, shape[rank - 2]) * factor;
  shape[rank - 1] = SymInt(syms, shape[rank - 1]) * factor;
  return Value::Ints(shape);
}

// pixel_unshuffle(x, r): [.., C, H r, W r] -> [.., C r r, H, W]
absl::StatusOr<Value> PixelUnshuffle(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const Dim factor = args.Int(1);
  TARE_RETURN_IF_ERROR(args.status());
  SymStore& syms = rc.syms();
  const size_t rank = self.shape.size();
  if (rank < 3) return InvalidError("pixel_unshuffle_c1", "the input has rank ", rank, ", needs 3 or more");
  TARE_REQUIRE(rc, syms.Lt(kZero, factor), InvalidError("pixel_unshuffle_c2", "the factor must be at least 1"));
  std::span<Dim> shape = rc.NewDims(rank);
  std::copy(self.shape.begin(), self.shape.end(), shape.begin());
  for (size_t dim = rank - 2; dim < rank; ++dim) {
    TARE_REQUIRE_EQUAL(rc, syms.Mod(self.shape[dim], factor), kZero,
                       InvalidError("pixel_unshuffle_c3", "extent ", Text(rc, self.shape[dim]), " of dim ", dim,
                                    " is not a multiple of ", Text(rc, factor)));
    shape[dim] = syms.FloorDiv(self.shape[dim], factor);
  }
  shape[rank - 3] = SymInt(syms, shape[rank - 3]) * factor * factor;
  return Value::Ints(shape);
}

// grid_sample(n, input, grid): [N, C, …] sampled at grid [N, …, n].
absl::StatusOr<Value> GridSample(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const size_t n = static_cast<size_t>(args.Constant(0));
  const TensorMeta& input = args.Tensor(1);
  const TensorMeta& grid = args.Tensor(2);
  TARE_RETURN_IF_ERROR(args.status());
  SymStore& syms = rc.syms();
  if (input.shape.size() != n + 2 || grid.shape.size() != n + 2) {
    return InvalidError("grid_sample_c1", "input has rank ", input.shape.size(), ", grid ", grid.shape.size(),
                        "; both need ", n + 2);
  }
  TARE_REQUIRE_EQUAL(rc, input.shape[0], grid.shape[0],
                     InvalidError("grid_sample_c2", "input and grid differ in their batch: ", Text(rc, input.shape[0]),
                                  " and ", Text(rc, grid.shape[0])));
  TARE_REQUIRE_EQUAL(
      rc, grid.shape[n + 1], Dim::Static(static_cast<int64_t>(n)),
      InvalidError("grid_sample_c3", "the last dim of grid must have extent ", n, ", a coordinate each"));
  for (size_t i = 2; i < n + 2; ++i) {
    TARE_REQUIRE(rc, syms.Lt(kZero, input.shape[i]), InvalidError("grid_sample_c4", "dim ", i, " of input is empty"));
  }
  std::span<Dim> shape = rc.NewDims(n + 2);
  std::copy(input.shape.begin(), input.shape.begin() + 2, shape.begin());
  std::copy(grid.shape.begin() + 1, grid.shape.end() - 1, shape.begin() + 2);
  return Value::Ints(shape);
}

constexpr RuleFunctionRow kRows[] = {
    {"pad_constant", "pad_constant(x, pad) -> tensor", "x with constant borders; negative pads crop.", 2, 2,
     PadConstant},
    {"pad_edges", "pad_edges(n, x, pad, mode) -> tensor",
     "The last n dims with borders from inside: 'reflect', 'replicate' or 'circular'.", 4, 4, PadEdges},
    {"resize", "resize(n, x, output_size) -> shape", "Shape of an interpolation over the last n dims.", 3, 3, Resize},
    {"scaled_size", "scaled_size(x, output_size, scale_factors) -> ints",
     "output_size, or the spatial extents of x times the factors, rounded down.", 3, 3, ScaledSize},
    {"pixel_shuffle", "pixel_shuffle(x, factor) -> shape", "Channels turned into blocks of factor × factor pixels.", 2,
     2, PixelShuffle},
    {"pixel_unshuffle", "pixel_unshuffle(x, factor) -> shape", "Blocks of factor × factor pixels turned into channels.",
     2, 2, PixelUnshuffle},
    {"grid_sample", "grid_sample(n, input, grid) -> shape", "Shape of input sampled at the points of grid.", 3, 3,
     GridSample},
};

}  // namespace

std::span<const RuleFunctionRow> ResizeFunctions() { return kRows; }

}  // namespace tare
