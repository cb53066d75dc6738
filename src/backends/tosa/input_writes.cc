#include "backends/tosa/input_writes.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "backends/tosa/tosa_ops.h"
#include "ir/context.h"
#include "ir/status.h"
#include "meta/infer.h"
#include "passes/session.h"

namespace tare {
namespace {

// The pure twin of `op` when it takes the same arguments, else no value.
Op PureOf(const Context& context, Op op) {
  const Op pure = PureTwin(context, op);
  if (!pure.has_value()) return Op{};
  const Schema *from = context.ops.schema(op), *to = context.ops.schema(pure);
  if (from == nullptr || to == nullptr || from->args.size() != to->args.size()) return Op{};
  for (size_t i = 0; i < from->args.size(); ++i)
    if (from->args[i].name != to->args[i].name) return Op{};
  return pure;
}

// A write, and the input whose value it changes.
struct Write {
  NodeId node;
  Op pure;
  MetaId meta;
};

class InputWrites {
 public:
  explicit InputWrites(Program& program)
      : program_(program),
        context_(*program.context),
        graph_(program.main()),
        users_(graph_.id_bound()),
        inferrer_(MakeInferrer(context_, OptionsOf(program))),
        ops_(program, *inferrer_) {
    for (const NodeId id : graph_.nodes())
      for (const NodeId operand : graph_.operands(id))
        if (users_[operand.index].empty() || users_[operand.index].back() != id) users_[operand.index].push_back(id);
  }

  void Run() {
    const std::vector<NodeId> inputs(graph_.inputs().begin(), graph_.inputs().end());
    for (size_t i = 0; i < inputs.size() && i < program_.inputs.size(); ++i) {
      const InputKind kind = program_.inputs[i].kind;
      if (kind != InputKind::kUser && kind != InputKind::kBuffer) continue;
      const std::vector<Write> writes = WritesOf(inputs[i]);
      if (writes.empty() || !CanReturn()) continue;
      Return(inputs[i], program_.inputs[i], writes);
    }
  }

 private:
  static InferrerOptions OptionsOf(const Program& program) {
    InferrerOptions options;
    options.facts = program.facts;
    return options;
  }

  MetaId Infer(NodeId node, Op pure) {
    std::vector<MetaId> operands;
    for (const NodeId operand : graph_.operands(node)) operands.push_back(graph_.meta(operand));
    const absl::StatusOr<InferResult> result =
        inferrer_->Infer(pure, graph_.attrs(node), operands, graph_.quant(node), {});
    return result.ok() ? result->meta : MetaId{};
  }

  // In order; empty when there are none or some cannot be told apart from reads.
  std::vector<Write> WritesOf(NodeId input) {
    // What uses the input under any of the names that writes give it, in graph order.
    std::vector<NodeId> names = {input}, uses;
    for (size_t i = 0; i < names.size(); ++i)
      for (const NodeId user : users_[names[i].index]) {
        if (std::find(uses.begin(), uses.end(), user) != uses.end()) continue;
        uses.push_back(user);
        if (uses.size() > kMaxUses) return {};
        const bool writes = context_.ops.Has(graph_.op(user), kMutates);
        if (writes && graph_.operands(user)[0] == names[i]) names.push_back(user);
      }
    std::sort(uses.begin(), uses.end(), [&](NodeId a, NodeId b) { return graph_.Before(a, b); });
    std::vector<Write> writes;
    std::vector<NodeId> views;
    for (const NodeId use : uses) {
      const Op op = graph_.op(use);
      if (!context_.ops.Has(op, kMutates)) {
        if (ops_.impl().MayAlias(op)) views.push_back(use);
        continue;
      }
      const Op pure = PureOf(context_, op);
      const std::span<const NodeId> operands = graph_.operands(use);
      const auto is_name = [&](NodeId id) { return std::find(names.begin(), names.end(), id) != names.end(); };
      if (!pure.has_value() || !is_name(operands[0])) return {};
      const MetaId meta = Infer(use, pure);
      if (!meta.has_value() || meta != graph_.meta(input)) return {};
      writes.push_back({use, pure, meta});
    }
    for (const NodeId view : views)
      if (!writes.empty() && !IsReadBetween(view, writes)) return {};
    return writes;
  }

  // A view, and views of it, are read before the next write, and written by none.
  bool IsReadBetween(NodeId view, const std::vector<Write>& writes) const {
    const auto next =
        std::find_if(writes.begin(), writes.end(), [&](const Write& write) { return graph_.Before(view, write.node); });
    std::vector<NodeId> aliases = {view};
    size_t uses = 0;
    for (size_t i = 0; i < aliases.size(); ++i)
      for (const NodeId user : users_[aliases[i].index]) {
        if (++uses > kMaxUses || context_.ops.Has(graph_.op(user), kMutates)) {
          // The write itself may take it as what is written.
          if (uses > kMaxUses || next == writes.end() || user != next->node || graph_.operands(user)[0] == aliases[i])
            return false;
          continue;
        }
        if (next != writes.end() && !graph_.Before(user, next->node)) return false;
        if (ops_.impl().MayAlias(graph_.op(user)) && std::find(aliases.begin(), aliases.end(), user) == aliases.end())
          aliases.push_back(user);
      }
    return true;
  }

  // The output lists values, none within another.
  bool CanReturn() const {
    const NodeId output = graph_.last();
    const std::span<const NamedAttr> attrs = context_.attrs.Get(graph_.attrs(output));
    if (graph_.op(output) != op::output || attrs.size() != 1 || attrs[0].value.kind != AttrKind::kList) return false;
    const std::span<const AttrValue> items = attrs[0].value.items();
    return items.size() == program_.outputs.size() && graph_.quant(output).index == 0 &&
           std::none_of(items.begin(), items.end(), [](const AttrValue& item) { return item.kind == AttrKind::kList; });
  }

  void Return(NodeId input, const InputSpec& spec, const std::vector<Write>& writes) {
    NodeId value = input;
    size_t next = 0;
    std::vector<NodeId> names = {input};
    for (const NodeId id : Ordered(input, writes)) {
      for (uint32_t k = 0; k < graph_.operands(id).size(); ++k)
        if (std::find(names.begin(), names.end(), graph_.operands(id)[k]) != names.end())
          GraphEdit(graph_).SetOperand(id, k, value);
      if (next == writes.size() || !(writes[next].node == id)) continue;
      NodeDef def = graph_.Def(id);
      const std::vector<NodeId> operands(def.operands.begin(), def.operands.end());
      def.operands = operands;
      def.op = writes[next].pure;
      def.meta = writes[next].meta;
      GraphEdit(graph_).SetDef(id, def);
      value = id;
      names.push_back(id);
      ++next;
    }
    // The new results come first, as torch has them.
    const NodeId output = graph_.last();
    NodeDef def = graph_.Def(output);
    std::vector<NodeId> operands = {value};
    operands.insert(operands.end(), def.operands.begin(), def.operands.end());
    std::vector<AttrValue> items = {AttrValue::Operand(0)};
    for (AttrValue item : context_.attrs.Get(def.attrs)[0].value.items()) {
      if (item.kind == AttrKind::kOperand) ++item.operand;
      items.push_back(item);
    }
    const NamedAttr args[] = {{"args", AttrValue::List(items)}};
    def.attrs = context_.attrs.Intern(args);
    def.operands = operands;
    GraphEdit(graph_).SetDef(output, def);
    users_[value.index].push_back(output);
    const bool user = spec.kind == InputKind::kUser;
    OutputSpec written{user ? OutputKind::kUserInputMutation : OutputKind::kBufferMutation,
                       user ? std::string(graph_.NameOf(input)) : spec.target};
    program_.outputs.insert(program_.outputs.begin(), std::move(written));
  }

  // Users of the input and of what the writes give, in graph order.
  std::vector<NodeId> Ordered(NodeId input, const std::vector<Write>& writes) const {
    std::vector<NodeId> ordered = users_[input.index];
    for (const Write& write : writes)
      ordered.insert(ordered.end(), users_[write.node.index].begin(), users_[write.node.index].end());
    std::sort(ordered.begin(), ordered.end(), [&](NodeId a, NodeId b) { return graph_.Before(a, b); });
    ordered.erase(std::unique(ordered.begin(), ordered.end()), ordered.end());
    return ordered;
  }

  static constexpr size_t kMaxUses = 4096;  // of one input: they are compared with each other
  Program& program_;
  Context& context_;
  Graph& graph_;
  std::vector<std::vector<NodeId>> users_;
  const std::unique_ptr<Inferrer> inferrer_;
  const Rewriter ops_;  // asked about ops only
};

}  // namespace

void ReturnInputWrites(Program& program) {
  const Context& context = *program.context;
  const Graph& graph = program.main();
  bool writes = false;
  for (const NodeId id : graph.nodes()) writes = writes || context.ops.Has(graph.op(id), kMutates);
  if (writes) InputWrites(program).Run();
}

}  // namespace tare
