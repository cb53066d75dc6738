// One spatial axis of a convolution or pooling, as TOSA wants it: the output extent must come out exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/tosa/emitter.h"

namespace tare {

struct WindowAxis {
  int64_t before = 0, after = 0;  // padding in elements, >= 0
  int64_t crop = 0;               // elements at the end that no window reaches, to be cut off first
};

//   after - crop = (out - 1) * stride + dilation * (kernel - 1) + 1 - in - before
//
// The trailing padding follows from the extent of the output, which covers ceil mode and unused padding alike.
WindowAxis FitWindow(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation, int64_t before);

// `x` with the ends cut off, axis i of the window being axis `first_axis` + i.
Node CropWindow(Emitter& emit, Node x, size_t first_axis, std::span<const WindowAxis> axes);

// before, after of each axis.
std::vector<int64_t> PadsOf(std::span<const WindowAxis> axes);

// A list argument with one value per axis; one value stands for all, none gives `otherwise`.
std::optional<std::vector<int64_t>> PerAxis(Node node, std::string_view name, size_t axes, int64_t otherwise);

}  // namespace tare
