#include "backends/tosa/window.h"

namespace tare {

WindowAxis FitWindow(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation, int64_t before) {
  const int64_t after = (out - 1) * stride + dilation * (kernel - 1) + 1 - in - before;
  if (after >= 0) return {before, after, 0};
  return {before, 0, -after};
}

Node CropWindow(Emitter& emit, Node x, size_t first_axis, std::span<const WindowAxis> axes) {
  std::vector<int64_t> size = emit.ShapeOf(x);
  if (!emit.ok()) return Node();
  for (size_t i = 0; i < axes.size(); ++i) size[first_axis + i] -= axes[i].crop;
  return emit.Slice(x, std::vector<int64_t>(size.size(), 0), size);
}

std::vector<int64_t> PadsOf(std::span<const WindowAxis> axes) {
  std::vector<int64_t> pads;
  for (const WindowAxis& axis : axes) {
    pads.push_back(axis.before);
    pads.push_back(axis.after);
  }
  return pads;
}

std::optional<std::vector<int64_t>> PerAxis(Node node, std::string_view name, size_t axes, int64_t otherwise) {
  if (node.attr(name).is_none()) return std::vector<int64_t>(axes, otherwise);
  if (!node.has_constant_ints(name)) return std::nullopt;
  std::vector<int64_t> values = node.ints(name);
  if (values.empty()) return std::vector<int64_t>(axes, otherwise);
  if (values.size() == 1) values.resize(axes, values[0]);
  if (values.size() != axes) return std::nullopt;
  return values;
}

}  // namespace tare
