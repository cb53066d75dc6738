// Operators as nodes, along the rows of file_ops.
#include <algorithm>
#include <cstring>

#include "backends/tosa/flat.h"
#include "backends/tosa/region_reader.h"
#include "ir/normalize.h"
#include "ir/op_table.h"

namespace tare::tosa {

absl::Status RegionReader::ReadOperator(const tosafile::Operator& op) {
  const uint32_t number = op.op();
  if (number == kConst) {
    if (id_.index == 0) return absl::OkStatus();  // an input of the program
    TARE_ASSIGN_OR_RETURN(Value * value, Find(SizeOf(op.outputs()) == 1 ? At(op.outputs(), 0) : nullptr));
    if (!value->needed) return absl::OkStatus();
    TARE_ASSIGN_OR_RETURN(const ConstId id, ReadConstant(TextOf(At(op.outputs(), 0)), *value));
    const NamedAttr args[] = {{"const", AttrValue::Int(id.index)}};
    return AppendResults(op, op::constant, args, {}, QuantId{0}, false).status();
  }
  if (number == kConstShape) return ReadConstShape(op);
  if (number == kCondIf || number == kWhileLoop) return ReadControlFlow(op);
  const FileOp* row = FindFileOp(number);
  if (row == nullptr) return UnimplementedError("tosa_read_c8", "operators of number ", number, " cannot be read");
  return ReadNode(op, *row);
}

absl::Status RegionReader::ReadNode(const tosafile::Operator& op, const FileOp& row) {
  Draft draft{op, row};
  size_t expected = 0;
  bool variadic = false;
  for (const OperandRow& operand : row.operands) {
    expected += operand.kind == OperandKind::kEnd ? 0 : 1;
    variadic |= operand.kind == OperandKind::kTensors || operand.kind == OperandKind::kShapes;
  }
  const size_t given = SizeOf(op.inputs());
  if (variadic ? given < expected : given != expected) {
    return InvalidError("tosa_read_c9", given, " inputs, ", expected, " are needed");
  }
  if (SizeOf(op.outputs()) != row.results) {
    return InvalidError("tosa_read_c9", SizeOf(op.outputs()), " results, ", row.results, " are needed");
  }
  if (row.fields[0].kind != FieldKind::kEnd &&
      (static_cast<uint32_t>(op.attribute_type()) != row.number || op.attribute() == nullptr)) {
    return InvalidError("tosa_read_c9", "its attribute is missing or that of another operator");
  }
  if (given > 0 && row.operands[0].kind == OperandKind::kTensor) {
    TARE_ASSIGN_OR_RETURN(draft.input, TypeOf(At(op.inputs(), 0)));
  }
  if (!row.makes_shape) {
    TARE_ASSIGN_OR_RETURN(draft.result, TypeOf(At(op.outputs(), 0)));
  }
  for (size_t i = 0; i < row.operands.size() && row.operands[i].kind != OperandKind::kEnd; ++i) {
    TARE_RETURN_IF_ERROR(ReadOperand(draft, row.operands[i], i));
  }
  if (row.number == kRescale) TARE_RETURN_IF_ERROR(ReadScales(draft));
  for (size_t i = 0; i < row.fields.size(); ++i) TARE_RETURN_IF_ERROR(ReadField(draft, row.fields[i], i));
  const bool matmul = row.operands[1].arg == "input2";
  const bool other_result = draft.result == DType::kI48 || (matmul && draft.result == DType::kF16);
  if (row.result == ResultArg::kDType) draft.args.push_back({"dtype", AttrValue::OfDType(draft.result)});
  if (row.result == ResultArg::kOutDType && other_result && draft.input != DType::kI48 &&
      draft.input != DType::kF8E4M3FN && draft.input != DType::kF8E5M2) {
    draft.args.push_back({"out_dtype", AttrValue::OfDType(draft.result)});
  }
  TARE_ASSIGN_OR_RETURN(const QuantId quant, ZeroPoints(draft));
  const Op node_op = context_.ops.Find(Cat("tosa.", row.name, ".default"));
  if (!node_op.has_value()) return UnimplementedError("tosa_read_c8", "there is no row for tosa.", row.name);
  return AppendResults(op, node_op, draft.args, draft.operands, quant, row.results > 1).status();
}

absl::StatusOr<DType> RegionReader::TypeOf(const flatbuffers::String* name) {
  TARE_ASSIGN_OR_RETURN(const Value* value, Find(name));
  TARE_ASSIGN_OR_RETURN(const MetaId meta, MetaOf(*value));
  return context_.metas.Get(meta).tensor.dtype;
}

absl::StatusOr<AttrValue> RegionReader::OperandOf(Draft& draft, const flatbuffers::String* name, bool shape) {
  TARE_ASSIGN_OR_RETURN(const Value* value, Find(name));
  if ((value->shape != nullptr) != shape) {
    return InvalidError("tosa_read_c9", "input ", Shown(name), " must be a ", shape ? "shape" : "tensor");
  }
  if (!value->node.has_value()) return InvalidError("tosa_read_c12", Shown(name), " is used before it is made");
  draft.operands.push_back(value->node);
  return AttrValue::Operand(static_cast<uint32_t>(draft.operands.size() - 1));
}

absl::Status RegionReader::ReadOperand(Draft& draft, const OperandRow& operand, size_t index) {
  const flatbuffers::String* name = At(draft.op.inputs(), index);
  switch (operand.kind) {
    case OperandKind::kTensor:
    case OperandKind::kShape: {
      TARE_ASSIGN_OR_RETURN(const AttrValue value, OperandOf(draft, name, operand.kind == OperandKind::kShape));
      draft.args.push_back({operand.arg, value});
      return absl::OkStatus();
    }
    case OperandKind::kTensors:
    case OperandKind::kShapes: {
      std::vector<AttrValue>& items = draft.lists.emplace_back();
      for (size_t i = index; i < SizeOf(draft.op.inputs()); ++i) {
        TARE_ASSIGN_OR_RETURN(items.emplace_back(),
                              OperandOf(draft, At(draft.op.inputs(), i), operand.kind == OperandKind::kShapes));
      }
      draft.args.push_back({operand.arg, AttrValue::List(items)});
      return absl::OkStatus();
    }
    case OperandKind::kMultiplier:
    case OperandKind::kShift:
      return absl::OkStatus();  // ReadScales takes both
    default:
      return ReadNumber(draft, operand, name);
  }
}

// The zero points of operands and result as a record of the quant column; none when all are 0.
absl::StatusOr<QuantId> RegionReader::ZeroPoints(const Draft& draft) {
  if (draft.zero_points.empty()) return QuantId{0};
  static constexpr double kOne[] = {1.0};
  const auto params = [&](DType storage, const int64_t& zero_point) {
    QuantParams one;
    one.storage = storage;
    one.scales = kOne;
    one.zero_points = {&zero_point, 1};
    const int bits = std::min(BitsOf(storage), 32);
    one.qmin = -(int64_t{1} << (bits - 1));
    one.qmax = (int64_t{1} << (bits - 1)) - 1;
    return one;
  };
  QuantParams none;
  none.storage = DType::kBool;
  std::vector<QuantParams> operands(draft.operands.size(), none);
  QuantRecord record;
  for (const auto& [arg, zero_point] : draft.zero_points) {
    if (arg.empty()) {
      record.result = params(draft.result, zero_point);
      record.has_result = true;
      continue;
    }
    for (const NamedAttr& attr : draft.args) {
      if (attr.name != arg || attr.value.kind != AttrKind::kOperand) continue;
      const MetaId meta = graph().meta(draft.operands[attr.value.operand]);
      operands[attr.value.operand] = params(context_.metas.Get(meta).tensor.dtype, zero_point);
    }
  }
  record.operands = operands;
  return context_.quants.Intern(record);
}

absl::Status RegionReader::ReadConstShape(const tosafile::Operator& op) {
  if (SizeOf(op.inputs()) != 0 || SizeOf(op.outputs()) != 1) {
    return InvalidError("tosa_read_c9", "a CONST_SHAPE must have one output and no input");
  }
  TARE_ASSIGN_OR_RETURN(const Value* value, Find(At(op.outputs(), 0)));
  if (value->shape == nullptr) return InvalidError("tosa_read_c9", "its result is no shape");
  const size_t count = value->shape->rank();
  if (count > kMaxFileShape) return InvalidError("tosa_read_c3", "the shape has ", count, " values");
  if (SizeOf(value->shape->data()) < count * sizeof(int64_t)) {
    return InvalidError("tosa_read_c7", "the shape has ", SizeOf(value->shape->data()), " bytes for ", count,
                        " values");
  }
  std::vector<int64_t> values(count);
  if (count > 0) std::memcpy(values.data(), value->shape->data()->data(), count * sizeof(int64_t));
  const NamedAttr args[] = {{"shape", AttrValue::Ints(values)}};
  return AppendResults(op, context_.ops.Find("tosa.CONST_SHAPE.default"), args, {}, QuantId{0}, false).status();
}

AttrValue RegionReader::NameBody(const flatbuffers::String* region) {
  FileReader::Body body;
  if (region != nullptr) body.region = region->str();
  body.owner_graph = id_;
  file_.bodies.push_back(std::move(body));
  return AttrValue::OfGraph(GraphId{file_.next_graph++});
}

absl::Status RegionReader::ReadControlFlow(const tosafile::Operator& op) {
  const bool is_if = op.op() == kCondIf;
  const size_t given = SizeOf(op.inputs());
  if (static_cast<uint32_t>(op.attribute_type()) != op.op() || op.attribute() == nullptr || (is_if && given == 0)) {
    return InvalidError("tosa_read_c9", "its condition or the names of its bodies are missing");
  }
  Draft draft{op, FileOps()[0]};
  std::vector<AttrValue>& items = draft.lists.emplace_back();
  AttrValue predicate;
  for (size_t i = 0; i < given; ++i) {
    TARE_ASSIGN_OR_RETURN(const AttrValue value, OperandOf(draft, At(op.inputs(), i), false));
    if (is_if && i == 0) {
      predicate = value;
    } else {
      items.push_back(value);
    }
  }
  const auto* names = static_cast<const tosafile::CondIfAttribute*>(op.attribute());  // both have the same fields
  const AttrValue first = NameBody(names->then_graph());
  const AttrValue second = NameBody(names->else_graph());
  const AttrValue operands = AttrValue::List(items);
  if (is_if) draft.args = {{"", predicate}, {"", first}, {"", second}, {"", operands}};
  if (!is_if) draft.args = {{"", first}, {"", second}, {"", operands}, {"", AttrValue::Ints({})}};
  const Op node_op = context_.ops.Find(is_if ? "higher_order.cond" : "higher_order.while_loop");
  TARE_ASSIGN_OR_RETURN(const NodeId node, AppendResults(op, node_op, draft.args, draft.operands, QuantId{0}, true));
  for (size_t i = file_.bodies.size() - 2; i < file_.bodies.size(); ++i) file_.bodies[i].owner = node;
  return absl::OkStatus();
}

absl::StatusOr<MetaId> RegionReader::ShapeMeta(const tosafile::Shape& shape, Op op, std::span<const NamedAttr> args,
                                               std::span<const NodeId> operands) {
  TARE_ASSIGN_OR_RETURN(const AttrsId attrs, NormalizeArgs(context_, op, args));
  std::vector<MetaId> metas;
  for (const NodeId operand : operands) metas.push_back(graph().meta(operand));
  TARE_ASSIGN_OR_RETURN(const InferResult result, file_.inferrer.Infer(op, attrs, metas, QuantId{0}, {}));
  const Meta& meta = context_.metas.Get(result.meta);
  if (meta.kind != MetaKind::kList || meta.items.size() != shape.rank()) {
    return InvalidError("tosa_read_c6", "shape ", Shown(shape.name()), " has ", shape.rank(),
                        " values, its operator makes ", meta.kind == MetaKind::kList ? meta.items.size() : 0);
  }
  return result.meta;
}

absl::StatusOr<NodeId> RegionReader::AppendResults(const tosafile::Operator& op, Op node_op,
                                                   std::span<const NamedAttr> args, std::span<const NodeId> operands,
                                                   QuantId quant, bool tuple) {
  const size_t count = SizeOf(op.outputs());
  if (count == 0) return InvalidError("tosa_read_c9", "it has no result");
  std::vector<Value*> results;
  std::vector<MetaId> metas;
  for (size_t i = 0; i < count; ++i) {
    TARE_ASSIGN_OR_RETURN(results.emplace_back(), Find(At(op.outputs(), i)));
    if (const tosafile::Shape* shape = results.back()->shape; shape != nullptr) {
      if (tuple) return InvalidError("tosa_read_c9", "a result must be a tensor");
      TARE_ASSIGN_OR_RETURN(metas.emplace_back(), ShapeMeta(*shape, node_op, args, operands));
      continue;
    }
    TARE_ASSIGN_OR_RETURN(metas.emplace_back(), MetaOf(*results.back()));
  }
  const std::string_view first = TextOf(At(op.outputs(), 0));
  if (!tuple) {
    TARE_ASSIGN_OR_RETURN(const NodeId node, Append(node_op, args, operands, metas[0], quant, first));
    TARE_RETURN_IF_ERROR(Make(*results[0], node));
    return node;
  }
  // The elements have the names of the file, so they come first; the tuple is called after the first.
  const MetaId meta = context_.metas.Tuple(metas);
  TARE_ASSIGN_OR_RETURN(const NodeId node, Append(node_op, args, operands, meta, quant, Cat(first, "_results")));
  for (size_t i = 0; i < count; ++i) {
    const NamedAttr element[] = {{"self", AttrValue::Operand(0)}, {"index", AttrValue::Int(static_cast<int64_t>(i))}};
    TARE_ASSIGN_OR_RETURN(const NodeId item,
                          Append(op::getitem, element, {&node, 1}, metas[i], QuantId{0}, TextOf(At(op.outputs(), i))));
    TARE_RETURN_IF_ERROR(Make(*results[i], item));
  }
  return node;
}

}  // namespace tare::tosa
