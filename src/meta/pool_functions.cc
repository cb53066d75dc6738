// Rule functions of pooling and of the windows behind im2col and col2im.
#include "ir/status.h"
#include "meta/functions.h"
#include "meta/rule_args.h"
#include "meta/sym_int.h"
#include "meta/view.h"
#include "meta/window.h"

namespace tare {
namespace {

const Dim kZero = Dim::Static(0);
const Dim kOne = Dim::Static(1);

std::string Text(RuleContext& rc, Dim dim) { return rc.Print(Value::Int(dim)); }

// The last n extents of `shape` replaced.
std::span<Dim> WithSpatial(RuleContext& rc, std::span<const Dim> shape, std::span<const Dim> spatial) {
  std::span<Dim> changed = rc.NewDims(shape.size());
  std::copy(shape.begin(), shape.end(), changed.begin());
  std::copy(spatial.begin(), spatial.end(), changed.end() - static_cast<ptrdiff_t>(spatial.size()));
  return changed;
}

// pool(n, x, kernel, stride, padding, dilation, ceil_mode)
absl::StatusOr<Value> Pool(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const size_t n = static_cast<size_t>(args.Constant(0));
  const TensorMeta& self = args.Tensor(1);
  const std::span<const Dim> kernels = args.Ints(2), strides = args.Ints(3), pads = args.Ints(4),
                             dilations = args.Ints(5);
  const Rounding rounding = args.Flag(6) ? Rounding::kCeil : Rounding::kFloor;
  TARE_RETURN_IF_ERROR(args.status());
  SymStore& syms = rc.syms();
  TARE_ASSIGN_OR_RETURN(const PerDim kernel, ForEachDim(rc, "kernel_size", kernels, n));
  TARE_ASSIGN_OR_RETURN(const PerDim stride, ForEachDim(rc, "stride", strides, n, kernel));
  TARE_ASSIGN_OR_RETURN(const PerDim pad, ForEachDim(rc, "padding", pads, n));
  TARE_ASSIGN_OR_RETURN(const PerDim dilation, ForEachDim(rc, "dilation", dilations, n));
  TARE_RETURN_IF_ERROR(RequirePositive(rc, "kernel_size", kernel));
  TARE_RETURN_IF_ERROR(RequirePositive(rc, "stride", stride));
  TARE_RETURN_IF_ERROR(RequirePositive(rc, "dilation", dilation));
  TARE_RETURN_IF_ERROR(RequireNotNegative(rc, "padding", pad));
  TARE_RETURN_IF_ERROR(RequireSpatial(rc, self, n));
  PerDim extents;
  const size_t first = self.shape.size() - n;
  for (size_t i = 0; i < n; ++i) {
    TARE_REQUIRE(rc, syms.Le(SymInt(syms, pad[i]) * 2, kernel[i]),
                 InvalidError("pool_c1", "padding ", Text(rc, pad[i]), " is more than half of the kernel of ",
                              Text(rc, kernel[i]), "; pad the input instead"));
    TARE_ASSIGN_OR_RETURN(const Dim extent, PoolExtent(rc, self.shape[first + i], kernel[i], stride[i], pad[i], pad[i],
                                                       dilation[i], rounding));
    TARE_REQUIRE(rc, syms.Le(kOne, extent),
                 InvalidError("pool_c2", "dim ", first + i, " of the result would have extent ", Text(rc, extent),
                              "; the window does not fit into ", Text(rc, self.shape[first + i]), " elements"));
    extents.push_back(extent);
  }
  return Value::Ints(WithSpatial(rc, self.shape, extents));
}

// adaptive_pool(n, x, output_size, channels): `channels` says that the dims between the first and the
// spatial ones must have elements too.
absl::StatusOr<Value> AdaptivePool(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const size_t n = static_cast<size_t>(args.Constant(0));
  const TensorMeta& self = args.Tensor(1);
  const std::span<const Dim> size = args.Ints(2);
  const bool channels = args.Flag(3);
  TARE_RETURN_IF_ERROR(args.status());
  const size_t rank = self.shape.size();
  if (size.size() != n) {
    return InvalidError("adaptive_pool_c1", "output_size ", rc.Print(Value::Ints(size)), " needs ", n, " entries");
  }
  if (rank != n + 1 && rank != n + 2) {
    return InvalidError("adaptive_pool_c2", "the tensor has rank ", rank, ", needs ", n + 1, " or ", n + 2);
  }
  for (size_t i = channels ? 1 : rank - n; i < rank; ++i) {
    TARE_REQUIRE(
        rc, rc.syms().Ne(self.shape[i], kZero),
        InvalidError("adaptive_pool_c3", "dim ", i, " of ", rc.Print(Value::Ints(self.shape)), " has no elements"));
  }
  TARE_RETURN_IF_ERROR(RequireNotNegative(rc, "output_size", size));
  return Value::Ints(WithSpatial(rc, self.shape, size));
}

struct Blocks {
  PerDim kernel, dilation, padding, stride;
};

// The four lists of im2col and col2im from argument `first` on.
absl::StatusOr<Blocks> ReadBlocks(RuleContext& rc, RuleArgs& args, size_t first) {
  const std::span<const Dim> kernels = args.Ints(first), dilations = args.Ints(first + 1), pads = args.Ints(first + 2),
                             strides = args.Ints(first + 3);
  TARE_RETURN_IF_ERROR(args.status());
  Blocks blocks;
  TARE_ASSIGN_OR_RETURN(blocks.kernel, ForEachDim(rc, "kernel_size", kernels, 2));
  TARE_ASSIGN_OR_RETURN(blocks.dilation, ForEachDim(rc, "dilation", dilations, 2));
  TARE_ASSIGN_OR_RETURN(blocks.padding, ForEachDim(rc, "padding", pads, 2));
  TARE_ASSIGN_OR_RETURN(blocks.stride, ForEachDim(rc, "stride", strides, 2));
  TARE_RETURN_IF_ERROR(RequirePositive(rc, "kernel_size", blocks.kernel));
  TARE_RETURN_IF_ERROR(RequirePositive(rc, "dilation", blocks.dilation));
  TARE_RETURN_IF_ERROR(RequireNotNegative(rc, "padding", blocks.padding));
  TARE_RETURN_IF_ERROR(RequirePositive(rc, "stride", blocks.stride));
  return blocks;
}

// Number of sliding blocks over an image of these extents.
absl::StatusOr<SymInt> CountBlocks(RuleContext& rc, std::span<const Dim> image, const Blocks& blocks) {
  SymInt count(rc.syms(), int64_t{1});
  for (size_t i = 0; i < 2; ++i) {
    const Dim along =
        ConvExtent(rc, image[i], blocks.kernel[i], blocks.stride[i], blocks.padding[i], blocks.dilation[i]);
    TARE_REQUIRE(rc, rc.syms().Le(kOne, along),
                 InvalidError("blocks_c1", "no block of the kernel fits into ", Text(rc, image[i]), " elements"));
    count = count * along;
  }
  return count;
}

// im2col(x, kernel, dilation, padding, stride): [N, C, H, W] -> [N, C kh kw, blocks]
absl::StatusOr<Value> ImageToColumns(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  TARE_ASSIGN_OR_RETURN(const Blocks blocks, ReadBlocks(rc, args, 1));
  TARE_RETURN_IF_ERROR(RequireSpatial(rc, self, 2));
  const size_t rank = self.shape.size();
  TARE_ASSIGN_OR_RETURN(const SymInt count, CountBlocks(rc, self.shape.subspan(rank - 2), blocks));
  std::span<Dim> shape = rc.NewDims(rank - 1);
  if (rank == 4) shape[0] = self.shape[0];
  shape[rank - 3] = SymInt(rc.syms(), self.shape[rank - 3]) * blocks.kernel[0] * blocks.kernel[1];
  shape[rank - 2] = count;
  return Value::Ints(shape);
}

// col2im(x, output_size, kernel, dilation, padding, stride): [N, C kh kw, blocks] -> [N, C, H, W]
absl::StatusOr<Value> ColumnsToImage(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const std::span<const Dim> size = args.Ints(1);
  TARE_ASSIGN_OR_RETURN(const Blocks blocks, ReadBlocks(rc, args, 2));
  if (size.size() != 2) return InvalidError("col2im_c1", "output_size needs 2 entries, has ", size.size());
  TARE_RETURN_IF_ERROR(RequirePositive(rc, "output_size", size));
  TARE_RETURN_IF_ERROR(RequireSpatial(rc, self, 1));
  SymStore& syms = rc.syms();
  const size_t rank = self.shape.size();
  const SymInt planes(syms, self.shape[rank - 2]), area = SymInt(syms, blocks.kernel[0]) * blocks.kernel[1];
  TARE_REQUIRE_EQUAL(rc, Mod(planes, area), kZero,
                     InvalidError("col2im_c2", Text(rc, planes), " rows are not a multiple of the kernel's ",
                                  Text(rc, area), " elements"));
  TARE_ASSIGN_OR_RETURN(const SymInt count, CountBlocks(rc, size, blocks));
  TARE_REQUIRE_EQUAL(rc, self.shape[rank - 1], count,
                     InvalidError("col2im_c3", "the tensor has ", Text(rc, self.shape[rank - 1]),
                                  " columns, output_size needs ", Text(rc, count)));
  std::span<Dim> shape = rc.NewDims(rank + 1);
  if (rank == 3) shape[0] = self.shape[0];
  shape[rank - 2] = FloorDiv(planes, area);
  shape[rank - 1] = size[0];
  shape[rank] = size[1];
  return Value::Ints(shape);
}

// row_strides(x, shape): strides of a 1-D window op's result. A batch of rows is taken as images of one row, which
// may be channels last. Source: aten/src/ATen/native/Pool.h, avg_pool1d.
absl::StatusOr<Value> RowStrides(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const TensorMeta& self = args.Tensor(0);
  const std::span<const Dim> shape = args.Ints(1);
  TARE_RETURN_IF_ERROR(args.status());
  if (self.shape.size() != 3 || shape.size() != 3) return Value::Ints(ContiguousStrides(rc, shape));
  TARE_ASSIGN_OR_RETURN(const TensorMeta* image, Unsqueeze(rc, self, 2));
  const MemoryFormat format = SuggestMemoryFormat(rc, *image);
  if (format == MemoryFormat::kContiguous) return Value::Ints(ContiguousStrides(rc, shape));
  const Dim rows[] = {shape[0], shape[1], kOne, shape[2]};
  TARE_ASSIGN_OR_RETURN(const std::span<const Dim> strides, FormatStrides(rc, rows, format));
  const std::span<Dim> flat = rc.NewDims(3);
  flat[0] = strides[0];
  flat[1] = strides[1];
  flat[2] = strides[3];
  return Value::Ints(flat);
}

constexpr RuleFunctionRow kRows[] = {
    {"pool", "pool(n, x, kernel, stride, padding, dilation, ceil_mode) -> shape",
     "Shape after pooling over the last n dims; an empty stride is the kernel.", 7, 7, Pool},
    {"adaptive_pool", "adaptive_pool(n, x, output_size, channels) -> shape", "Shape after pooling to given extents.", 4,
     4, AdaptivePool},
    {"row_strides", "row_strides(x, shape) -> strides",
     "Strides after a window op over one dim; a batch may be channels last.", 2, 2, RowStrides},
    {"im2col", "im2col(x, kernel, dilation, padding, stride) -> shape", "Shape of the columns of all sliding blocks.",
     5, 5, ImageToColumns},
    {"col2im", "col2im(x, output_size, kernel, dilation, padding, stride) -> shape",
     "Shape of the image whose sliding blocks are these columns.", 6, 6, ColumnsToImage},
};

}  // namespace

std::span<const RuleFunctionRow> PoolFunctions() { return kRows; }

}  // namespace tare
