#include "backends/tosa/legality.h"

#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "backends/tosa/affine.h"
#include "backends/tosa/constraint_rows.h"
#include "backends/tosa/pass_list.h"
#include "backends/tosa/symbol_origins.h"
#include "backends/tosa/tosa_ops.h"
#include "ir/context.h"
#include "ir/status.h"
#include "meta/bind.h"
#include "meta/constraint_compiler.h"
#include "meta/rule_eval.h"
#include "meta/rule_state.h"

namespace tare {
namespace {

// The reason of last resort, and broad ones, where a pass may know better: what it says of floats is no news, though.
constexpr std::string_view kUnexplained = "tosa_legal_c10";
constexpr std::string_view kBroad[] = {"tosa_legal_c4", "tosa_legal_c5", "tosa_legal_c6", "tosa_legal_c8"};
constexpr std::string_view kNoNews = "f32 is not supported";
constexpr std::string_view kRemedy = "change what it says, or leave it outside with --partial";

// Ops that some pass to TOSA looks for.
absl::flat_hash_set<Op> LoweredOps(Context& context) {
  absl::flat_hash_set<Op> ops;
  for (const PassRow& row : TosaPasses()) {
    if (row.name.substr(0, 6) != "lower-") continue;
    const absl::StatusOr<Pass> pass = row.make(context, {});
    if (pass.ok()) ops.insert(pass->targets().begin(), pass->targets().end());
  }
  return ops;
}

// Evaluates the rows of one specification over the nodes of one program.
class Constraints {
 public:
  Constraints(const Program& program, std::string_view spec, Inferrer& inferrer)
      : program_(program),
        inferrer_(inferrer),
        graph_(program.main()),
        context_(*program.context),
        rules_(GeneratedConstraintRules()),
        qdq_(context_),
        origins_(program) {
    state_.context = &context_;
    state_.rules = &rules_;
    state_.facts = program.facts.get();
    state_.spec = context_.strings.Intern(spec);
    for (const OpDef& op : GeneratedConstraintRules().ops)
      if (op.rule >= 0) rows_.emplace(op.name, op.rule);
    const std::span<const NodeId> inputs = graph_.inputs();
    constant_.resize(graph_.id_bound(), false);
    for (size_t i = 0; i < inputs.size() && i < program.inputs.size(); ++i)
      constant_[inputs[i].index] = program.inputs[i].constant.has_value();
  }

  // The first constraint that does not hold.
  absl::Status Check(NodeId node) {
    const Op op = graph_.op(node);
    if (!IsTosa(context_, op)) {
      if (!lowered_.has_value()) lowered_ = LoweredOps(context_);
      return CheckNode(kConstraintsOutside, node);
    }
    TARE_RETURN_IF_ERROR(CheckNode(kConstraintsOnAny, node));
    TARE_RETURN_IF_ERROR(inferrer_.Infer(op, graph_.attrs(node), OperandMetas(node), graph_.quant(node), {}).status());
    const auto row = rows_.find(context_.ops.Name(op));
    return row == rows_.end() ? absl::OkStatus() : CheckArguments(row->second, node);
  }

  llvm::SmallVector<MetaId, 8> OperandMetas(NodeId node) const {
    llvm::SmallVector<MetaId, 8> metas;
    for (const NodeId operand : graph_.operands(node)) metas.push_back(graph_.meta(operand));
    return metas;
  }

  absl::Status Evaluate(int32_t rule, std::span<const Value> args) {
    return EvaluateRule(state_, rules_.rules()[static_cast<size_t>(rule)], args).status();
  }

  // An input that nothing uses, or the output, with the inputs that it returns.
  absl::Status CheckEdge(NodeId node) {
    state_.Begin({});
    RuleContext rc(state_);
    llvm::SmallVector<Value, 8> tensors;
    const bool output = graph_.op(node) == op::output;
    bool whole = true;
    if (output) {
      for (const NodeId operand : graph_.operands(node)) {
        whole = whole && IsTensor(graph_.meta(operand));
        if (graph_.op(operand) == op::placeholder) AddTensors(rc, graph_.meta(operand), tensors);
      }
      for (const NamedAttr& attr : context_.attrs.Get(graph_.attrs(node)))
        for (const AttrValue& item :
             attr.value.kind == AttrKind::kList ? attr.value.items() : std::span(&attr.value, 1))
          whole = whole && item.kind == AttrKind::kOperand;
    } else {
      whole = IsTensor(graph_.meta(node));
      AddTensors(rc, graph_.meta(node), tensors);
    }
    const bool mutates =
        output && std::any_of(program_.outputs.begin(), program_.outputs.end(), [](const OutputSpec& spec) {
          return spec.kind != OutputKind::kUser && spec.kind != OutputKind::kLoss;
        });
    const std::string dynamic = origins_.Of(node);
    const Value args[] = {Value::List({tensors.data(), tensors.size()}),
                          Value::String(output ? "output" : "input"),
                          Value::Bool(whole),
                          Value::Bool(mutates),
                          Value::Bool(false),
                          Value::Bool(false),
                          Value::String(dynamic)};
    return Evaluate(rows_.at(kConstraintsOnEdge), args);
  }

 private:
  bool IsTensor(MetaId id) const { return id.has_value() && context_.metas.Get(id).kind == MetaKind::kTensor; }

  bool IsNumber(MetaId id) const {
    const MetaKind kind = id.has_value() ? context_.metas.Get(id).kind : MetaKind::kNone;
    return kind == MetaKind::kInt || kind == MetaKind::kFloat || kind == MetaKind::kBool;
  }

  absl::Status CheckNode(std::string_view row, NodeId node) {
    state_.Begin({});
    RuleContext rc(state_);
    llvm::SmallVector<Value, 8> tensors;
    for (const NodeId operand : graph_.operands(node)) AddTensors(rc, graph_.meta(operand), tensors);
    AddTensors(rc, graph_.meta(node), tensors);
    const Op op = graph_.op(node);
    const std::string dynamic = origins_.Of(node);
    const Value args[] = {Value::List({tensors.data(), tensors.size()}),
                          Value::String(context_.ops.Name(op)),
                          Value::Bool(lowered_.has_value() && lowered_->contains(op)),
                          Value::Bool(context_.ops.Has(op, kMutates)),
                          Value::Bool(qdq_.IsQuantize(op) || qdq_.IsDequantize(op)),
                          Value::Bool(context_.ops.Has(op, kMintsSymbols) && IsNumber(graph_.meta(node))),
                          Value::String(dynamic)};
    return Evaluate(rows_.at(row), args);
  }

  absl::Status CheckArguments(int32_t rule, NodeId node) {
    state_.Begin({});
    RuleContext rc(state_);
    const Schema* schema = context_.ops.schema(graph_.op(node));
    const std::span<const NamedAttr> attrs = context_.attrs.Get(graph_.attrs(node));
    const llvm::SmallVector<MetaId, 8> operands = OperandMetas(node);
    TARE_ASSIGN_OR_RETURN(const std::span<const Value> bound,
                          BindArguments(rc, *schema, attrs, {operands.data(), operands.size()}));
    llvm::SmallVector<Value, 4> constants;
    for (const NamedAttr& attr : attrs)
      if (attr.value.kind == AttrKind::kOperand && constant_[graph_.operands(node)[attr.value.operand].index])
        constants.push_back(Value::String(attr.name));
    llvm::SmallVector<Value, 16> args(bound.begin(), bound.end());
    args.push_back(ValueOf(rc, context_.metas.Get(graph_.meta(node))));
    args.push_back(Value::List({constants.data(), constants.size()}));
    return Evaluate(rule, {args.data(), args.size()});
  }

  void AddTensors(RuleContext& rc, MetaId id, llvm::SmallVectorImpl<Value>& tensors) const {
    if (!id.has_value()) return;
    const Meta& meta = context_.metas.Get(id);
    if (meta.kind == MetaKind::kTensor) tensors.push_back(ValueOf(rc, meta));
    if (meta.kind != MetaKind::kTuple && meta.kind != MetaKind::kList) return;
    for (const MetaId item : meta.items) {
      const Meta& inner = context_.metas.Get(item);
      if (inner.kind == MetaKind::kTensor) tensors.push_back(ValueOf(rc, inner));
    }
  }

  const Program& program_;
  Inferrer& inferrer_;
  const Graph& graph_;
  Context& context_;
  const RuleSet rules_;
  const QdqOps qdq_;
  SymbolOrigins origins_;
  RuleContext::State state_;
  absl::flat_hash_map<std::string_view, int32_t> rows_;
  std::vector<bool> constant_;                      // by node
  std::optional<absl::flat_hash_set<Op>> lowered_;  // when first needed
};

const ConstraintRow* RowOf(std::string_view id) {
  const std::span<const ConstraintRow> rows = ConstraintRows();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const ConstraintRow& r) { return r.id == id; });
  return row == rows.end() ? nullptr : &*row;
}

Outside Explained(NodeId node, std::string id, std::string why) {
  const ConstraintRow* row = RowOf(id);
  return {node, std::move(id), std::move(why), std::string(row == nullptr ? kRemedy : row->remedy)};
}

}  // namespace

std::vector<Outside> FindOutside(const Program& program, std::string_view spec, Inferrer& inferrer,
                                 std::span<const PassStats> passes) {
  const Graph& graph = program.main();
  const Context& context = *program.context;
  absl::flat_hash_map<NodeId, const Refusal*> refusals;  // the last of each node
  for (const PassStats& pass : passes)
    for (const Refusal& refusal : pass.refusals)
      if (refusal.graph == GraphId{0}) refusals[refusal.node] = &refusal;
  Constraints constraints(program, spec, inferrer);
  std::vector<Outside> outside;
  std::vector<bool> used(graph.id_bound(), false);
  for (const NodeId node : graph.nodes())
    for (const NodeId operand : graph.operands(node)) used[operand.index] = true;
  for (const NodeId node : graph.nodes()) {
    const Op op = graph.op(node);
    if (op == op::constant) continue;
    if (op == op::output || op == op::placeholder) {
      const absl::Status status = used[node.index] ? absl::OkStatus() : constraints.CheckEdge(node);
      if (!status.ok()) outside.push_back(Explained(node, CheckIdOf(status), std::string(WithoutId(status))));
      continue;
    }
    if (op == op::getitem && IsTosa(context, graph.op(graph.operands(node)[0]))) continue;
    const absl::Status status = constraints.Check(node);
    if (status.ok()) continue;
    const auto refusal = refusals.find(node);
    const std::string id(CheckIdOf(status));
    const bool known = refusal != refusals.end() && refusal->second->op == op;
    const bool broad = std::find(std::begin(kBroad), std::end(kBroad), id) != std::end(kBroad);
    if (known && (id == kUnexplained || (broad && refusal->second->why.find(kNoNews) == std::string::npos)))
      outside.push_back(Explained(node, refusal->second->check_id, refusal->second->why));
    else
      outside.push_back(Explained(node, id, std::string(WithoutId(status))));
  }
  return outside;
}

}  // namespace tare
