#include "backends/tosa/region_reader.h"

#include <algorithm>

#include "backends/tosa/flat.h"
#include "formats/pt2/utf8.h"
#include "ir/normalize.h"
#include "llvm/ADT/SmallVector.h"

namespace tare::tosa {
namespace {

constexpr size_t kMaxValues = kMaxNodes / 4;

// Whether the operator takes its `index`-th input as a tensor or shape, not as numbers.
bool TakesValue(uint32_t number, size_t index) {
  const FileOp* row = FindFileOp(number);
  if (row == nullptr) return true;
  OperandKind kind = OperandKind::kEnd;
  for (size_t i = 0; i <= std::min(index, row->operands.size() - 1); ++i) {
    if (row->operands[i].kind == OperandKind::kEnd) break;
    kind = row->operands[i].kind;
    if (kind == OperandKind::kTensors || kind == OperandKind::kShapes) break;
  }
  return kind == OperandKind::kTensor || kind == OperandKind::kTensors || kind == OperandKind::kShape ||
         kind == OperandKind::kShapes;
}

}  // namespace

absl::Status RegionReader::Read() {
  TARE_RETURN_IF_ERROR(CollectValues());
  TARE_RETURN_IF_ERROR(FindMakersAndNeeds());
  TARE_RETURN_IF_ERROR(ReadConstants());
  TARE_RETURN_IF_ERROR(ReadInputs());
  edit_.SetInputs(inputs_);
  for (size_t i = 0; i < SizeOf(block_.operators()); ++i) {
    const tosafile::Operator& op = *block_.operators()->Get(static_cast<flatbuffers::uoffset_t>(i));
    if (absl::Status status = ReadOperator(op); !status.ok()) {
      const std::string_view name = FileOpName(op.op());
      const std::string made = SizeOf(op.outputs()) == 0 ? "" : Cat(", which makes ", Shown(op.outputs()->Get(0)));
      return Within(status, Cat("operator ", i, ", ", name.empty() ? "unknown" : name, made));
    }
  }
  return ReadOutputs();
}

absl::Status RegionReader::CollectValues() {
  const size_t tensors = SizeOf(block_.tensors()), shapes = SizeOf(block_.shapes());
  if (tensors + shapes > kMaxValues)
    return InvalidError("tosa_read_c3", "the block has more than ", kMaxValues, " values");
  values_.reserve(tensors + shapes);
  const auto add = [&](const flatbuffers::String* name, Value value) -> absl::Status {
    const std::string_view text = TextOf(name);
    TARE_RETURN_IF_ERROR(FileReader::Charge(file_.name_bytes, text.size()));
    if (text.empty()) return InvalidError("tosa_read_c4", "a tensor or shape has no name");
    if (!pt2::IsUtf8(text)) return InvalidError("tosa_read_c4", "the name ", Shown(name), " is not UTF-8");
    if (values_.try_emplace(text, value).second) return absl::OkStatus();
    return InvalidError("tosa_read_c4", "two tensors or shapes are called ", Shown(name));
  };
  for (size_t i = 0; i < tensors; ++i) {
    const tosafile::Tensor* tensor = block_.tensors()->Get(static_cast<flatbuffers::uoffset_t>(i));
    Value value;
    value.tensor = tensor;
    TARE_RETURN_IF_ERROR(add(tensor->name(), value));
    if (tensor->variable()) return UnimplementedError("tosa_read_c8", "variable ", Shown(tensor->name()));
  }
  for (size_t i = 0; i < shapes; ++i) {
    const tosafile::Shape* shape = block_.shapes()->Get(static_cast<flatbuffers::uoffset_t>(i));
    Value value;
    value.shape = shape;
    TARE_RETURN_IF_ERROR(add(shape->name(), value));
  }
  return absl::OkStatus();
}

absl::Status RegionReader::FindMakersAndNeeds() {
  for (size_t i = 0; i < SizeOf(block_.operators()); ++i) {
    const tosafile::Operator* op = block_.operators()->Get(static_cast<flatbuffers::uoffset_t>(i));
    for (size_t k = 0; k < SizeOf(op->outputs()); ++k) {
      TARE_ASSIGN_OR_RETURN(Value * value, Find(At(op->outputs(), k)));
      if (value->maker != nullptr) {
        return InvalidError("tosa_read_c12", Shown(At(op->outputs(), k)), " is made twice");
      }
      value->maker = op;
    }
    for (size_t k = 0; k < SizeOf(op->inputs()); ++k) {
      TARE_ASSIGN_OR_RETURN(Value * value, Find(At(op->inputs(), k)));
      value->needed |= TakesValue(op->op(), k);
    }
  }
  for (size_t k = 0; k < SizeOf(block_.outputs()); ++k) {
    TARE_ASSIGN_OR_RETURN(Value * value, Find(At(block_.outputs(), k)));
    value->needed = true;
  }
  return absl::OkStatus();
}

absl::StatusOr<RegionReader::Value*> RegionReader::Find(const flatbuffers::String* name) {
  const auto [known, is_new] = found_.try_emplace(name, nullptr);
  if (is_new) {
    TARE_RETURN_IF_ERROR(FileReader::Charge(file_.name_bytes, TextOf(name).size()));
    const auto found = values_.find(TextOf(name));
    if (found != values_.end()) known->second = &found->second;
  }
  if (known->second == nullptr) return InvalidError("tosa_read_c4", "there is no tensor or shape ", Shown(name));
  return known->second;
}

absl::StatusOr<MetaId> RegionReader::MetaOf(const Value& value) {
  if (value.tensor == nullptr) return InvalidError("tosa_read_c9", Shown(value.shape->name()), " is no tensor");
  const tosafile::Tensor& tensor = *value.tensor;
  const auto within = [&](absl::Status status) { return Within(status, Cat("tensor ", Shown(tensor.name()))); };
  const std::optional<DType> dtype = DTypeOfFile(tensor.type());
  if (!dtype) {
    return within(UnimplementedError("tosa_read_c5", "element type ", static_cast<uint32_t>(tensor.type())));
  }
  if (tensor.is_unranked()) return within(UnimplementedError("tosa_read_c8", "its rank is not stated"));
  const size_t rank = SizeOf(tensor.shape());
  if (rank > kMaxFileRank) return within(InvalidError("tosa_read_c6", "rank ", rank, " exceeds ", kMaxFileRank));
  llvm::SmallVector<Dim, 8> shape(rank), strides(rank);
  int64_t elements = 1;
  for (size_t i = 0; i < rank; ++i) {
    const int32_t extent = tensor.shape()->Get(static_cast<flatbuffers::uoffset_t>(i));
    if (extent == -1) return within(UnimplementedError("tosa_read_c8", "extent ", i, " is not stated"));
    if (extent < 1) return within(InvalidError("tosa_read_c6", "extent ", i, " is ", extent));
    shape[i] = Dim::Static(extent);
    if (__builtin_mul_overflow(elements, int64_t{extent}, &elements) || elements > kMaxElements) {
      return within(InvalidError("tosa_read_c6", "it has too many elements"));
    }
  }
  int64_t stride = 1;
  for (size_t i = rank; i-- > 0;) {
    strides[i] = Dim::Static(stride);
    stride *= shape[i].value();
  }
  TensorMeta meta;
  meta.dtype = *dtype;
  meta.shape = {shape.data(), rank};
  meta.strides = {strides.data(), rank};
  meta.offset = Dim::Static(0);
  return context_.metas.Tensor(meta);
}

absl::StatusOr<std::span<const std::byte>> RegionReader::FileElements(const Value& value, size_t& count) {
  TARE_ASSIGN_OR_RETURN(const MetaId meta, MetaOf(value));
  const TensorMeta& tensor = context_.metas.Get(meta).tensor;
  count = 1;
  for (const Dim dim : tensor.shape) count *= static_cast<size_t>(dim.value());
  const flatbuffers::Vector<uint8_t>* data = value.tensor->data();
  const size_t needed = FileBytes(tensor.dtype, count);
  if (SizeOf(data) < needed) {
    return InvalidError("tosa_read_c7", "constant ", Shown(value.tensor->name()), " has ", SizeOf(data),
                        " bytes, it needs ", needed);
  }
  return std::as_bytes(std::span(data->data(), needed));
}

absl::StatusOr<ConstId> RegionReader::ReadConstant(std::string_view name, const Value& value) {
  size_t count = 0;
  TARE_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, FileElements(value, count));
  Constant constant;
  constant.name = std::string(name);
  TARE_ASSIGN_OR_RETURN(constant.meta, MetaOf(value));
  const DType dtype = context_.metas.Get(constant.meta).tensor.dtype;
  if (IsPlain(dtype)) {
    constant.payload.owner = file_.owner;
    constant.payload.bytes = bytes;
  } else {
    TARE_RETURN_IF_ERROR(FileReader::Charge(file_.unpacked, count));
    auto elements = std::make_shared<const std::vector<std::byte>>(UnpackElements(dtype, count, bytes));
    constant.payload.bytes = *elements;
    constant.payload.owner = std::move(elements);
  }
  file_.program.constants.push_back(std::move(constant));
  return ConstId{static_cast<uint32_t>(file_.program.constants.size() - 1)};
}

// Main's constants are inputs; those of a body are `constant` nodes, at the place of their operators.
absl::Status RegionReader::ReadConstants() {
  if (id_.index != 0) return absl::OkStatus();
  for (size_t i = 0; i < SizeOf(block_.operators()); ++i) {
    const tosafile::Operator* op = block_.operators()->Get(static_cast<flatbuffers::uoffset_t>(i));
    if (op->op() != kConst) continue;
    if (SizeOf(op->inputs()) != 0 || SizeOf(op->outputs()) != 1) {
      return InvalidError("tosa_read_c9", "a CONST must have one output and no input");
    }
    const flatbuffers::String* name = op->outputs()->Get(0);
    TARE_ASSIGN_OR_RETURN(Value * value, Find(name));
    if (!value->needed) continue;
    InputSpec spec;
    spec.kind = InputKind::kTensorConstant;
    spec.target = std::string(TextOf(name));
    TARE_ASSIGN_OR_RETURN(spec.constant, ReadConstant(TextOf(name), *value));
    const MetaId meta = file_.program.constants[spec.constant.index].meta;
    TARE_ASSIGN_OR_RETURN(const NodeId node, Append(op::placeholder, {}, {}, meta, QuantId{0}, TextOf(name)));
    value->node = node;
    inputs_.push_back(node);
    file_.program.inputs.push_back(std::move(spec));
  }
  return absl::OkStatus();
}

absl::Status RegionReader::ReadInputs() {
  for (size_t i = 0; i < SizeOf(block_.inputs()); ++i) {
    const flatbuffers::String* name = At(block_.inputs(), i);
    TARE_ASSIGN_OR_RETURN(Value * value, Find(name));
    if (value->maker != nullptr || value->node.has_value()) {
      return InvalidError("tosa_read_c12", "input ", Shown(name), " is made by an operator or an input twice");
    }
    TARE_ASSIGN_OR_RETURN(const MetaId meta, MetaOf(*value));
    TARE_ASSIGN_OR_RETURN(value->node, Append(op::placeholder, {}, {}, meta, QuantId{0}, TextOf(name)));
    inputs_.push_back(value->node);
    if (id_.index == 0) file_.program.inputs.emplace_back();
  }
  return absl::OkStatus();
}

absl::Status RegionReader::ReadOutputs() {
  std::vector<NodeId> operands;
  std::vector<AttrValue> values;
  const size_t count = SizeOf(block_.outputs());
  if (count == 0) return InvalidError("tosa_read_c13", "a block has no outputs");
  if (count > static_cast<size_t>(kMaxOperands)) return InvalidError("tosa_read_c3", count, " outputs");
  for (size_t i = 0; i < count; ++i) {
    const flatbuffers::String* name = At(block_.outputs(), i);
    TARE_ASSIGN_OR_RETURN(const Value* value, Find(name));
    if (!value->node.has_value() || value->tensor == nullptr) {
      return InvalidError("tosa_read_c12", "output ", Shown(name), " is no tensor that an operator makes");
    }
    values.push_back(AttrValue::Operand(static_cast<uint32_t>(operands.size())));
    operands.push_back(value->node);
    if (id_.index == 0) file_.program.outputs.emplace_back();
  }
  const NamedAttr args{"args", MakeList(context_.strings, values)};
  NodeDef def;
  def.op = op::output;
  def.attrs = context_.attrs.Intern({&args, 1});
  def.meta = context_.metas.None();
  def.operands = operands;
  edit_.Append(def, graph().mutable_lineage().UniqueName("output"));
  return absl::OkStatus();
}

absl::StatusOr<NodeId> RegionReader::Append(Op op, std::span<const NamedAttr> args, std::span<const NodeId> operands,
                                            MetaId meta, QuantId quant, std::string_view name) {
  if (operands.size() > static_cast<size_t>(kMaxOperands)) {
    return InvalidError("tosa_read_c3", operands.size(), " operands of one operator");
  }
  NodeDef def;
  def.op = op;
  TARE_ASSIGN_OR_RETURN(def.attrs, NormalizeArgs(context_, op, args));
  def.meta = meta;
  def.quant = quant;
  def.operands = operands;
  return edit_.Append(def, graph().mutable_lineage().UniqueName(name));
}

absl::Status RegionReader::Make(Value& value, NodeId node) {
  if (value.node.has_value()) return InvalidError("tosa_read_c12", "the result is an input or made before");
  value.node = node;
  return absl::OkStatus();
}

}  // namespace tare::tosa
