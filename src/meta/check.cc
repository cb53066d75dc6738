#include "meta/check.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "ir/context.h"
#include "ir/explain.h"
#include "ir/op_table.h"
#include "ir/status.h"
#include "ir/text.h"

namespace tare {
namespace {

bool IsCounted(const Meta& meta) {
  return meta.kind == MetaKind::kTensor || meta.kind == MetaKind::kInt || meta.kind == MetaKind::kFloat ||
         meta.kind == MetaKind::kBool;
}

bool IsNested(const Meta& meta) { return meta.kind == MetaKind::kTuple || meta.kind == MetaKind::kList; }

// Leaves of nested tuples and lists, in order. Iterative: a file may nest as deep as it likes.
std::vector<MetaId> Leaves(const Context& context, MetaId root) {
  std::vector<MetaId> leaves, stack = {root};
  while (!stack.empty()) {
    const MetaId id = stack.back();
    stack.pop_back();
    if (!id.has_value()) continue;
    const Meta& meta = context.metas.Get(id);
    if (!IsNested(meta)) {
      leaves.push_back(id);
      continue;
    }
    for (size_t i = meta.items.size(); i-- > 0;) stack.push_back(meta.items[i]);
  }
  return leaves;
}

// Compares stated with derived metadata of one node. Symbols the node mints stand for the symbols
// stated in their place.
class Comparison {
 public:
  explicit Comparison(const Program& program) : program_(program) {}
  // Of an answer that names symbols of its own.
  Comparison(const Program& program, std::span<const MetaId> operands) : program_(program), mints_(true) {
    for (MetaId operand : operands) {
      for (MetaId leaf : Leaves(context(), operand)) KeepSymbols(leaf);
    }
  }

  // Guards that hold for the exporter's example hold in the answer.
  void TakeGuards(std::span<const Guard> guards) {
    const std::span<const ExprId> known = GivenAxioms(program_.facts.get());
    std::vector<ExprId> axioms(known.begin(), known.end());
    for (const Guard& guard : guards) {
      if (guard.kind == Guard::kGuard && context().syms.Hint(guard.condition) == 1) axioms.push_back(guard.condition);
    }
    if (axioms.size() > known.size()) guarded_facts_ = context().syms.MakeFacts(axioms);
  }

  // New storage may begin anywhere: torch answers 0 where it remembers a call, the operand's offset else.
  void TakeNewStorage() { has_new_storage_ = true; }

  // Results may be the last of stacked iterates: torch stacks what a loop carries where it records gradients.
  void TakeStackedIterates() { stacks_iterates_ = true; }

  bool Same(MetaId stated, MetaId derived) {
    if (SameMeta(context(), stated, derived)) return true;
    const Meta& a = context().metas.Get(stated);
    const Meta& b = context().metas.Get(derived);
    if (a.kind != b.kind) return false;
    switch (a.kind) {
      case MetaKind::kTensor:
        return SameTensor(a.tensor, b.tensor);
      case MetaKind::kInt:
        return SameDim(a.value, b.value);
      case MetaKind::kFloat:
      case MetaKind::kBool:
        return SameExpr(a.expr, b.expr);
      default:
        return false;
    }
  }

 private:
  Context& context() const { return *program_.context; }

  // Symbols of operands are not minted here: they stand for themselves.
  void KeepSymbols(MetaId id) {
    const Meta& meta = context().metas.Get(id);
    const auto keep = [&](Dim dim) {
      if (dim.is_static() || !dim.is_valid()) return;
      for (ExprId symbol : context().syms.Symbols(dim.expr())) stands_for_[symbol] = symbol;
    };
    if (meta.kind == MetaKind::kInt) keep(meta.value);
    if (meta.kind != MetaKind::kTensor) return;
    for (Dim dim : meta.tensor.shape) keep(dim);
    for (Dim dim : meta.tensor.strides) keep(dim);
    keep(meta.tensor.offset);
  }

  bool SameTensor(const TensorMeta& a, const TensorMeta& b) {
    if (a.dtype != b.dtype || a.layout != b.layout || a.shape.size() != b.shape.size()) return false;
    bool has_elements = true;
    for (size_t i = 0; i < a.shape.size(); ++i) {
      if (!SameDim(a.shape[i], b.shape[i])) return false;
      has_elements &= !(a.shape[i] == 0);
    }
    if (a.layout != Layout::kStrided || !has_elements) return true;
    for (size_t i = 0; i < a.shape.size(); ++i) {
      if (a.shape[i] == 1 || SameDim(a.strides[i], b.strides[i])) continue;
      if (!SameWhereElementsAre(a.shape, a.strides[i], b.strides[i])) return false;
    }
    if (SameDim(a.offset, b.offset) || ((OffsetsAreUnknown() || has_new_storage_) && a.offset == 0)) return true;
    return stacks_iterates_ && IsLastIterate(a);
  }

  // The offset is (u - 1) * numel, u the number of iterations.
  bool IsLastIterate(const TensorMeta& stated) const {
    if (stated.offset.is_static() || !stated.offset.is_valid()) return false;
    SymStore& syms = context().syms;
    Dim numel = Dim::Static(1);
    for (const Dim dim : stated.shape) numel = syms.Mul(numel, dim);
    for (const ExprId symbol : syms.Symbols(stated.offset.expr())) {
      const Dim begin = syms.Mul(numel, syms.Sub(syms.ToDim(symbol), Dim::Static(1)));
      if (IsUnbackedSymbol(symbol) && syms.Equal(stated.offset, begin, program_.facts.get()) == Tri::kYes) return true;
    }
    return false;
  }

  // Strides mean something only where every extent is at least 1.
  bool SameWhereElementsAre(std::span<const Dim> shape, Dim stated, Dim derived) {
    SymStore& syms = context().syms;
    const std::span<const ExprId> known = GivenAxioms(program_.facts.get());
    std::vector<ExprId> axioms(known.begin(), known.end());
    const auto positive = [&](ExprId extent) { axioms.push_back(syms.Le(Dim::Static(1), syms.ToDim(extent))); };
    for (const Dim dim : shape) {
      if (dim.is_static() || !dim.is_valid()) continue;
      if (syms.kind(dim.expr()) != ExprKind::kMul) {
        positive(dim.expr());
        continue;
      }
      for (const ExprId factor : syms.args(dim.expr())) positive(factor);
    }
    if (axioms.size() == known.size()) return false;
    return syms.Equal(stated, derived, syms.MakeFacts(axioms).get()) == Tri::kYes;
  }

  // Writers up to schema 8.8 stated offset 0 for every value.
  bool OffsetsAreUnknown() const {
    if (program_.torch_version.empty()) return false;  // not from such a file
    return program_.schema_major < 8 || (program_.schema_major == 8 && program_.schema_minor <= 8);
  }

  bool SameDim(Dim stated, Dim derived) {
    if (stated == derived) return true;
    if (!stated.is_valid() || !derived.is_valid()) return false;
    SymStore& syms = context().syms;
    if (syms.Equal(stated, derived, program_.facts.get()) == Tri::kYes) return true;
    if (guarded_facts_ != nullptr && syms.Equal(stated, derived, guarded_facts_.get()) == Tri::kYes) return true;
    return mints_ && SameExpr(syms.OfDim(stated), syms.OfDim(derived));
  }

  bool SameExpr(ExprId stated, ExprId derived) {
    if (stated == derived) return true;
    if (!mints_) return false;
    SymStore& syms = context().syms;
    if (IsUnbackedSymbol(derived) && IsUnbackedSymbol(stated)) {
      return stands_for_.try_emplace(derived, stated).first->second == stated;
    }
    return syms.Substitute(derived, stands_for_) == stated;
  }

  bool IsUnbackedSymbol(ExprId id) const {
    const SymStore& syms = context().syms;
    if (syms.kind(id) != ExprKind::kSymbol) return false;
    const SymbolKind kind = syms.symbol(id).kind;
    return kind == SymbolKind::kUnbacked || kind == SymbolKind::kUnbackedFloat;
  }

  const Program& program_;
  bool mints_ = false;
  bool has_new_storage_ = false;
  bool stacks_iterates_ = false;
  std::shared_ptr<const Facts> guarded_facts_;      // the program's and the guards; null where there are none
  absl::flat_hash_map<ExprId, ExprId> stands_for_;  // minted symbol -> stated symbol
};

class Checker {
 public:
  Checker(const Program& program, Inferrer& inferrer)
      : program_(program),
        context_(*program.context),
        inferrer_(inferrer),
        bodies_(program),
        while_loop_(program.context->ops.Find("higher_order.while_loop")) {}

  CheckReport Run() {
    inferrer_.UseFacts(program_.facts);
    inferrer_.UseBodies(&bodies_);
    for (uint32_t g = 0; g < program_.graphs.size(); ++g) {
      graph_id_ = GraphId{g};
      const Graph& graph = program_.graphs[g].graph;
      size_t input = 0;
      for (NodeId node : graph.nodes()) {
        const Op op = graph.op(node);
        if (op == op::output) continue;
        if (op == op::placeholder) {
          CheckInput(node, g == 0 ? input : SIZE_MAX);
          ++input;
        } else {
          CheckNode(node, op);
        }
      }
    }
    report_.different = report_.values - report_.equal - report_.declared;
    return std::move(report_);
  }

 private:
  const Graph& graph() const { return program_.graphs[graph_id_.index].graph; }

  // `index` among the program's inputs; out of range for inputs of a body, which nothing restates.
  void CheckInput(NodeId node, size_t index) {
    const MetaId stated = graph().meta(node);
    MetaId derived;
    if (index < program_.inputs.size()) {
      const InputSpec& spec = program_.inputs[index];
      if (spec.kind == InputKind::kConstantInput) return;
      if (spec.constant.has_value()) derived = program_.constants[spec.constant.index].meta;
    }
    for (MetaId leaf : Leaves(context_, stated)) {
      if (!IsCounted(context_.metas.Get(leaf))) continue;
      ++report_.values;
      if (!derived.has_value() || Comparison(program_).Same(leaf, derived)) {
        ++report_.equal;
      } else {
        report_.differences.push_back({graph_id_, node, -1, leaf, derived, absl::OkStatus()});
      }
    }
  }

  void CheckNode(NodeId node, Op op) {
    const NodeDef def = graph().Def(node);
    operands_.clear();
    for (NodeId operand : def.operands) operands_.push_back(graph().meta(operand));
    NodePlace place{graph_id_.index, node};
    constants_.clear();
    if (graph_id_.index == 0 && context_.ops.Has(op, kReadsValues)) {
      if (!readable_.has_value()) readable_ = ReadableConstants(program_);
      for (NodeId operand : def.operands) {
        const auto it = readable_->find(operand);
        constants_.push_back(it == readable_->end() ? ConstId{} : it->second);
      }
      place.constants = constants_;
    }
    absl::StatusOr<InferResult> result = inferrer_.Infer(op, def.attrs, operands_, def.quant, place);
    const std::vector<MetaId> stated = Leaves(context_, def.meta);
    if (result.ok() && result->declared) {
      AddDeclared(op, stated);
    } else if (!result.ok()) {
      AddRefused(node, op, def.meta, stated, result.status());
    } else {
      Compare(node, op, def.meta, stated, *result);
    }
  }

  void AddDeclared(Op op, std::span<const MetaId> stated) {
    for (MetaId leaf : stated) {
      if (!IsCounted(context_.metas.Get(leaf))) continue;
      ++report_.values;
      ++report_.declared;
    }
    for (Op known : report_.declared_ops) {
      if (known == op) return;
    }
    report_.declared_ops.push_back(op);
  }

  void AddRefused(NodeId node, Op op, MetaId whole, std::span<const MetaId> stated, const absl::Status& refusal) {
    int64_t counted = 0;
    for (size_t i = 0; i < stated.size(); ++i) {
      if (!IsCounted(context_.metas.Get(stated[i]))) continue;
      ++counted;
      if (counted == 1) report_.differences.push_back({graph_id_, node, ElementOf(whole, i), stated[i], {}, refusal});
    }
    if (op == op::getitem) counted = 1;  // an element that is not there
    if (counted == 0) {                  // a node without a value that is refused: the refusal must not be lost
      counted = 1;
      report_.differences.push_back({graph_id_, node, -1, whole, {}, refusal});
    }
    report_.values += counted;
  }

  void Compare(NodeId node, Op op, MetaId whole, std::span<const MetaId> stated, const InferResult& answer) {
    const std::vector<MetaId> derived = Leaves(context_, answer.meta);
    Comparison comparison = answer.minted ? Comparison(program_, operands_) : Comparison(program_);
    comparison.TakeGuards(answer.guards);
    if (answer.alias_of < 0 && !context_.ops.Has(op, kView)) comparison.TakeNewStorage();
    if (op == while_loop_ && NeedsGradient(node)) comparison.TakeStackedIterates();
    for (size_t i = 0; i < std::max(stated.size(), derived.size()); ++i) {
      const MetaId a = i < stated.size() ? stated[i] : MetaId{};
      const MetaId b = i < derived.size() ? derived[i] : MetaId{};
      const bool same = a.has_value() && b.has_value() && comparison.Same(a, b);
      // An element is the value of its tuple or list: it counts there.
      if (op == op::getitem && same) continue;
      // Files have no name for a number that nothing uses.
      if (a.has_value() && b.has_value() && IsUnusedNumber(a, b)) continue;
      const bool counted =
          (a.has_value() && IsCounted(context_.metas.Get(a))) || (b.has_value() && IsCounted(context_.metas.Get(b)));
      if (!counted) continue;
      ++report_.values;
      if (same) {
        ++report_.equal;
      } else {
        report_.differences.push_back({graph_id_, node, ElementOf(a.has_value() ? whole : answer.meta, i), a, b, {}});
      }
    }
  }

  bool NeedsGradient(NodeId node) const {
    const absl::flat_hash_set<NodeId>& needing = program_.graphs[graph_id_.index].requires_grad;
    return std::ranges::any_of(graph().operands(node), [&](NodeId operand) { return needing.contains(operand); });
  }

  bool IsUnusedNumber(MetaId stated, MetaId derived) const {
    const MetaKind kind = context_.metas.Get(derived).kind;
    return context_.metas.Get(stated).kind == MetaKind::kNone &&
           (kind == MetaKind::kInt || kind == MetaKind::kFloat || kind == MetaKind::kBool);
  }

  int ElementOf(MetaId whole, size_t leaf) const {
    return whole.has_value() && IsNested(context_.metas.Get(whole)) ? static_cast<int>(leaf) : -1;
  }

  const Program& program_;
  Context& context_;
  Inferrer& inferrer_;
  ProgramBodies bodies_;
  const Op while_loop_;  // no value where the op is unknown
  GraphId graph_id_;
  std::vector<MetaId> operands_;
  std::vector<ConstId> constants_;  // of the operands
  std::optional<absl::flat_hash_map<NodeId, ConstId>> readable_;
  CheckReport report_;
};

}  // namespace

CheckReport CheckProgram(const Program& program, Inferrer& inferrer) { return Checker(program, inferrer).Run(); }

absl::Status RefusalOf(const Program& program, const CheckReport& report) {
  for (const ValueDifference& difference : report.differences) {
    if (!absl::IsInvalidArgument(difference.refusal)) continue;
    return AtNode(program, {difference.graph, difference.node, Op{}, ""}, difference.refusal);
  }
  return absl::OkStatus();
}

std::string NameOfValue(const Program& program, const ValueDifference& difference) {
  const ProgramGraph& owner = program.graphs[difference.graph.index];
  std::string name = absl::StrCat("%", TextPiece(owner.graph.NameOf(difference.node)));
  if (difference.element >= 0) absl::StrAppend(&name, "[", difference.element, "]");
  if (difference.graph.index != 0) absl::StrAppend(&name, " in ", owner.name);
  return name;
}

}  // namespace tare
