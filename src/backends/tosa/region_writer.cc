#include "backends/tosa/region_writer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/context.h"
#include "ir/explain.h"
#include "ir/status.h"
#include "llvm/ADT/SmallVector.h"

namespace tare::tosa {
namespace {

constexpr int kReadsKept = 8;                // of mapped constants
constexpr size_t kLeastHeldBytes = 1 << 13;  // two pages: with fewer none would stay untouched

int64_t ElementIndex(const Context& context, const Graph& graph, NodeId getitem) {
  for (const NamedAttr& attr : context.attrs.Get(graph.attrs(getitem))) {
    if (attr.value.kind == AttrKind::kInt) return attr.value.integer;
  }
  return -1;
}

// Extents in elements. Errors: [tosa_write_c3], [tosa_write_c4], [tosa_write_c5], [tosa_write_c6].
absl::StatusOr<llvm::SmallVector<int32_t, 8>> FileShape(const TensorMeta& tensor, int max_rank) {
  if (tensor.shape.size() > static_cast<size_t>(max_rank)) {
    return UnimplementedError("tosa_write_c5", "rank ", tensor.shape.size(), " exceeds ", max_rank,
                              ", the most the level allows: merge dims with a reshape");
  }
  llvm::SmallVector<int32_t, 8> shape;
  int64_t elements = 1;
  for (const Dim dim : tensor.shape) {
    if (!dim.is_static()) {
      return UnimplementedError("tosa_write_c3", "an extent is symbolic: export the program with static shapes");
    }
    if (dim.value() == 0) return UnimplementedError("tosa_write_c4", "an extent is 0, which TOSA has not");
    if (__builtin_mul_overflow(elements, dim.value(), &elements) || elements > kMaxFileElements) {
      return UnimplementedError("tosa_write_c6", "the tensor has more than 2^31 - 1 elements");
    }
    shape.push_back(static_cast<int32_t>(dim.value()));
  }
  return shape;
}

// Ints of a shape's metadata. Nothing when it is no list of constant ints.
std::optional<std::vector<int64_t>> ShapeValues(const Context& context, const Meta& meta) {
  if (meta.kind != MetaKind::kList) return std::nullopt;
  std::vector<int64_t> values;
  for (const MetaId item : meta.items) {
    const Meta& element = context.metas.Get(item);
    const std::optional<int64_t> value =
        element.kind == MetaKind::kInt ? context.syms.Constant(element.value) : std::nullopt;
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

}  // namespace

absl::StatusOr<flatbuffers::Offset<tosafile::Region>> RegionWriter::Write() {
  FindLive();
  TARE_RETURN_IF_ERROR(WriteInputs());
  for (const NodeId node : graph_.nodes()) {
    const Op op = graph_.op(node);
    if (!live_[node.index] || op == op::placeholder || op == op::output || op == op::getitem) continue;
    if (absl::Status status = WriteNode(node); !status.ok()) {
      return AtNode(file_.program, {.graph = id_, .node = node, .op = {}, .pass = {}}, status);
    }
  }
  if (absl::Status status = WriteOutputs(); !status.ok()) {
    return AtNode(file_.program, {.graph = id_, .node = graph_.last(), .op = {}, .pass = {}}, status);
  }
  flatbuffers::FlatBufferBuilder& builder = file_.builder;
  const Text name = builder.CreateString(file_.region_names[id_.index]);
  const auto operators = builder.CreateVector(operators_);
  const auto tensors = builder.CreateVector(tensors_);
  const auto shapes = builder.CreateVector(shapes_);
  const auto inputs = builder.CreateVector(inputs_);
  const auto outputs = builder.CreateVector(outputs_);
  const auto block = tosafile::CreateBasicBlock(builder, name, operators, tensors, inputs, outputs, shapes);
  return tosafile::CreateRegion(builder, name, builder.CreateVector(&block, 1));
}

void RegionWriter::FindLive() {
  live_.assign(graph_.id_bound(), false);
  live_[graph_.last().index] = true;
  for (NodeId node = graph_.last(); node.has_value(); node = graph_.prev(node)) {
    const Op op = graph_.op(node);
    if (context_.ops.Has(op, kEffect) || context_.ops.Has(op, kMutates)) live_[node.index] = true;
    if (op == op::getitem) {
      elements_[{graph_.operands(node)[0], ElementIndex(context_, graph_, node)}] = node;  // the first comes last
    }
    if (!live_[node.index]) continue;
    for (const NodeId operand : graph_.operands(node)) live_[operand.index] = true;
  }
}

absl::Status RegionWriter::WriteInputs() {
  const std::span<const NodeId> inputs = graph_.inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const NodeId node = inputs[i];
    const bool has_spec = id_.index == 0 && i < file_.program.inputs.size();
    const ConstId constant = has_spec ? file_.program.inputs[i].constant : ConstId{};
    absl::Status status;
    if (constant.has_value()) {
      if (live_[node.index]) status = WriteConstant(node, constant);
    } else if (MetaOf(node).kind != MetaKind::kTensor) {
      status = InvalidError("tosa_write_c8", "an input that is no tensor");
    } else {
      absl::StatusOr<Text> name = DeclareTensor(graph_.NameOf(node), TensorOf(node));
      status = name.status();
      if (name.ok()) {
        values_[node] = {*name};
        inputs_.push_back(*name);
      }
    }
    if (!status.ok()) return AtNode(file_.program, {.graph = id_, .node = node, .op = {}, .pass = {}}, status);
  }
  return absl::OkStatus();
}

absl::Status RegionWriter::WriteNode(NodeId node) {
  const Op op = graph_.op(node);
  if (op == op::constant) {
    const AttrValue* constant = Arg(node, "const");
    if (constant == nullptr || constant->kind != AttrKind::kInt || constant->integer < 0 ||
        constant->integer >= static_cast<int64_t>(file_.program.constants.size())) {
      return InvalidError("tosa_write_c8", "there is no such constant");
    }
    return WriteConstant(node, ConstId{static_cast<uint32_t>(constant->integer)});
  }
  if (op == file_.const_shape) return WriteConstShape(node);
  if (op == file_.cond) return WriteControlFlow(node, kCondIf);
  if (op == file_.while_loop) return WriteControlFlow(node, kWhileLoop);
  const auto row = file_.file_ops.find(op.index);
  if (row == file_.file_ops.end() || (row->second->number > kLastOpOf10 && file_.minor == 0)) {
    return UnimplementedError("tosa_write_c1", "TOSA 1.", file_.minor, " has no such operator: lower the node first");
  }
  return row->second->number == kRescale ? WriteRescale(node) : WriteOperator(node, *row->second);
}

absl::Status RegionWriter::WriteConstant(NodeId node, ConstId constant) {
  std::vector<std::byte> room;
  const Constant& value = file_.program.constants[constant.index];
  TARE_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, ContiguousBytes(context_, value, room));
  const TensorMeta& tensor = context_.metas.Get(value.meta).tensor;
  std::string packed;
  if (!IsPlain(tensor.dtype)) packed = PackElements(tensor.dtype, bytes);
  const std::string_view data = IsPlain(tensor.dtype)
                                    ? std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())
                                    : std::string_view(packed);
  const bool held = IsPlain(tensor.dtype) && room.empty();
  TARE_ASSIGN_OR_RETURN(const Text name, DeclareTensor(graph_.NameOf(node), tensor, data, held));
  values_[node] = {name};
  Append(kConst, {}, {name}, NoAttribute());
  // Reading one small constant fills the pages around it as well.
  if (value.payload.mapped && ++file_.reads % kReadsKept == 0)
    for (const Payload& file : file_.mapped) ForgetPages(file);
  return absl::OkStatus();
}

absl::Status RegionWriter::WriteConstShape(NodeId node) {
  const std::optional<std::vector<int64_t>> values = ShapeValues(context_, MetaOf(node));
  if (!values) return UnimplementedError("tosa_write_c3", "the shape is not a list of constant ints");
  const Text name = file_.builder.CreateString(file_.UniqueName(graph_.NameOf(node)));
  DeclareShape(name, *values, true);
  values_[node] = {name, true};
  Append(kConstShape, {}, {name}, NoAttribute());
  return absl::OkStatus();
}

absl::StatusOr<Texts> RegionWriter::DeclareResults(NodeId node, bool shapes) {
  const Meta& meta = MetaOf(node);
  if (shapes) {
    const std::optional<std::vector<int64_t>> values = ShapeValues(context_, meta);
    if (!values) return UnimplementedError("tosa_write_c3", "the shape depends on symbols");
    const Text name = file_.builder.CreateString(file_.UniqueName(graph_.NameOf(node)));
    DeclareShape(name, *values, false);
    values_[node] = {name, true};
    return Texts{name};
  }
  if (meta.kind == MetaKind::kTensor) {
    TARE_ASSIGN_OR_RETURN(const Text name, DeclareTensor(graph_.NameOf(node), meta.tensor));
    values_[node] = {name};
    return Texts{name};
  }
  if (meta.kind != MetaKind::kTuple && meta.kind != MetaKind::kList) {
    return InvalidError("tosa_write_c8", "the result is no tensor");
  }
  Texts names;
  for (size_t i = 0; i < meta.items.size(); ++i) {
    const Meta& item = context_.metas.Get(meta.items[i]);
    if (item.kind != MetaKind::kTensor) return InvalidError("tosa_write_c8", "result ", i, " is no tensor");
    const auto element = elements_.find({node, static_cast<int64_t>(i)});
    const std::string wanted =
        element == elements_.end() ? Cat(graph_.NameOf(node), "_", i) : std::string(graph_.NameOf(element->second));
    TARE_ASSIGN_OR_RETURN(names.emplace_back(), DeclareTensor(wanted, item.tensor));
    if (element != elements_.end()) values_[element->second] = {names.back()};
  }
  return names;
}

absl::StatusOr<Text> RegionWriter::DeclareTensor(std::string_view wanted, const TensorMeta& tensor,
                                                 std::string_view data, bool held) {
  const std::optional<tosafile::DType> type = FileTypeOf(tensor.dtype, file_.minor);
  if (!type) {
    return UnimplementedError("tosa_write_c2", "TOSA 1.", file_.minor, " has no dtype ", Name(tensor.dtype));
  }
  TARE_ASSIGN_OR_RETURN(const auto shape, FileShape(tensor, file_.max_rank));
  flatbuffers::FlatBufferBuilder& builder = file_.builder;
  const Text name = builder.CreateString(file_.UniqueName(wanted));
  const auto extents = builder.CreateVector(shape.data(), shape.size());
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> bytes = 0;
  if (!data.empty()) {
    builder.ForceVectorAlignment(data.size(), 1, 8);
    if (held && data.size() >= kLeastHeldBytes) {
      uint8_t* unused = nullptr;
      bytes = builder.CreateUninitializedVector<uint8_t>(data.size(), &unused);
      file_.held.push_back({builder.GetSize() - sizeof(flatbuffers::uoffset_t), data});
    } else {
      bytes = builder.CreateVector(reinterpret_cast<const uint8_t*>(data.data()), data.size());
    }
  }
  tensors_.push_back(tosafile::CreateTensor(builder, name, extents, *type, bytes));
  return name;
}

void RegionWriter::DeclareShape(Text name, std::span<const int64_t> values, bool constant) {
  flatbuffers::FlatBufferBuilder& builder = file_.builder;
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> bytes = 0;
  if (constant) {
    builder.ForceVectorAlignment(values.size_bytes(), 1, 8);
    bytes = builder.CreateVector(reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes());
  }
  shapes_.push_back(tosafile::CreateShape(builder, name, static_cast<uint32_t>(values.size()), bytes));
}

absl::StatusOr<Text> RegionWriter::Identity(NodeId value) {
  TARE_ASSIGN_OR_RETURN(const Text from, NameOf(value, false));
  TARE_ASSIGN_OR_RETURN(const Text name, DeclareTensor(Cat(graph_.NameOf(value), "_out"), TensorOf(value)));
  Append(kIdentity, {from}, {name}, NoAttribute());
  return name;
}

// An output must have an operator of its own that makes it.
absl::Status RegionWriter::WriteOutputs() {
  absl::flat_hash_set<NodeId> written;
  const auto write = [&](const AttrValue& output) -> absl::Status {
    if (output.kind != AttrKind::kOperand) return UnimplementedError("tosa_write_c13", "an output is no tensor");
    NodeId value = graph_.operands(graph_.last())[output.operand];
    if (MetaOf(value).kind != MetaKind::kTensor) {
      return UnimplementedError("tosa_write_c13", "output %", graph_.NameOf(value), " is no tensor");
    }
    if (graph_.op(value) == op::getitem) {
      value = elements_.at({graph_.operands(value)[0], ElementIndex(context_, graph_, value)});
    }
    const bool made = graph_.op(value) != op::placeholder && graph_.op(value) != op::constant;
    TARE_ASSIGN_OR_RETURN(const Text name,
                          made&& written.insert(value).second ? NameOf(value, false) : Identity(value));
    outputs_.push_back(name);
    return absl::OkStatus();
  };
  for (const NamedAttr& attr : context_.attrs.Get(graph_.attrs(graph_.last()))) {
    if (attr.value.kind == AttrKind::kInts) return UnimplementedError("tosa_write_c13", "an output is a number");
    if (attr.value.kind != AttrKind::kList) continue;
    for (const AttrValue& output : attr.value.items()) TARE_RETURN_IF_ERROR(write(output));
  }
  return outputs_.empty() ? UnimplementedError("tosa_write_c13", "there are no outputs") : absl::OkStatus();
}

absl::StatusOr<Text> RegionWriter::NameOf(NodeId value, bool shape) const {
  NodeId first = value;
  if (graph_.op(value) == op::getitem) {
    const auto element = elements_.find({graph_.operands(value)[0], ElementIndex(context_, graph_, value)});
    if (element != elements_.end()) first = element->second;
  }
  const auto found = values_.find(first);
  if (found == values_.end() || found->second.is_shape != shape) {
    return InvalidError("tosa_write_c8", "%", graph_.NameOf(value), " is no ", shape ? "shape" : "tensor");
  }
  return found->second.name;
}

const AttrValue* RegionWriter::Arg(NodeId node, std::string_view name) const {
  for (const NamedAttr& attr : context_.attrs.Get(graph_.attrs(node))) {
    if (attr.name == name) return attr.value.is_none() ? nullptr : &attr.value;
  }
  return nullptr;
}

bool RegionWriter::Flag(NodeId node, std::string_view name) const {
  const AttrValue* value = Arg(node, name);
  return value != nullptr && value->kind == AttrKind::kBool && value->flag;
}

void RegionWriter::Append(uint8_t number, const Texts& inputs, const Texts& outputs, uint32_t attribute) {
  flatbuffers::FlatBufferBuilder& builder = file_.builder;
  const auto in = builder.CreateVector(inputs);
  const auto out = builder.CreateVector(outputs);
  operators_.push_back(tosafile::CreateOperator(builder, number, static_cast<tosafile::Attribute>(number),
                                                flatbuffers::Offset<void>(attribute), in, out));
}

uint32_t RegionWriter::NoAttribute() { return tosafile::CreateNoAttribute(file_.builder).o; }

}  // namespace tare::tosa
