// What shares storage with what, and constants.
#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "ir/status.h"
#include "passes/session.h"

namespace tare {
namespace {

// Composite ops whose result may be their input although their schema does not say so.
constexpr std::string_view kUnannotatedAliases[] = {
    "aten.dropout.default",
    "aten.feature_dropout.default",
    "aten.alpha_dropout.default",
    "aten.type_as.default",
    "aten.feature_alpha_dropout.default",
    "aten.einsum.default",
    "aten.atleast_1d.default",
    "aten.broadcast_tensors.default",
    "aten.atleast_2d.default",
    "aten.atleast_3d.default",
    "aten.meshgrid.default",
    "aten.meshgrid.indexing",
};

// Ops that look at the storage behind their input, not at its elements.
constexpr std::string_view kRestriding[] = {"aten.as_strided.default", "aten.as_strided_copy.default",
                                            "aten.as_strided_scatter.default", "aten._reshape_alias.default",
                                            "aten._reshape_alias_copy.default"};

constexpr int kMaxAliasSteps = 1 << 14;  // of one question; beyond it everything is taken to be so

}  // namespace

uint8_t Rewriter::Impl::AliasingOf(Op op) const {
  if (op.index >= aliasing.size()) aliasing.resize(context.ops.size());
  uint8_t& known = aliasing[op.index];
  if (known == 0) {
    const Schema* schema = context.ops.schema(op);
    const uint16_t traits = context.ops.Get(op).traits;
    bool may = schema == nullptr || (traits & (kView | kMutates | kHigherOrder)) != 0 || op == op::getitem;
    if (schema != nullptr)
      for (const SchemaArg& result : schema->returns) may |= result.alias != 0;
    const std::string_view name = context.ops.Name(op);
    may |= std::find(std::begin(kUnannotatedAliases), std::end(kUnannotatedAliases), name) !=
           std::end(kUnannotatedAliases);
    if (op == op::placeholder || op == op::output || op == op::constant) may = false;
    known = may ? 2 : 1;
    if (std::find(std::begin(kRestriding), std::end(kRestriding), name) != std::end(kRestriding)) known |= 4;
  }
  return known;
}

// Walks the values that may share storage with `node`: up to the operands of aliasing ops and down to
// their results.
StorageUse Rewriter::StorageOf(Node node) const {
  const Impl& impl = *impl_;
  const Graph& graph = impl.graph();
  StorageUse use;
  llvm::SmallVector<NodeId, 16> stack = {node.id()};
  absl::flat_hash_set<NodeId> seen = {node.id()};
  const auto reach = [&](NodeId id) {
    const MetaId meta = graph.meta(id);
    const bool holds_tensors = !meta.has_value() || impl.context.metas.Get(meta).kind == MetaKind::kTensor ||
                               impl.context.metas.Get(meta).kind == MetaKind::kTuple ||
                               impl.context.metas.Get(meta).kind == MetaKind::kList;
    if (holds_tensors && seen.insert(id).second) stack.push_back(id);
  };
  int steps = 0;
  while (!stack.empty()) {
    const NodeId id = stack.pop_back_val();
    const Op op = graph.op(id);
    if (op == op::placeholder || op == op::constant) use.from_input = true;
    if (impl.IsRestriding(op)) use.restrided = true;
    if (impl.MayAlias(op))
      for (const NodeId operand : graph.operands(id)) reach(operand);
    for (const NodeId user : impl.session().uses.Candidates(id)) {
      if (++steps > kMaxAliasSteps) return {true, true, true, true};
      if (!IsUser(graph, user, id)) continue;
      const Op user_op = graph.op(user);
      if (user_op == op::output) use.returned = true;
      if (impl.IsRestriding(user_op)) use.restrided = true;
      const uint16_t traits = impl.context.ops.Get(user_op).traits;
      // Without a schema we do not know what an op writes; a body may write what it is given.
      if ((traits & (kMutates | kHigherOrder)) != 0) use.mutated = true;
      if (impl.context.ops.schema(user_op) == nullptr && (traits & kPseudo) == 0) use.mutated = true;
      if (impl.MayAlias(user_op)) reach(user);
    }
  }
  return use;
}

bool Rewriter::CanForwardCopy(Node copy, Node source) const {
  const StorageUse of_copy = StorageOf(copy), of_source = StorageOf(source);
  if (of_copy.mutated || of_source.mutated) return false;
  return !of_copy.returned || (!of_source.from_input && !of_source.returned);
}

const InputSpec* Rewriter::Impl::InputOf(NodeId node) const {
  if (current.index != 0 || graph().op(node) != op::placeholder) return nullptr;
  if (input_index.empty()) {
    uint32_t i = 0;
    for (const NodeId input : graph().inputs()) input_index[input] = i++;
  }
  const auto it = input_index.find(node);
  if (it == input_index.end() || it->second >= program.inputs.size()) return nullptr;
  return &program.inputs[it->second];
}

bool Rewriter::Impl::IsMutatedInput(const InputSpec& spec) const {
  if (!mutated_inputs.has_value()) {
    mutated_inputs.emplace();
    for (const OutputSpec& output : program.outputs)
      if (output.kind == OutputKind::kBufferMutation || output.kind == OutputKind::kParameterMutation)
        mutated_inputs->insert(output.target);
  }
  return mutated_inputs->contains(spec.target);
}

void Rewriter::Impl::SaveSignature() {
  if (!signature_before.has_value()) signature_before = Signature{program.inputs, program.constants.size()};
}

absl::StatusOr<Node> Rewriter::AddConstant(std::string_view name_hint, const TensorMeta& meta,
                                           std::vector<std::byte> bytes) {
  Impl& impl = *impl_;
  Graph& graph = impl.graph();
  if (impl.current.index != 0)
    return CheckError(absl::StatusCode::kFailedPrecondition, "rewrite_c7", "constants can only be added to main");
  const MetaId meta_id = context().metas.Tensor(meta);
  const size_t hash =
      absl::HashOf(meta_id.index, absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  for (const NodeId known : impl.pass_constants[hash]) {
    if (!graph.Contains(known) || graph.meta(known) != meta_id) continue;
    const InputSpec* input = impl.InputOf(known);
    const std::span<const std::byte> there = impl.program.constants[input->constant.index].payload.bytes;
    if (std::equal(there.begin(), there.end(), bytes.begin(), bytes.end())) return Node(this, known);
  }

  impl.Save();
  impl.SaveSignature();
  Program& program = impl.program;
  absl::flat_hash_set<std::string> names;
  for (const Constant& constant : program.constants) names.insert(constant.name);
  for (const InputSpec& input : program.inputs) names.insert(input.target);
  std::string name(name_hint.empty() ? "constant" : name_hint);
  for (int i = 1; names.contains(name); ++i)
    name = absl::StrCat(TextPiece(name_hint.empty() ? "constant" : name_hint), "_", i);

  Constant constant;
  constant.name = name;
  constant.meta = meta_id;
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  constant.payload.bytes = *owner;
  constant.payload.owner = std::move(owner);
  const ConstId id{static_cast<uint32_t>(program.constants.size())};
  program.constants.push_back(std::move(constant));

  // Constants stand before what the user gives, as exporters write them.
  const std::span<const NodeId> old_inputs = graph.inputs();
  std::vector<NodeId> inputs(old_inputs.begin(), old_inputs.end());
  size_t at = 0;
  while (at < program.inputs.size() && program.inputs[at].kind != InputKind::kUser &&
         program.inputs[at].kind != InputKind::kConstantInput)
    ++at;
  at = std::min(at, inputs.size());
  NodeId where = at < inputs.size() ? inputs[at] : graph.first();
  while (at == inputs.size() && graph.op(where) == op::placeholder) where = graph.next(where);
  const std::string placeholder = absl::StrCat("c_", absl::StrReplaceAll(name, {{".", "_"}}));
  const NodeId node = GraphEdit(graph).InsertBefore(
      where, {op::placeholder, context().attrs.Empty(), meta_id, QuantId{0}, impl.Provenance(LocId{}), {}},
      graph.mutable_lineage().UniqueName(placeholder));
  inputs.insert(inputs.begin() + static_cast<ptrdiff_t>(at), node);
  GraphEdit(graph).SetInputs(inputs);
  InputSpec spec;
  spec.kind = InputKind::kTensorConstant;
  spec.target = name;
  spec.constant = id;
  program.inputs.insert(program.inputs.begin() + static_cast<ptrdiff_t>(at), std::move(spec));

  impl.input_index.clear();
  impl.GrowTo(graph.id_bound());
  impl.session().index.Add(graph, op::placeholder, node);
  impl.Touch(node);
  ++impl.counters.inserted;
  impl.pass_constants[hash].push_back(node);
  return Node(this, node);
}

}  // namespace tare
