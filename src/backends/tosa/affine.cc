#include "backends/tosa/affine.h"

#include <algorithm>

#include "backends/tosa/constants.h"
#include "eval/quantize.h"
#include "passes/pass_list.h"

namespace tare {
namespace {

constexpr std::string_view kQuantize[] = {
    "quantized_decomposed.quantize_per_tensor.default",
    "quantized_decomposed.quantize_per_tensor.tensor",
    "quantized_decomposed.quantize_per_channel.default",
};
constexpr std::string_view kDequantize[] = {
    "quantized_decomposed.dequantize_per_tensor.default",
    "quantized_decomposed.dequantize_per_tensor.tensor",
    "quantized_decomposed.dequantize_per_channel.default",
};

// A number argument, or the numbers of the constant it names.
std::optional<std::vector<double>> Numbers(const Context& context, Node node, std::string_view name) {
  if (const std::optional<double> number = node.number(name)) return std::vector<double>{*number};
  const Node tensor = node.arg(name);
  if (!tensor.has_value()) return std::nullopt;
  const Constant* constant = tensor.constant();
  if (constant == nullptr) return std::nullopt;
  return ReadNumbers(context, *constant);
}

bool Contains(const std::vector<Op>& ops, Op op) { return std::find(ops.begin(), ops.end(), op) != ops.end(); }

}  // namespace

Affine AffineOf(const QuantParams& params) {
  return {params.storage,
          params.axis,
          {params.scales.begin(), params.scales.end()},
          {params.zero_points.begin(), params.zero_points.end()},
          params.qmin,
          params.qmax};
}

int64_t QuantizeOne(const Affine& affine, double real) {
  return QuantizeElement(static_cast<float>(real), affine.scale(), affine.zero_point(), affine.qmin, affine.qmax);
}

std::vector<int64_t> QuantizeAll(const Affine& affine, std::span<const float> reals) {
  std::vector<int64_t> values;
  values.reserve(reals.size());
  for (const float real : reals) values.push_back(QuantizeOne(affine, real));
  return values;
}

double DequantizeOne(const Affine& affine, int64_t code) {
  return DequantizeElement(code, affine.scale(), affine.zero_point());
}

QdqOps::QdqOps(const Context& context)
    : quantize(FindOps(context, kQuantize)), dequantize(FindOps(context, kDequantize)) {}
bool QdqOps::IsQuantize(Op op) const { return Contains(quantize, op); }
bool QdqOps::IsDequantize(Op op) const { return Contains(dequantize, op); }

std::optional<Affine> QdqOps::Read(const Context& context, Node node) const {
  const bool per_channel = node.integer("axis").has_value();
  const std::optional<std::vector<double>> scales = Numbers(context, node, per_channel ? "scales" : "scale");
  std::optional<std::vector<double>> zero_points = Numbers(context, node, per_channel ? "zero_points" : "zero_point");
  if (!scales.has_value() || scales->empty()) return std::nullopt;
  if (!zero_points.has_value()) {
    if (!node.attr(per_channel ? "zero_points" : "zero_point").is_none()) return std::nullopt;
    zero_points.emplace(scales->size(), 0.0);
  }
  if (zero_points->size() != scales->size() || (!per_channel && scales->size() != 1)) return std::nullopt;
  Affine affine;
  const AttrValue& dtype = node.attr("dtype");
  if (dtype.kind != AttrKind::kDType) return std::nullopt;
  affine.storage = dtype.dtype;
  affine.scales = *scales;
  for (const double scale : *scales)
    if (!(scale > 0) || !std::isfinite(scale)) return std::nullopt;
  for (const double zero_point : *zero_points) {
    if (!(std::abs(zero_point) < 0x1p31)) return std::nullopt;
    affine.zero_points.push_back(static_cast<int64_t>(zero_point));
  }
  if (per_channel) {
    const Node input = node.arg("input");
    if (!input.has_value() || !input.is_tensor()) return std::nullopt;
    const auto shape = input.tensor().shape;
    int64_t axis = *node.integer("axis");
    if (axis < 0) axis += static_cast<int64_t>(shape.size());
    if (axis < 0 || axis >= static_cast<int64_t>(shape.size())) return std::nullopt;
    if (!(shape[axis] == static_cast<int64_t>(scales->size()))) return std::nullopt;
    affine.axis = static_cast<int>(axis);
  }
  const std::optional<int64_t> qmin = node.integer("quant_min"), qmax = node.integer("quant_max");
  if (!qmin.has_value() || !qmax.has_value() || *qmin > *qmax) return std::nullopt;
  if (*qmin < INT32_MIN || *qmax > INT32_MAX) return std::nullopt;
  affine.qmin = *qmin;
  affine.qmax = *qmax;
  return affine;
}

}  // namespace tare
