#include "passes/rewriter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/status.h"
#include "passes/minted.h"
#include "passes/session.h"

namespace tare {
namespace {

// "aten.permute_copy.default" names its results permute_copy.
std::string_view ShortName(std::string_view op_name) {
  const size_t dot = op_name.find('.');
  if (dot == std::string_view::npos) return op_name;
  const std::string_view rest = op_name.substr(dot + 1);
  return rest.substr(0, rest.find('.'));
}

bool IsEndpoint(Op op) { return op == op::placeholder || op == op::output; }

}  // namespace

Rewriter::Impl::Impl(Program& program, Inferrer& inferrer)
    : program(program), context(*program.context), inferrer(inferrer), bodies(program) {
  inferrer.UseFacts(program.facts);
  inferrer.UseBodies(&bodies);
  sessions.resize(program.graphs.size());
  for (uint32_t g = 0; g < sessions.size(); ++g) BuildSession(GraphId{g});
  FindBodies();
}

Rewriter::Impl::~Impl() { inferrer.UseBodies(nullptr); }

void Rewriter::Impl::BuildSession(GraphId id) {
  GraphSession& session = sessions[id.index];
  const Graph& graph = program.graphs[id.index].graph;
  session = {};
  session.uses.Build(graph);
  session.index.Build(graph);
  session.queue.Grow(graph.id_bound());
  session.touched.resize((graph.id_bound() + 63) / 64);
}

void Rewriter::Impl::GrowTo(uint32_t id_bound) {
  session().uses.Grow(id_bound);
  session().queue.Grow(id_bound);
  if (session().touched.size() * 64 < id_bound) session().touched.resize((id_bound + 63) / 64);
}

absl::StatusOr<InferResult> Rewriter::Impl::InferResultOf(Op op, AttrsId attrs, std::span<const NodeId> operands,
                                                          QuantId quant, NodeId place) {
  llvm::SmallVector<MetaId, 8> metas;
  for (const NodeId operand : operands) metas.push_back(graph().meta(operand));
  NodePlace at{current.index, place};
  llvm::SmallVector<ConstId, 4> constants;
  if (context.ops.Has(op, kReadsValues)) {
    for (const NodeId operand : operands) constants.push_back(ReadableConstant(operand));
    at.constants = constants;
  }
  absl::StatusOr<InferResult> result = inferrer.Infer(op, attrs, metas, quant, at);
  if (result.ok()) KeepGuards(result->guards);
  return result;
}

absl::StatusOr<InferResult> Rewriter::Impl::InferNode(Op op, AttrsId attrs, std::span<const NodeId> operands,
                                                      QuantId quant, NodeId node) {
  if (!OwnsBodies(op, attrs)) return InferResultOf(op, attrs, operands, quant, node);
  TARE_RETURN_IF_ERROR(FeedBodies(node, op, attrs, operands));
  absl::StatusOr<InferResult> result = InferResultOf(op, attrs, operands, quant, node);
  if (!result.ok()) return Fail(Explain(result.status(), node, op));
  return result;
}

void Rewriter::Impl::KeepGuards(std::span<const Guard> more) {
  for (const Guard& guard : more)
    if (guard_conditions.insert(guard.condition).second) guards.push_back(guard);
}

absl::Status Rewriter::Impl::CheckOperands(std::span<const NodeId> operands, NodeId user) const {
  for (const NodeId operand : operands) {
    if (!operand.has_value() || operand.index >= graph().id_bound() || !graph().Contains(operand))
      return CheckError(absl::StatusCode::kFailedPrecondition, "rewrite_c3", "an operand is not in the graph any more");
    if (!graph().Before(operand, user)) {
      return CheckError(absl::StatusCode::kFailedPrecondition, "rewrite_c3",
                        absl::StrCat("operand %", TextPiece(graph().NameOf(operand)), " is not defined before %",
                                     TextPiece(graph().NameOf(user))));
    }
  }
  return absl::OkStatus();
}

LocId Rewriter::Impl::Provenance(LocId parent) {
  // Once by the same pass is enough.
  if (pass.empty() || graph().lineage().PassOf(parent) == pass) return parent;
  return graph().mutable_lineage().AddPass(parent, pass);
}

void Rewriter::Impl::Save() {
  if (session().edited) return;
  session().edited = true;
  if (!session().before.has_value()) session().before = graph();
}

void Rewriter::Impl::Touch(NodeId node) {
  uint64_t& word = session().touched[node.index / 64];
  const uint64_t bit = uint64_t{1} << (node.index % 64);
  if (word & bit) return;
  word |= bit;
  session().touched_list.push_back(node);
}

void Rewriter::Impl::QueueUsers(NodeId node) {
  for (const NodeId user : session().uses.Candidates(node))
    if (IsUser(graph(), user, node)) session().queue.Push(graph(), user);
}

void Rewriter::Impl::SetMeta(NodeId node, MetaId meta) {
  GraphEdit(graph()).SetMeta(node, meta);
  QueueUsers(node);
}

void Rewriter::Impl::DropUse(NodeId value) {
  session().uses.Remove(value);
  if (session().uses.count(value) == 0) session().orphans.push_back(value);
}

absl::Status Rewriter::Impl::Redefine(NodeId node, Op op, const Definition& definition) {
  const NodeDef old = graph().Def(node);
  const bool same_operands =
      std::equal(old.operands.begin(), old.operands.end(), definition.operands.begin(), definition.operands.end());
  if (old.op == op && old.attrs == definition.attrs && same_operands) return absl::OkStatus();
  TARE_RETURN_IF_ERROR(CheckOperands(definition.operands, node));
  while (!session().queue.empty() && graph().Before(session().queue.top(), node))
    TARE_RETURN_IF_ERROR(Reinfer(session().queue.Pop(graph())));
  TARE_ASSIGN_OR_RETURN(InferResult result, InferNode(op, definition.attrs, definition.operands, old.quant, node));
  if (result.declared) {
    bool same_metas =
        old.op == op && old.attrs == definition.attrs && old.operands.size() == definition.operands.size();
    for (size_t i = 0; same_metas && i < old.operands.size(); ++i)
      same_metas = graph().meta(old.operands[i]) == graph().meta(definition.operands[i]);
    if (!same_metas) return UnimplementedError("rewrite_c5", context.ops.Name(op), " has no rule to infer its result");
    result.meta = old.meta;
  }

  Save();
  session().queue.Drop(graph(), node);
  const llvm::SmallVector<NodeId, 8> old_operands(old.operands.begin(), old.operands.end());
  const Op old_op = old.op;
  const MetaId old_meta = old.meta;
  GraphEdit(graph()).SetDef(node, {op, definition.attrs, result.meta, old.quant, Provenance(old.loc),
                                   std::span<const NodeId>(definition.operands)});
  if (!same_operands) {
    llvm::SmallVector<NodeId, 8> listed = old_operands;
    for (const NodeId operand : definition.operands) {
      if (std::find(listed.begin(), listed.end(), operand) != listed.end()) {
        session().uses.AddAgain(operand);
      } else {
        session().uses.Add(graph(), operand, node);
        listed.push_back(operand);
      }
    }
    for (const NodeId operand : old_operands) DropUse(operand);
  }
  if (old_op != op) {
    session().index.Remove(old_op);
    session().index.Add(graph(), op, node);
    Arrive(node);
  }
  Touch(node);
  ++counters.redefined;
  if (result.meta != old_meta) QueueUsers(node);
  return absl::OkStatus();
}

bool Rewriter::Impl::CanErase(NodeId node) const {
  const Op op = graph().op(node);
  const uint16_t traits = context.ops.Get(op).traits;
  if (IsEndpoint(op)) return false;
  if (op == op::getitem || op == op::constant) return true;
  return (traits & kPure) != 0 && (traits & (kMutates | kEffect)) == 0;
}

void Rewriter::Impl::EraseNow(NodeId node) {
  Save();
  session().queue.Drop(graph(), node);
  session().arrivals.Drop(graph(), node);
  if (session().walking && session().cursor == node) session().cursor = graph().prev(node);
  session().index.Remove(graph().op(node));
  const std::span<const NodeId> operands = graph().operands(node);
  const llvm::SmallVector<NodeId, 8> old_operands(operands.begin(), operands.end());
  GraphEdit(graph()).Erase(node);
  session().uses.Clear(node);
  for (const NodeId operand : old_operands) DropUse(operand);
  ++counters.erased;
}

void Rewriter::Impl::Sweep() {
  std::vector<NodeId>& orphans = session().orphans;
  while (!orphans.empty()) {
    const NodeId node = orphans.back();
    orphans.pop_back();
    if (graph().Contains(node) && session().uses.count(node) == 0 && CanErase(node)) EraseNow(node);
  }
}

Rewriter::Rewriter(Program& program, Inferrer& inferrer) : impl_(std::make_unique<Impl>(program, inferrer)) {}
Rewriter::~Rewriter() = default;

Program& Rewriter::program() { return impl_->program; }
Context& Rewriter::context() { return impl_->context; }
GraphId Rewriter::graph_id() const { return impl_->current; }
const Graph& Rewriter::graph() const { return impl_->graph(); }
std::span<const Guard> Rewriter::guards() const { return impl_->guards; }
bool Rewriter::CanErase(Node node) const { return impl_->CanErase(node.id()); }

void Rewriter::EnterGraph(GraphId id) {
  TARE_CHECK(id.index < impl_->sessions.size());
  impl_->current = id;
}

bool Rewriter::Occurs(Op op) const {
  for (const GraphSession& session : impl_->sessions)
    if (session.index.count(op) != 0) return true;
  return false;
}

int64_t Rewriter::MemoryBytes() const {
  int64_t bytes = static_cast<int64_t>(sizeof(Impl)) + impl_->definitions.MemoryBytes();
  for (const GraphSession& session : impl_->sessions) {
    bytes += static_cast<int64_t>(
        sizeof(session) + session.touched.capacity() * sizeof(uint64_t) +
        (session.orphans.capacity() + session.touched_list.capacity() + session.pending.capacity()) * sizeof(NodeId));
    bytes += session.uses.MemoryBytes() + session.index.MemoryBytes() + session.queue.MemoryBytes() +
             session.arrivals.MemoryBytes();
  }
  return bytes;
}

absl::StatusOr<MetaId> Rewriter::Infer(Op op, ArgList args) {
  TARE_ASSIGN_OR_RETURN(const Impl::Definition definition, impl_->Define(op, args.args(), {}));
  TARE_ASSIGN_OR_RETURN(const InferResult result,
                        impl_->InferResultOf(op, definition.attrs, definition.operands, QuantId{0}, NodeId{}));
  if (result.declared)
    return UnimplementedError("rewrite_c5", context().ops.Name(op), " has no rule to infer its result");
  return result.meta;
}

absl::StatusOr<Node> Rewriter::InsertBefore(Node where, Op op, ArgList args, std::string_view name_hint) {
  Impl& impl = *impl_;
  Graph& graph = impl.graph();
  if (!graph.Contains(where.id()))
    return CheckError(absl::StatusCode::kFailedPrecondition, "rewrite_c3", "the place is not in the graph any more");
  if (graph.op(where.id()) == op::placeholder || IsEndpoint(op)) {
    return impl.Explain(CheckError(absl::StatusCode::kFailedPrecondition, "rewrite_c4",
                                   "nothing can be inserted before an input; inputs and outputs cannot be inserted"),
                        where.id());
  }
  while (!impl.session().queue.empty() && graph.Before(impl.session().queue.top(), where.id()))
    TARE_RETURN_IF_ERROR(impl.Reinfer(impl.session().queue.Pop(graph)));
  absl::StatusOr<Impl::Definition> definition = impl.Define(op, args.args(), {});
  if (!definition.ok()) return impl.Explain(definition.status(), where.id(), op);
  const absl::Status operands = impl.CheckOperands(definition->operands, where.id());
  if (!operands.ok()) return impl.Explain(operands, where.id(), op);

  impl.Save();
  absl::StatusOr<InferResult> result =
      impl.InferResultOf(op, definition->attrs, definition->operands, QuantId{0}, NodeId{graph.id_bound()});
  if (result.ok() && result->declared)
    result = UnimplementedError("rewrite_c5", context().ops.Name(op), " has no rule to infer its result");
  if (!result.ok()) return impl.Explain(result.status(), where.id(), op);
  const LocId loc = impl.Provenance(graph.loc(where.id()));
  const std::string_view name =
      graph.mutable_lineage().UniqueName(name_hint.empty() ? ShortName(context().ops.Name(op)) : name_hint);
  const NodeId id = GraphEdit(graph).InsertBefore(
      where.id(), {op, definition->attrs, result->meta, QuantId{0}, loc, std::span<const NodeId>(definition->operands)},
      name);
  impl.GrowTo(graph.id_bound());
  llvm::SmallVector<NodeId, 8> listed;
  for (const NodeId operand : definition->operands) {
    if (std::find(listed.begin(), listed.end(), operand) != listed.end()) {
      impl.session().uses.AddAgain(operand);
    } else {
      impl.session().uses.Add(graph, operand, id);
      listed.push_back(operand);
    }
  }
  impl.session().index.Add(graph, op, id);
  impl.session().orphans.push_back(id);  // unless something uses it by the end of the visit
  impl.Touch(id);
  impl.Arrive(id);
  ++impl.counters.inserted;
  return Node(this, id);
}

absl::Status Rewriter::Impl::RedefineFrom(NodeId node, Op op, std::span<const ArgInit> args, NodeId base) {
  if (!graph().Contains(node))
    return CheckError(absl::StatusCode::kFailedPrecondition, "rewrite_c3", "the node is not in the graph any more");
  if (IsEndpoint(graph().op(node)) || IsEndpoint(op)) {
    return Explain(
        CheckError(absl::StatusCode::kFailedPrecondition, "rewrite_c4", "inputs and outputs cannot be redefined"),
        node);
  }
  absl::StatusOr<Definition> definition = Define(op, args, base);
  absl::Status status = definition.status();
  if (status.ok()) status = Redefine(node, op, *definition);
  return status.ok() ? status : Explain(status, node, op);
}

absl::Status Rewriter::Redefine(Node node, Op op, ArgList args) {
  return impl_->RedefineFrom(node.id(), op, args.args(), {});
}

absl::Status Rewriter::Redefine(Node node, Op op, std::initializer_list<Node> operands, ArgList args) {
  std::vector<ArgInit> all(args.args().begin(), args.args().end());
  const Schema* schema = context().ops.schema(op);
  if (schema == nullptr)
    return InvalidError("rewrite_c1", context().ops.Name(op), " has no schema: its arguments need names");
  const Node* next = operands.begin();
  for (const SchemaArg& arg : schema->args) {
    if (next == operands.end()) break;
    if (IsTensorLike(arg) && !arg.list) all.emplace_back(arg.name, *next++);
  }
  if (next != operands.end())
    return InvalidError("rewrite_c1", context().ops.Name(op), " takes fewer than ", operands.size(), " tensors");
  return Redefine(node, op, ArgList(all));
}

absl::Status Rewriter::Amend(Node node, Op op, ArgList changed) {
  return impl_->RedefineFrom(node.id(), op, changed.args(), node.id());
}

absl::Status Rewriter::ReplaceUses(Node node, Node value) {
  Impl& impl = *impl_;
  Graph& graph = impl.graph();
  if (!graph.Contains(node.id()) || !graph.Contains(value.id()))
    return CheckError(absl::StatusCode::kFailedPrecondition, "rewrite_c3", "the node is not in the graph any more");
  if (node == value) return absl::OkStatus();
  llvm::SmallVector<NodeId, 16> users;
  impl.session().uses.Users(graph, node.id(), users);
  users.erase(std::remove(users.begin(), users.end(), value.id()), users.end());
  for (const NodeId user : users) {
    if (graph.Before(value.id(), user)) continue;
    return impl.Explain(CheckError(absl::StatusCode::kFailedPrecondition, "rewrite_c3",
                                   absl::StrCat("user %", TextPiece(graph.NameOf(user)), " stands before %",
                                                TextPiece(graph.NameOf(value.id())))),
                        node.id());
  }
  if (users.empty()) return absl::OkStatus();
  impl.Save();
  const bool same_meta = graph.meta(node.id()) == graph.meta(value.id());
  for (const NodeId user : users) {
    const bool listed = IsUser(graph, user, value.id());
    const uint32_t num_operands = static_cast<uint32_t>(graph.operands(user).size());
    int replaced = 0;
    for (uint32_t i = 0; i < num_operands; ++i) {
      if (graph.operands(user)[i] != node.id()) continue;
      GraphEdit(graph).SetOperand(user, i, value.id());
      ++replaced;
    }
    for (int i = 0; i < replaced; ++i) {
      if (i == 0 && !listed) {
        impl.session().uses.Add(graph, value.id(), user);
      } else {
        impl.session().uses.AddAgain(value.id());
      }
      impl.DropUse(node.id());
    }
    // Equal metadata, but another constant.
    const bool reads_values = impl.context.ops.Has(graph.op(user), kReadsValues);
    if (!same_meta || reads_values) impl.session().queue.Push(graph, user);
    if (graph.op(user) == op::output) continue;
    GraphEdit(graph).SetLoc(user, impl.Provenance(graph.loc(user)));
    impl.Touch(user);
    ++impl.counters.redefined;
  }
  return absl::OkStatus();
}

void Rewriter::Refuse(Node node, const absl::Status& why) {
  Impl& impl = *impl_;
  std::string_view text(why.message().data(), why.message().size());
  text = text.substr(0, text.find('\n'));
  std::string id = CheckIdOf(why);
  const std::string suffix = absl::StrCat(" [", id, "]");
  if (text.ends_with(suffix)) text.remove_suffix(suffix.size());
  impl.refusals.push_back({impl.current, node.id(), node.op(), std::move(id), std::string(text)});
}

void Rewriter::SetQuant(Node node, const QuantRecord& record) {
  Impl& impl = *impl_;
  TARE_CHECK(impl.graph().Contains(node.id()));
  NodeDef def = impl.graph().Def(node.id());
  const QuantId quant = impl.context.quants.Intern(record);
  if (def.quant == quant) return;
  impl.Save();
  const llvm::SmallVector<NodeId, 8> operands(def.operands.begin(), def.operands.end());
  def.operands = operands;
  def.quant = quant;
  GraphEdit(impl.graph()).SetDef(node.id(), def);
  impl.Touch(node.id());
}

absl::Status Rewriter::Erase(Node node) {
  Impl& impl = *impl_;
  if (!impl.graph().Contains(node.id()))
    return CheckError(absl::StatusCode::kFailedPrecondition, "rewrite_c3", "the node is not in the graph any more");
  if (impl.session().uses.count(node.id()) != 0) {
    return impl.Explain(CheckError(absl::StatusCode::kFailedPrecondition, "rewrite_c6",
                                   absl::StrCat("cannot be erased: ", impl.session().uses.count(node.id()), " uses")),
                        node.id());
  }
  if (!impl.CanErase(node.id())) {
    return impl.Explain(
        CheckError(absl::StatusCode::kFailedPrecondition, "rewrite_c6", "cannot be erased: it has an effect"),
        node.id());
  }
  impl.EraseNow(node.id());
  return absl::OkStatus();
}

}  // namespace tare
