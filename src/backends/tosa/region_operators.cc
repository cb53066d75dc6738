// Operands and attributes of operators, along the rows of file_ops.
#include <algorithm>

#include "backends/tosa/region_writer.h"
#include "ir/context.h"
#include "ir/status.h"
#include "llvm/ADT/SmallVector.h"

namespace tare::tosa {
namespace {

constexpr size_t kMaxListOperands = 64;  // MAX_TENSOR_LIST_SIZE of level 8K

bool FitsInt32(int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

std::string_view TextArg(const AttrValue* value, std::string_view otherwise) {
  return value != nullptr && value->kind == AttrKind::kString ? value->text() : otherwise;
}

// Operators whose operands broadcast: all must have the rank of the result.
bool Broadcasts(uint8_t number) { return (number >= 15 && number <= 30) || (number >= 45 && number <= 48); }

}  // namespace

absl::Status RegionWriter::WriteOperator(NodeId node, const FileOp& row) {
  TARE_RETURN_IF_ERROR(CheckOperands(node, row));
  Texts inputs;
  for (const OperandRow& operand : row.operands) {
    if (operand.kind == OperandKind::kEnd) break;
    TARE_RETURN_IF_ERROR(AddOperand(node, operand, inputs));
  }
  TARE_ASSIGN_OR_RETURN(const uint32_t attribute, WriteAttribute(node, row));
  TARE_ASSIGN_OR_RETURN(const Texts outputs, DeclareResults(node, row.makes_shape));
  if (outputs.size() != row.results) return InvalidError("tosa_write_c8", "the node has ", outputs.size(), " results");
  Append(row.number, inputs, outputs, attribute);
  return absl::OkStatus();
}

absl::StatusOr<NodeId> RegionWriter::TensorArg(NodeId node, std::string_view name) const {
  const AttrValue* value = Arg(node, name);
  if (value == nullptr || value->kind != AttrKind::kOperand) {
    return InvalidError("tosa_write_c8", "argument ", name, " is no value of a node");
  }
  return graph_.operands(node)[value->operand];
}

absl::Status RegionWriter::AddOperand(NodeId node, const OperandRow& operand, Texts& inputs) {
  const AttrValue* value = Arg(node, operand.arg);
  const auto add = [&](const absl::StatusOr<Text>& name) {
    if (name.ok()) inputs.push_back(*name);
    return name.status();
  };
  const auto named = [&](std::string_view suffix) { return Cat(graph_.NameOf(node), "_", suffix); };
  switch (operand.kind) {
    case OperandKind::kTensor: {
      if (value == nullptr && operand.arg == "bias") return add(ZeroBias(node));
      TARE_ASSIGN_OR_RETURN(const NodeId tensor, TensorArg(node, operand.arg));
      return add(NameOf(tensor, false));
    }
    case OperandKind::kTensors:
    case OperandKind::kShapes: {
      const bool shapes = operand.kind == OperandKind::kShapes;
      if (value == nullptr || value->kind != AttrKind::kList || value->items().empty()) {
        return InvalidError("tosa_write_c8", "argument ", operand.arg, " is no list of values of nodes");
      }
      if (value->items().size() > kMaxListOperands) {
        return UnimplementedError("tosa_write_c14", value->items().size(), " operands, the level allows ",
                                  kMaxListOperands);
      }
      for (const AttrValue& item : value->items()) {
        if (shapes) {
          TARE_RETURN_IF_ERROR(add(ShapeOperand(node, operand.arg, &item)));
          continue;
        }
        if (item.kind != AttrKind::kOperand) return InvalidError("tosa_write_c8", "an item of ", operand.arg);
        TARE_RETURN_IF_ERROR(add(NameOf(graph_.operands(node)[item.operand], false)));
      }
      return absl::OkStatus();
    }
    case OperandKind::kShape:
      return add(ShapeOperand(node, operand.arg, value));
    case OperandKind::kZeroPoint:
    case OperandKind::kResultZero:
      return add(ZeroPointOperand(node, operand));
    case OperandKind::kByte:
    case OperandKind::kFill: {
      const DType dtype = operand.kind == OperandKind::kByte
                              ? DType::kI8
                              : TensorOf(node).dtype;  // PAD: the result's dtype is the input's
      TARE_ASSIGN_OR_RETURN(const std::string element,
                            EncodeElement(dtype, value == nullptr ? AttrValue::Int(0) : *value));
      constexpr int64_t kOne[] = {1};
      return add(Generated(named(operand.kind == OperandKind::kByte ? "shift" : "pad_const"), dtype, kOne, element));
    }
    default:
      return absl::InternalError("an operand of RESCALE in another operator");
  }
}

absl::StatusOr<Text> RegionWriter::ShapeOperand(NodeId node, std::string_view arg, const AttrValue* value) {
  if (value != nullptr && value->kind == AttrKind::kOperand) {
    return NameOf(graph_.operands(node)[value->operand], true);
  }
  if (value == nullptr || value->kind != AttrKind::kInts) {
    return UnimplementedError("tosa_write_c3", "argument ", arg, " depends on symbols");
  }
  const std::vector<int64_t> values(value->ints().begin(), value->ints().end());
  const auto [known, is_new] = generated_shapes_.try_emplace(values);
  if (is_new) {
    known->second = file_.builder.CreateString(file_.UniqueName(Cat(graph_.NameOf(node), "_", arg)));
    DeclareShape(known->second, values, true);
    Append(kConstShape, {}, {known->second}, NoAttribute());
  }
  return known->second;
}

// A convolution without bias adds one zero of the result's type to all channels.
absl::StatusOr<Text> RegionWriter::ZeroBias(NodeId node) {
  const DType dtype = TensorOf(node).dtype;
  constexpr int64_t kOne[] = {1};
  return Generated(Cat(graph_.NameOf(node), "_bias"), dtype, kOne,
                   std::string(static_cast<size_t>(BytesOf(dtype)), '\0'));
}

// Zero point of an operand, or with `arg` "" of the result.
absl::StatusOr<int64_t> RegionWriter::ZeroPoint(NodeId node, std::string_view arg) const {
  const QuantId quant = graph_.quant(node);
  if (!quant.has_value() || quant.index == 0) return 0;
  const QuantRecord& record = context_.quants.Get(quant);
  const QuantParams* params = record.has_result ? &record.result : nullptr;
  if (!arg.empty()) {
    const AttrValue* value = Arg(node, arg);
    if (value == nullptr || value->kind != AttrKind::kOperand || value->operand >= record.operands.size()) return 0;
    params = &record.operands[value->operand];
  }
  if (params == nullptr || params->storage == DType::kBool || params->zero_points.empty()) return 0;
  const int64_t first = params->zero_points[0];
  for (const int64_t zero_point : params->zero_points) {
    if (zero_point != first) return InvalidError("tosa_write_c9", "zero points of ", arg, " differ per channel");
  }
  return first;
}

absl::StatusOr<Text> RegionWriter::ZeroPointOperand(NodeId node, const OperandRow& operand) {
  TARE_ASSIGN_OR_RETURN(const int64_t zero_point, ZeroPoint(node, operand.arg));
  DType dtype = TensorOf(node).dtype;
  if (operand.kind == OperandKind::kZeroPoint) {
    TARE_ASSIGN_OR_RETURN(const NodeId tensor, TensorArg(node, operand.arg));
    dtype = TensorOf(tensor).dtype;
  }
  if (zero_point != 0 && dtype != DType::kI8) {
    return InvalidError("tosa_write_c9", "zero point ", zero_point, " of ", Name(dtype), ": only i8 can have one");
  }
  TARE_ASSIGN_OR_RETURN(const std::string element, EncodeElement(dtype, AttrValue::Int(zero_point)));
  constexpr int64_t kOne[] = {1};
  const std::string_view of = operand.kind == OperandKind::kZeroPoint ? operand.arg : "output";
  return Generated(Cat(graph_.NameOf(node), "_", of, "_zp"), dtype, kOne, element);
}

absl::StatusOr<Text> RegionWriter::Generated(std::string_view wanted, DType dtype, std::span<const int64_t> shape,
                                             std::string_view elements) {
  std::string key = Cat(Name(dtype), "/");
  for (const int64_t dim : shape) CatTo(key, dim, "/");
  key += elements;
  if (const auto known = generated_.find(key); known != generated_.end()) return known->second;
  llvm::SmallVector<Dim, 4> dims;
  for (const int64_t dim : shape) dims.push_back(Dim::Static(dim));
  TensorMeta tensor;
  tensor.dtype = dtype;
  tensor.shape = {dims.data(), dims.size()};
  std::string packed;
  if (!IsPlain(dtype)) packed = PackElements(dtype, std::as_bytes(std::span(elements.data(), elements.size())));
  TARE_ASSIGN_OR_RETURN(const Text name, DeclareTensor(wanted, tensor, IsPlain(dtype) ? elements : packed));
  Append(kConst, {}, {name}, NoAttribute());
  generated_.emplace(std::move(key), name);
  return name;
}

absl::StatusOr<uint32_t> RegionWriter::WriteAttribute(NodeId node, const FileOp& row) {
  flatbuffers::FlatBufferBuilder& builder = file_.builder;
  constexpr size_t kMaxFields = std::tuple_size_v<decltype(row.fields)>;
  struct Ready {
    enum { kNothing, kOffset, kInt32, kBool } kind = kNothing;
    int64_t value = 0;
  } ready[kMaxFields];
  for (size_t i = 0; i < kMaxFields; ++i) {
    const FieldRow& field = row.fields[i];
    const AttrValue* value = Arg(node, field.arg);
    switch (field.kind) {
      case FieldKind::kInt:
        if (value == nullptr || value->kind != AttrKind::kInt || !FitsInt32(value->integer)) {
          return UnimplementedError("tosa_write_c7", "argument ", field.arg, " is no int of 32 bits");
        }
        ready[i] = {Ready::kInt32, value->integer};
        break;
      case FieldKind::kInts: {
        if (value == nullptr || value->kind != AttrKind::kInts) {
          return UnimplementedError("tosa_write_c3", "argument ", field.arg, " is no list of constant ints");
        }
        llvm::SmallVector<int32_t, 8> ints;
        for (const int64_t one : value->ints()) {
          if (!FitsInt32(one))
            return UnimplementedError("tosa_write_c7", field.arg, " holds ", one, ", more than 32 bits");
          ints.push_back(static_cast<int32_t>(one));
        }
        ready[i] = {Ready::kOffset, builder.CreateVector(ints.data(), ints.size()).o};
        break;
      }
      case FieldKind::kBool:
        ready[i] = {Ready::kBool, Flag(node, field.arg)};
        break;
      case FieldKind::kNanMode: {
        const bool ignore = TextArg(value, "PROPAGATE") == "IGNORE";
        ready[i] = {Ready::kInt32, static_cast<int64_t>(ignore ? tosafile::NanPropagationMode::IGNORE
                                                               : tosafile::NanPropagationMode::PROPAGATE)};
        break;
      }
      case FieldKind::kAccType:
      case FieldKind::kInputAccType: {
        TARE_ASSIGN_OR_RETURN(const NodeId input, TensorArg(node, "input"));
        const DType dtype = value != nullptr && value->kind == AttrKind::kDType
                                ? value->dtype
                                : DefaultAccType(TensorOf(input).dtype, TensorOf(node).dtype);
        const std::optional<tosafile::DType> type = FileTypeOf(dtype, file_.minor);
        if (!type) return UnimplementedError("tosa_write_c2", "accumulator type ", Name(dtype));
        ready[i] = {Ready::kInt32, static_cast<int64_t>(*type)};
        break;
      }
      case FieldKind::kMinValue:
      case FieldKind::kMaxValue: {
        if (value == nullptr) return InvalidError("tosa_write_c8", "argument ", field.arg, " is missing");
        TARE_ASSIGN_OR_RETURN(const std::string element, EncodeElement(TensorOf(node).dtype, *value));
        builder.ForceVectorAlignment(element.size(), 1, 8);
        ready[i] = {Ready::kOffset,
                    builder.CreateVector(reinterpret_cast<const uint8_t*>(element.data()), element.size()).o};
        break;
      }
      case FieldKind::kResizeMode: {
        const bool nearest = TextArg(value, "bilinear") == "nearest";
        ready[i] = {Ready::kInt32,
                    static_cast<int64_t>(nearest ? tosafile::ResizeMode::NEAREST : tosafile::ResizeMode::BILINEAR)};
        break;
      }
      default:  // kEnd; RESCALE and control flow write their own
        break;
    }
  }
  const flatbuffers::uoffset_t start = builder.StartTable();
  for (size_t i = 0; i < kMaxFields; ++i) {
    const auto slot = static_cast<flatbuffers::voffset_t>(4 + 2 * i);
    if (ready[i].kind == Ready::kOffset) {
      builder.AddOffset(slot, flatbuffers::Offset<void>(static_cast<uint32_t>(ready[i].value)));
    } else if (ready[i].kind == Ready::kInt32) {
      builder.AddElement<int32_t>(slot, static_cast<int32_t>(ready[i].value), 0);
    } else if (ready[i].kind == Ready::kBool) {
      builder.AddElement<uint8_t>(slot, ready[i].value != 0 ? 1 : 0, 0);
    }
  }
  return builder.EndTable(start);
}

absl::Status RegionWriter::CheckOperands(NodeId node, const FileOp& row) const {
  if (!Broadcasts(row.number)) return CheckWindow(node, row);
  const size_t rank = TensorOf(node).shape.size();
  for (const NodeId operand : graph_.operands(node)) {
    const Meta& meta = MetaOf(operand);
    if (meta.kind == MetaKind::kTensor && meta.tensor.shape.size() != rank) {
      return UnimplementedError("tosa_write_c10", "%", graph_.NameOf(operand), " has rank ", meta.tensor.shape.size(),
                                ", the result ", rank, ": reshape it, TOSA broadcasts extents of 1 only");
    }
  }
  return absl::OkStatus();
}

absl::Status RegionWriter::WriteControlFlow(NodeId node, uint8_t number) {
  const std::span<const NamedAttr> args = context_.attrs.Get(graph_.attrs(node));
  const size_t first_graph = number == kCondIf ? 1 : 0;
  const bool fits = args.size() == 4 && args[first_graph].value.kind == AttrKind::kGraph &&
                    args[first_graph + 1].value.kind == AttrKind::kGraph;
  if (!fits) return InvalidError("tosa_write_c8", "the arguments are not those of two bodies");
  Texts inputs;
  const auto add = [&](const AttrValue& value) -> absl::Status {
    if (value.kind != AttrKind::kOperand) return InvalidError("tosa_write_c8", "an operand is no tensor");
    TARE_ASSIGN_OR_RETURN(inputs.emplace_back(), NameOf(graph_.operands(node)[value.operand], false));
    return absl::OkStatus();
  };
  const auto add_all = [&](const AttrValue& list) -> absl::Status {
    if (list.kind != AttrKind::kList) {
      return list.kind == AttrKind::kInts && list.ints().empty()
                 ? absl::OkStatus()
                 : InvalidError("tosa_write_c8", "the operands are no list of tensors");
    }
    for (const AttrValue& item : list.items()) TARE_RETURN_IF_ERROR(add(item));
    return absl::OkStatus();
  };
  if (number == kCondIf) {
    TARE_RETURN_IF_ERROR(add(args[0].value));
  } else {
    const AttrValue& rest = args[3].value;
    const bool none =
        (rest.kind == AttrKind::kInts && rest.ints().empty()) || (rest.kind == AttrKind::kList && rest.items().empty());
    if (!none) {
      return InvalidError("tosa_write_c8", "values that the loop only reads: carry them through the body");
    }
  }
  TARE_RETURN_IF_ERROR(add_all(args[number == kCondIf ? 3 : 2].value));
  flatbuffers::FlatBufferBuilder& builder = file_.builder;
  const Text yes = builder.CreateString(file_.region_names[args[first_graph].value.graph.index]);
  const Text no = builder.CreateString(file_.region_names[args[first_graph + 1].value.graph.index]);
  TARE_ASSIGN_OR_RETURN(const Texts outputs, DeclareResults(node, false));
  const uint32_t attribute = number == kCondIf ? tosafile::CreateCondIfAttribute(builder, yes, no).o
                                               : tosafile::CreateWhileLoopAttribute(builder, yes, no).o;
  Append(number, inputs, outputs, attribute);
  return absl::OkStatus();
}

}  // namespace tare::tosa
