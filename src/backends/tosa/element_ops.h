// Ops whose results hold elements of their arguments, unchanged.
#pragma once

#include <string_view>

namespace tare {

// Of the first tensor, all or some, in other places that their arguments alone say.
inline constexpr std::string_view kMovingOps[] = {
    "aten._reshape_alias.default",
    "aten._unsafe_view.default",
    "aten.alias.default",
    "aten.alias_copy.default",
    "aten.clone.default",
    "aten.contiguous.default",
    "aten.detach.default",
    "aten.detach_copy.default",
    "aten.expand.default",
    "aten.expand_copy.default",
    "aten.flatten.using_ints",
    "aten.flip.default",
    "aten.narrow.default",
    "aten.permute.default",
    "aten.permute_copy.default",
    "aten.pixel_shuffle.default",
    "aten.pixel_unshuffle.default",
    "aten.repeat.default",
    "aten.reshape.default",
    "aten.select.int",
    "aten.select_copy.int",
    "aten.slice.Tensor",
    "aten.slice_copy.Tensor",
    "aten.squeeze.default",
    "aten.squeeze.dim",
    "aten.squeeze.dims",
    "aten.squeeze_copy.default",
    "aten.squeeze_copy.dim",
    "aten.squeeze_copy.dims",
    "aten.t.default",
    "aten.t_copy.default",
    "aten.transpose.int",
    "aten.transpose_copy.int",
    "aten.unflatten.int",
    "aten.unsqueeze.default",
    "aten.unsqueeze_copy.default",
    "aten.view.default",
    "aten.view_copy.default",
};

// Others of the first tensor.
inline constexpr std::string_view kPickingOps[] = {
    "aten.amax.default",
    "aten.amin.default",
    "aten.broadcast_to.default",
    "aten.diagonal.default",
    "aten.embedding.default",
    "aten.expand_as.default",
    "aten.gather.default",
    "aten.index.Tensor",
    "aten.index_select.default",
    "aten.movedim.int",
    "aten.repeat_interleave.self_int",
    "aten.reshape_as.default",
    "aten.roll.default",
    "aten.swapaxes.default",
    "aten.tile.default",
    "aten.to.device",
    "aten.type_as.default",
    "aten.unfold.default",
    "aten.view_as.default",
};

// Of any argument; those that are no values are bools, or say where. index_put adds where it accumulates.
inline constexpr std::string_view kJoiningOps[] = {
    "aten.cat.default",
    "aten.concat.default",
    "aten.constant_pad_nd.default",
    "aten.index_put.default",
    "aten.masked_fill.Scalar",
    "aten.masked_fill.Tensor",
    "aten.max.other",
    "aten.maximum.default",
    "aten.min.other",
    "aten.minimum.default",
    "aten.pad.default",
    "aten.select_scatter.default",
    "aten.slice_scatter.default",
    "aten.stack.default",
    "aten.tril.default",
    "aten.triu.default",
    "aten.where.Scalar",
    "aten.where.ScalarOther",
    "aten.where.ScalarSelf",
    "aten.where.self",
};

}  // namespace tare
