#include "backends/tosa/constraints.h"

#include <algorithm>
#include <optional>
#include <string>

#include "backends/tosa/constants.h"
#include "ir/context.h"
#include "meta/tosa_spec.h"

namespace tare {
namespace {

enum Constraint : size_t {
  kNoUnit,
  kWideMatmul,
  kKernel,
  kStride,
  kTransposed,
  kVariableWeight,
  kPoolKernel,
  kBilinear,
  kNearest,
  kReduceDtype,
  kReverseAxis,
  kArgmax,
};

constexpr LegalityRow kReasons[] = {
    {"ethos_u_c1", "Ethos-U55 and U65 have no unit for it",
     "lower for an Ethos-U85, or leave it to the CPU with --partial"},
    {"ethos_u_c2", "Ethos-U55 and U65 multiply matrices of 8 bits only", "quantise the product to 8 bits"},
    {"ethos_u_c3", "the kernel is wider than 64, or has more than 4096 elements", "split the kernel"},
    {"ethos_u_c4", "a stride above 3 with padding or dilation", "pad before the convolution, or use strides up to 3"},
    {"ethos_u_c5", "a transposed convolution needs stride 1 or 2 and 8-bit values",
     "use stride 1 or 2, or upsample before"},
    {"ethos_u_c6", "weights must be constant", "fold what makes the weight"},
    {"ethos_u_c7", "a padded mean over more than 8 elements along an axis", "pad before and pool without padding"},
    {"ethos_u_c8", "bilinear resizing does not run",
     "use nearest resizing or a transposed convolution, or an Ethos-U85"},
    {"ethos_u_c9", "nearest resizing runs by 2, 4 or 8 along both axes only",
     "resize by 2, 4 or 8 without aligned corners"},
    {"ethos_u_c10", "maxima and minima run on 8 and 16 bits only", "quantise the operand"},
    {"ethos_u_c11", "values are reversed along height or width only", "move the reversed dim to height or width"},
    {"ethos_u_c12", "ARGMAX runs on 8 bits over up to 127 values of the last dim only",
     "quantise to 8 bits, put the dim last"},
};

constexpr std::string_view kNoUnitOps[] = {
    "BITWISE_AND", "BITWISE_NOT", "BITWISE_OR", "BITWISE_XOR",   "CONV3D",
    "EQUAL",       "GATHER",      "GREATER",    "GREATER_EQUAL", "INTDIV",
    "LOGICAL_AND", "LOGICAL_NOT", "LOGICAL_OR", "LOGICAL_XOR",   "LOGICAL_RIGHT_SHIFT",
    "REDUCE_ALL",  "REDUCE_ANY",  "SCATTER",    "SELECT",        "REDUCE_PRODUCT",
};

// One node with what the checks ask of it.
class Checked {
 public:
  Checked(const Program& program, NodeId node) : program_(program), graph_(program.main()), node_(node) {}

  const TensorMeta* operand(size_t i) const {
    if (i >= graph_.operands(node_).size()) return nullptr;
    const MetaId id = graph_.meta(graph_.operands(node_)[i]);
    if (!id.has_value()) return nullptr;
    const Meta& meta = program_.context->metas.Get(id);
    return meta.kind == MetaKind::kTensor ? &meta.tensor : nullptr;
  }
  std::vector<int64_t> shape(size_t i) const {
    const TensorMeta* tensor = operand(i);
    return tensor == nullptr ? std::vector<int64_t>() : StaticShape(*tensor).value_or(std::vector<int64_t>());
  }
  bool is(size_t i, DType dtype) const { return operand(i) != nullptr && operand(i)->dtype == dtype; }
  bool is_constant(size_t i) const {
    const auto inputs = graph_.inputs();
    const size_t at = std::find(inputs.begin(), inputs.end(), graph_.operands(node_)[i]) - inputs.begin();
    return at < program_.inputs.size() && program_.inputs[at].constant.has_value();
  }
  std::vector<int64_t> ints(std::string_view name) const {
    for (const NamedAttr& attr : program_.context->attrs.Get(graph_.attrs(node_))) {
      if (attr.name != name) continue;
      if (attr.value.kind == AttrKind::kInts) return {attr.value.ints().begin(), attr.value.ints().end()};
      if (attr.value.kind == AttrKind::kInt) return {attr.value.integer};
    }
    return {};
  }
  std::string_view text(std::string_view name) const {
    for (const NamedAttr& attr : program_.context->attrs.Get(graph_.attrs(node_)))
      if (attr.name == name && attr.value.kind == AttrKind::kString) return attr.value.text();
    return "";
  }

 private:
  const Program& program_;
  const Graph& graph_;
  NodeId node_;
};

bool AnyAbove(const std::vector<int64_t>& values, int64_t limit) {
  return std::any_of(values.begin(), values.end(), [&](int64_t value) { return value > limit; });
}

std::optional<Constraint> OfConvolution(const Checked& node, size_t height, std::string_view dilation) {
  const std::vector<int64_t> weight = node.shape(1);
  if (weight.size() != 4) return std::nullopt;
  if (!node.is_constant(1)) return kVariableWeight;
  if (weight[height + 1] > 64 || weight[height] * weight[height + 1] > 4096) return kKernel;
  if (AnyAbove(node.ints("stride"), 3) && (AnyAbove(node.ints("pad"), 0) || AnyAbove(node.ints(dilation), 1)))
    return kStride;
  return std::nullopt;
}

std::optional<Constraint> OfResize(const Checked& node) {
  if (node.text("resize_mode") == "bilinear") return kBilinear;
  const std::vector<int64_t> scale = node.ints("scale_factors"), offset = node.ints("offset"),
                             border = node.ints("border"), shape = node.shape(0);
  if (scale.size() != 4 || offset.size() != 2 || border.size() != 2 || shape.size() != 4) return std::nullopt;
  if (shape[1] == 1 && shape[2] == 1) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t factor = scale[2 * i] / 2;
    const bool fits = scale[2 * i + 1] == 2 && (factor == 2 || factor == 4 || factor == 8) && offset[i] == 1 - factor &&
                      border[i] == factor - 1;
    if (!fits) return kNearest;
  }
  return scale[0] == scale[2] ? std::nullopt : std::optional<Constraint>(kNearest);
}

std::optional<Constraint> ConstraintOf(const Checked& node, std::string_view kind) {
  if (std::find(std::begin(kNoUnitOps), std::end(kNoUnitOps), kind) != std::end(kNoUnitOps)) return kNoUnit;
  if (kind == "MATMUL") return node.is(0, DType::kI16) ? std::optional<Constraint>(kWideMatmul) : std::nullopt;
  if (kind == "CONV2D") return OfConvolution(node, 1, "dilation");
  if (kind == "DEPTHWISE_CONV2D") return OfConvolution(node, 0, "dialation");
  if (kind == "TRANSPOSE_CONV2D") {
    if (AnyAbove(node.ints("stride"), 2) || node.is(0, DType::kI16)) return kTransposed;
    return OfConvolution(node, 1, "dilation");
  }
  if (kind == "AVG_POOL2D" && AnyAbove(node.ints("pad"), 0) && AnyAbove(node.ints("kernel"), 8)) return kPoolKernel;
  if (kind == "RESIZE") return OfResize(node);
  if ((kind == "REDUCE_MAX" || kind == "REDUCE_MIN") && node.is(0, DType::kI32)) return kReduceDtype;
  if (kind == "REVERSE") {
    const std::vector<int64_t> axis = node.ints("axis");
    const size_t rank = node.shape(0).size();
    if (axis.empty() || rank < 3 ||
        (axis[0] != static_cast<int64_t>(rank) - 2 && axis[0] != static_cast<int64_t>(rank) - 3))
      return kReverseAxis;
  }
  if (kind == "ARGMAX") {
    const std::vector<int64_t> axis = node.ints("axis"), shape = node.shape(0);
    if (!node.is(0, DType::kI8) || axis.empty() || axis[0] + 1 != static_cast<int64_t>(shape.size()) ||
        shape.back() > 127)
      return kArgmax;
  }
  return std::nullopt;
}

}  // namespace

std::span<const LegalityRow> ConstraintRows() { return kReasons; }

std::vector<Outside> FindUnsupported(const Program& program, std::string_view spec) {
  std::vector<Outside> unsupported;
  if (!TosaSpecHas(spec, "u55")) return unsupported;
  constexpr std::string_view kTosa = "tosa.";
  const Graph& graph = program.main();
  for (const NodeId node : graph.nodes()) {
    std::string_view kind = program.context->ops.Name(graph.op(node));
    if (kind.substr(0, kTosa.size()) != kTosa) continue;
    kind = kind.substr(kTosa.size());
    kind = kind.substr(0, kind.find('.'));
    const std::optional<Constraint> constraint = ConstraintOf(Checked(program, node), kind);
    if (!constraint.has_value()) continue;
    const LegalityRow& row = kReasons[*constraint];
    unsupported.push_back({node, std::string(row.check_id), std::string(row.why), std::string(row.remedy)});
  }
  return unsupported;
}

}  // namespace tare
