// Constants of a program and the inputs of main that hold them.
#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "ir/status.h"
#include "passes/session.h"

namespace tare {

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

ConstId Rewriter::Impl::ReadableConstant(NodeId node) const {
  const InputSpec* input = InputOf(node);
  if (input == nullptr || !input->constant.has_value() || IsMutatedInput(*input)) return ConstId{};
  if (!functional.has_value()) functional = program.IsFunctional();
  return *functional ? input->constant : ConstId{};
}

void Rewriter::Impl::SaveSignature() {
  if (!signature_before.has_value())
    signature_before = Signature{program.inputs, program.constants.size(), std::nullopt};
}

Rewriter::Impl::Names& Rewriter::Impl::ConstantNames() {
  if (constant_names.has_value()) return *constant_names;
  Names& names = constant_names.emplace();
  for (const Constant& constant : program.constants) names.taken.insert(constant.name);
  for (const InputSpec& input : program.inputs) names.taken.insert(input.target);
  const auto is_users = [](const InputSpec& spec) {
    return spec.kind == InputKind::kUser || spec.kind == InputKind::kConstantInput;
  };
  names.first_user_input =
      std::find_if(program.inputs.begin(), program.inputs.end(), is_users) - program.inputs.begin();
  return names;
}

absl::StatusOr<Node> Rewriter::AddConstant(std::string_view name_hint, const TensorMeta& meta,
                                           std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  Payload payload;
  payload.bytes = *owner;
  payload.owner = std::move(owner);
  return AddConstant(name_hint, meta, payload);
}

absl::StatusOr<Node> Rewriter::AddConstant(std::string_view name_hint, const TensorMeta& meta, const Payload& payload) {
  const std::span<const std::byte> bytes = payload.bytes;
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
  Impl::Names& names = impl.ConstantNames();
  const std::string hint(name_hint.empty() ? "constant" : name_hint);
  std::string name = hint;
  while (!names.taken.insert(name).second) name = absl::StrCat(hint, "_", ++names.next_suffix[hint]);

  Constant constant;
  constant.name = name;
  constant.meta = meta_id;
  constant.payload = payload;
  ForgetPages(payload);
  const ConstId id{static_cast<uint32_t>(program.constants.size())};
  program.constants.push_back(std::move(constant));

  // Constants stand before what the user gives, as exporters write them.
  std::vector<NodeId> inputs;
  inputs.reserve(graph.inputs().size() + 1);
  inputs.assign(graph.inputs().begin(), graph.inputs().end());
  const size_t at = std::min(names.first_user_input, inputs.size());
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

  ++names.first_user_input;
  if (!impl.input_index.empty())
    for (size_t i = at; i < inputs.size(); ++i) impl.input_index[inputs[i]] = static_cast<uint32_t>(i);
  impl.GrowTo(graph.id_bound());
  impl.session().index.Add(graph, op::placeholder, node);
  impl.Touch(node);
  ++impl.counters.inserted;
  impl.pass_constants[hash].push_back(node);
  return Node(this, node);
}

int64_t Rewriter::RemoveUnusedConstants() {
  Impl& impl = *impl_;
  Program& program = impl.program;
  if (impl.current.index != 0) return 0;
  Graph& graph = impl.graph();
  absl::flat_hash_set<std::string_view> named;  // by outputs: what is replaced, what has a gradient
  for (const OutputSpec& output : program.outputs) named.insert(output.target);
  const std::vector<NodeId> inputs(graph.inputs().begin(), graph.inputs().end());
  std::vector<bool> goes(inputs.size());
  int64_t removed = 0;
  for (size_t i = 0; i < inputs.size() && i < program.inputs.size(); ++i) {
    const InputSpec& spec = program.inputs[i];
    const bool constant = spec.kind == InputKind::kParameter || spec.kind == InputKind::kBuffer ||
                          spec.kind == InputKind::kTensorConstant;
    goes[i] = constant && impl.session().uses.count(inputs[i]) == 0 && !named.contains(spec.target);
    removed += goes[i] ? 1 : 0;
  }
  if (removed == 0) return 0;

  impl.Save();
  impl.SaveSignature();
  if (!impl.signature_before->constants.has_value()) impl.signature_before->constants = program.constants;
  std::vector<NodeId> kept;
  std::vector<InputSpec> specs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (goes[i]) continue;
    kept.push_back(inputs[i]);
    if (i < program.inputs.size()) specs.push_back(std::move(program.inputs[i]));
  }
  GraphEdit(graph).SetInputs(kept);
  program.inputs = std::move(specs);
  impl.input_index.clear();
  impl.constant_names.reset();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (goes[i]) impl.EraseNow(inputs[i]);
  impl.DropUnheldConstants();
  return removed;
}

// Constants that no input and no constant node holds; the others move up.
void Rewriter::Impl::DropUnheldConstants() {
  std::vector<bool> held(program.constants.size());
  const auto hold = [&](ConstId id) {
    if (id.index < held.size()) held[id.index] = true;
  };
  for (const InputSpec& spec : program.inputs) hold(spec.constant);
  const auto constant_of = [&](const Graph& in, NodeId node) {
    const std::span<const NamedAttr> attrs = context.attrs.Get(in.attrs(node));
    return ConstId{static_cast<uint32_t>(attrs.empty() ? -1 : attrs[0].value.integer)};
  };
  std::vector<std::pair<GraphId, NodeId>> holders;  // constant nodes
  const Op constant[] = {op::constant};
  for (uint32_t g = 0; g < sessions.size(); ++g) {
    llvm::SmallVector<NodeId, 0> nodes;
    sessions[g].index.Nodes(program.graphs[g].graph, constant, nodes);
    std::sort(nodes.begin(), nodes.end(), [](NodeId a, NodeId b) { return a.index < b.index; });
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    for (const NodeId node : nodes) holders.emplace_back(GraphId{g}, node);
  }
  for (const auto& [g, node] : holders) hold(constant_of(program.graphs[g.index].graph, node));

  std::vector<uint32_t> moved(held.size());
  uint32_t next = 0;
  for (size_t i = 0; i < held.size(); ++i) {
    moved[i] = next;
    if (!held[i]) continue;
    if (next != i) program.constants[next] = std::move(program.constants[i]);
    ++next;
  }
  if (next == held.size()) return;
  program.constants.resize(next);
  for (InputSpec& spec : program.inputs)
    if (spec.constant.index < moved.size()) spec.constant = ConstId{moved[spec.constant.index]};
  const GraphId outer = current;
  for (const auto& [g, node] : holders) {
    current = g;
    const ConstId old = constant_of(graph(), node);
    if (old.index >= moved.size() || moved[old.index] == old.index) continue;
    NodeDef def = graph().Def(node);
    std::vector<NamedAttr> attrs(context.attrs.Get(def.attrs).begin(), context.attrs.Get(def.attrs).end());
    attrs[0].value = AttrValue::Int(moved[old.index]);
    def.attrs = context.attrs.Intern(attrs);
    Save();
    GraphEdit(graph()).SetDef(node, def);
  }
  current = outer;
}

}  // namespace tare
