// The TOSA ops that lowering makes or looks for, looked up once.
#pragma once

#include <string>
#include <string_view>

#include "ir/context.h"
#include "ir/ids.h"

namespace tare {

inline bool IsTosa(const Context& context, Op op) { return context.ops.Name(op).substr(0, 5) == "tosa."; }

// The op that gives what an op in place writes, aten.relu for aten.relu_; no value when there is none.
inline Op PureTwin(const Context& context, Op op) {
  const std::string_view name = context.ops.Name(op);
  const size_t dot = name.rfind('.');
  if (!context.ops.Has(op, kMutates) || dot == std::string_view::npos || dot == 0 || name[dot - 1] != '_') return Op{};
  const Op pure = context.ops.Find(std::string(name.substr(0, dot - 1)).append(name.substr(dot)));
  return pure.has_value() && !context.ops.Has(pure, kMutates) ? pure : Op{};
}

// Conversions of a tensor to a dtype that the call names.
inline constexpr std::string_view kCastOps[] = {
    "aten._to_copy.default",
    "aten.to.dtype",
    "aten.to.dtype_layout",
    "dim_order_ops._to_dim_order_copy.default",
};

struct TosaOps {
  explicit TosaOps(const Context& context)
      : abs(Find(context, "ABS")),
        add(Find(context, "ADD")),
        argmax(Find(context, "ARGMAX")),
        avg_pool2d(Find(context, "AVG_POOL2D")),
        cast(Find(context, "CAST")),
        clamp(Find(context, "CLAMP")),
        concat(Find(context, "CONCAT")),
        const_shape(Find(context, "CONST_SHAPE")),
        conv2d(Find(context, "CONV2D")),
        conv3d(Find(context, "CONV3D")),
        depthwise_conv2d(Find(context, "DEPTHWISE_CONV2D")),
        equal(Find(context, "EQUAL")),
        gather(Find(context, "GATHER")),
        greater(Find(context, "GREATER")),
        greater_equal(Find(context, "GREATER_EQUAL")),
        identity(Find(context, "IDENTITY")),
        logical_not(Find(context, "LOGICAL_NOT")),
        matmul(Find(context, "MATMUL")),
        maximum(Find(context, "MAXIMUM")),
        max_pool2d(Find(context, "MAX_POOL2D")),
        minimum(Find(context, "MINIMUM")),
        mul(Find(context, "MUL")),
        negate(Find(context, "NEGATE")),
        pad(Find(context, "PAD")),
        reciprocal(Find(context, "RECIPROCAL")),
        reduce_all(Find(context, "REDUCE_ALL")),
        reduce_any(Find(context, "REDUCE_ANY")),
        reduce_max(Find(context, "REDUCE_MAX")),
        reduce_min(Find(context, "REDUCE_MIN")),
        reduce_product(Find(context, "REDUCE_PRODUCT")),
        reduce_sum(Find(context, "REDUCE_SUM")),
        rescale(Find(context, "RESCALE")),
        reshape(Find(context, "RESHAPE")),
        resize(Find(context, "RESIZE")),
        reverse(Find(context, "REVERSE")),
        select(Find(context, "SELECT")),
        slice(Find(context, "SLICE")),
        sub(Find(context, "SUB")),
        table(Find(context, "TABLE")),
        tile(Find(context, "TILE")),
        transpose(Find(context, "TRANSPOSE")),
        transpose_conv2d(Find(context, "TRANSPOSE_CONV2D")) {}

  static Op Find(const Context& context, std::string_view name) {
    return context.ops.Find(std::string("tosa.").append(name).append(".default"));
  }

  Op abs, add, argmax, avg_pool2d, cast, clamp, concat, const_shape, conv2d, conv3d, depthwise_conv2d, equal, gather,
      greater, greater_equal, identity, logical_not, matmul, maximum, max_pool2d, minimum, mul, negate, pad, reciprocal,
      reduce_all, reduce_any, reduce_max, reduce_min, reduce_product, reduce_sum, rescale, reshape, resize, reverse,
      select, slice, sub, table, tile, transpose, transpose_conv2d;
};

}  // namespace tare
