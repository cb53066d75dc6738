// RESCALE, the operator whose operands the node holds as numbers, and the windows that must end exactly.
#include "backends/tosa/region_writer.h"
#include "ir/context.h"
#include "ir/status.h"

namespace tare::tosa {
namespace {

// An unsigned zero point is stored in the signed type of its width.
absl::StatusOr<std::string> EncodeZeroPoint(DType dtype, int64_t value, bool is_unsigned) {
  if (is_unsigned && dtype == DType::kI8) return EncodeElement(DType::kU8, AttrValue::Int(value));
  if (is_unsigned && dtype == DType::kI16 && value > INT16_MAX && value <= UINT16_MAX) value -= UINT16_MAX + 1;
  return EncodeElement(dtype, AttrValue::Int(value));
}

std::optional<int64_t> IntArg(const AttrValue* value) {
  if (value == nullptr || value->kind != AttrKind::kInt) return std::nullopt;
  return value->integer;
}

bool IsWide(DType dtype) { return dtype == DType::kI32 || dtype == DType::kI48; }

}  // namespace

absl::Status RegionWriter::WriteRescale(NodeId node) {
  TARE_ASSIGN_OR_RETURN(const NodeId input, TensorArg(node, "input1"));
  RescaleParts parts;
  TARE_ASSIGN_OR_RETURN(parts.input, NameOf(input, false));
  const TensorMeta& from = TensorOf(input);
  parts.from = from.dtype == DType::kU8 ? DType::kI8 : from.dtype;
  parts.to = TensorOf(node).dtype == DType::kU8 ? DType::kI8 : TensorOf(node).dtype;
  const AttrValue* wide = Arg(node, "scale32");
  const bool scale32 = wide != nullptr && wide->kind == AttrKind::kBool ? wide->flag : parts.from != DType::kI48;
  parts.width = scale32 ? ScaleWidth::k32 : ScaleWidth::k16;
  std::vector<double> scales;
  const AttrValue* scale = Arg(node, "scale");
  for (const AttrValue& one :
       scale != nullptr && scale->kind == AttrKind::kList ? scale->items() : std::span<const AttrValue>()) {
    if (one.kind != AttrKind::kFloat) return InvalidError("tosa_write_c8", "a scale is no number");
    scales.push_back(one.real);
  }
  const bool channels_fit = scales.size() == 1 || (!from.shape.empty() && from.shape.back().is_static() &&
                                                   from.shape.back().value() == static_cast<int64_t>(scales.size()));
  if (!channels_fit) {
    return InvalidError("tosa_write_c8", scales.size(),
                        " scales for the channels of the last axis: one, or one for each");
  }
  TARE_ASSIGN_OR_RETURN(parts.scales, FixedScalesOf(scales, parts.width));
  const std::optional<int64_t> input_zp = IntArg(Arg(node, "in_zp")), output_zp = IntArg(Arg(node, "out_zp"));
  if (!input_zp || !output_zp) return InvalidError("tosa_write_c8", "a zero point is no number");
  parts.input_zp = *input_zp, parts.output_zp = *output_zp;
  parts.input_unsigned = Flag(node, "input_unsigned"), parts.output_unsigned = Flag(node, "output_unsigned");
  if (const AttrValue* mode = Arg(node, "rounding_mode"); mode != nullptr && mode->kind == AttrKind::kString) {
    if (mode->text() == "DOUBLE_ROUND") parts.rounding = tosafile::RoundingMode::DOUBLE_ROUND;
    if (mode->text() == "INEXACT_ROUND") parts.rounding = tosafile::RoundingMode::INEXACT_ROUND;
  }
  // A wide value has no unsigned counterpart: two steps, through the signed type of the narrow side.
  // Source: TOSA 1.0, RESCALE, error conditions; ExecuTorch 1.5.1, backends/arm/operators/op_tosa_rescale.py.
  if (parts.output_unsigned && IsWide(parts.from)) {
    RescaleParts first = parts, second;
    first.output_unsigned = false;
    first.output_zp = parts.to == DType::kI8 ? parts.output_zp - 128 : 0;
    if (parts.to == DType::kI16 && parts.output_zp != 32768) {
      return InvalidError("tosa_write_c9", "unsigned 16 bits with zero point ", parts.output_zp, ", not 32768");
    }
    TensorMeta middle = TensorOf(node);
    middle.dtype = parts.to;
    TARE_ASSIGN_OR_RETURN(second.input, DeclareTensor(Cat(graph_.NameOf(node), "_signed"), middle));
    TARE_RETURN_IF_ERROR(AppendRescale(node, first, second.input));
    second.from = second.to = parts.to;
    second.scales = {{1 << 30, 30}};
    second.input_zp = parts.to == DType::kI8 ? -128 : 0;
    second.output_zp = parts.to == DType::kI8 ? 0 : 32768;
    second.output_unsigned = true;
    parts = second;
  } else if (parts.input_unsigned && IsWide(parts.to)) {
    RescaleParts first;
    first.input = parts.input;
    first.from = first.to = parts.from;
    first.scales = {{1 << 30, 30}};
    first.input_zp = parts.from == DType::kI8 ? 0 : 32768;
    first.output_zp = parts.from == DType::kI8 ? -128 : 0;
    first.input_unsigned = true;
    if (parts.from == DType::kI16 && parts.input_zp != 32768) {
      return InvalidError("tosa_write_c9", "unsigned 16 bits with zero point ", parts.input_zp, ", not 32768");
    }
    TensorMeta middle = from;
    middle.dtype = parts.from;
    TARE_ASSIGN_OR_RETURN(const Text narrow, DeclareTensor(Cat(graph_.NameOf(node), "_signed"), middle));
    TARE_RETURN_IF_ERROR(AppendRescale(node, first, narrow));
    parts.input = narrow;
    parts.input_unsigned = false;
    parts.input_zp = parts.from == DType::kI8 ? parts.input_zp - 128 : 0;
  }
  TARE_ASSIGN_OR_RETURN(const Texts results, DeclareResults(node, false));
  return AppendRescale(node, parts, results[0]);
}

absl::Status RegionWriter::AppendRescale(NodeId node, const RescaleParts& parts, Text result) {
  const auto named = [&](std::string_view suffix) { return Cat(graph_.NameOf(node), "_", suffix); };
  const bool wide = parts.width == ScaleWidth::k32;
  const int64_t count[] = {static_cast<int64_t>(parts.scales.size())};
  std::string multipliers, shifts;
  for (const FixedScale scale : parts.scales) {
    const int32_t multiplier = scale.multiplier;
    multipliers.append(reinterpret_cast<const char*>(&multiplier), wide ? 4 : 2);
    shifts.push_back(static_cast<char>(scale.shift));
  }
  constexpr int64_t kOne[] = {1};
  Texts inputs = {parts.input};
  TARE_ASSIGN_OR_RETURN(inputs.emplace_back(),
                        Generated(named("multipliers"), wide ? DType::kI32 : DType::kI16, count, multipliers));
  TARE_ASSIGN_OR_RETURN(inputs.emplace_back(), Generated(named("shifts"), DType::kI8, count, shifts));
  TARE_ASSIGN_OR_RETURN(const std::string input_zp, EncodeZeroPoint(parts.from, parts.input_zp, parts.input_unsigned));
  TARE_ASSIGN_OR_RETURN(inputs.emplace_back(), Generated(named("input_zp"), parts.from, kOne, input_zp));
  TARE_ASSIGN_OR_RETURN(const std::string output_zp, EncodeZeroPoint(parts.to, parts.output_zp, parts.output_unsigned));
  TARE_ASSIGN_OR_RETURN(inputs.emplace_back(), Generated(named("output_zp"), parts.to, kOne, output_zp));
  const auto attribute = tosafile::CreateRescaleAttribute(file_.builder, wide, parts.rounding, parts.scales.size() > 1,
                                                          parts.input_unsigned, parts.output_unsigned);
  Append(kRescale, inputs, {result}, attribute.o);
  return absl::OkStatus();
}

// TOSA refuses windows that leave a rest; the dialect's rules, like torch, drop it.
absl::Status RegionWriter::CheckWindow(NodeId node, const FileOp& row) const {
  const bool conv3d = row.name == "CONV3D", depthwise = row.name == "DEPTHWISE_CONV2D";
  const bool conv = conv3d || depthwise || row.name == "CONV2D";
  const bool pool = row.name == "AVG_POOL2D" || row.name == "MAX_POOL2D";
  const bool resize = row.name == "RESIZE";
  if (!conv && !pool && !resize) return absl::OkStatus();
  TARE_ASSIGN_OR_RETURN(const NodeId input, TensorArg(node, "input"));
  const std::span<const Dim> in = TensorOf(input).shape;
  const size_t dims = conv3d ? 3 : 2;
  if (in.size() != dims + 2) return InvalidError("tosa_write_c8", "input must have rank ", dims + 2);
  const auto ints = [&](std::string_view arg) {
    const AttrValue* value = Arg(node, arg);
    return value != nullptr && value->kind == AttrKind::kInts ? value->ints() : std::span<const int64_t>();
  };
  for (size_t i = 0; i < dims; ++i) {
    if (!in[1 + i].is_static()) return absl::OkStatus();  // refused where the tensor is declared
    const int64_t extent = in[1 + i].value();
    int64_t room = 0, step = 1;
    if (resize) {
      const auto scale = ints("scale_factors"), offset = ints("offset"), border = ints("border");
      if (scale.size() != 4 || offset.size() != 2 || border.size() != 2) return absl::OkStatus();  // made by nodes
      room = (extent - 1) * scale[2 * i] - offset[i] + border[i], step = scale[2 * i + 1];
    } else {
      const auto stride = ints("stride"), pad = ints("pad");
      const auto dilation = pool ? std::span<const int64_t>() : ints(depthwise ? "dialation" : "dilation");
      int64_t kernel = 0;
      if (pool) {
        const auto window = ints("kernel");
        if (window.size() == dims) kernel = window[i];
      } else {
        TARE_ASSIGN_OR_RETURN(const NodeId weight, TensorArg(node, "weight"));
        const std::span<const Dim> shape = TensorOf(weight).shape;
        const size_t axis = depthwise ? i : 1 + i;
        if (axis < shape.size() && shape[axis].is_static()) kernel = shape[axis].value();
      }
      if (kernel < 1 || kernel > INT32_MAX || stride.size() != dims || pad.size() != 2 * dims ||
          (conv && dilation.size() != dims)) {
        return InvalidError("tosa_write_c8", "kernel, stride, pad and dilation do not go together");
      }
      for (const int64_t value : {stride[i], pad[2 * i], pad[2 * i + 1], pool ? 1 : dilation[i]}) {
        if (value < 0 || value > INT32_MAX) return UnimplementedError("tosa_write_c7", "a window argument is ", value);
      }
      const int64_t reach = (kernel - 1) * (pool ? 1 : dilation[i]);
      room = extent - 1 + pad[2 * i] + pad[2 * i + 1] - reach, step = stride[i];
      if (pool && (pad[2 * i] >= kernel || pad[2 * i + 1] >= kernel)) {
        return UnimplementedError("tosa_write_c11", "padding ", std::max(pad[2 * i], pad[2 * i + 1]),
                                  " is not smaller than the window of ", kernel);
      }
    }
    if (step < 1 || room < 0 || room % step != 0) {
      return UnimplementedError("tosa_write_c11", "the window leaves a rest of ", step < 1 ? 0 : room % step,
                                " on axis ", 1 + i, ": trim the padding or slice the input");
    }
  }
  return absl::OkStatus();
}

}  // namespace tare::tosa
