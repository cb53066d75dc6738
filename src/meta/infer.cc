#include "meta/infer.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "ir/status.h"
#include "meta/autocast.h"
#include "meta/bind.h"
#include "meta/memo.h"
#include "meta/rule_eval.h"
#include "meta/rule_operators.h"
#include "meta/rule_state.h"

namespace tare {
namespace {

class RuleInferrer final : public Inferrer {
 public:
  RuleInferrer(Context& context, InferrerOptions options)
      : context_(context),
        memo_(*static_cast<SharedMemo*>(context.memo.get())),
        keep_rules_(context.rules),
        rules_(RulesOf(context)),
        facts_(std::move(options.facts)),
        use_memo_(options.use_memo) {
    state_.context = &context;
    state_.rules = &rules_;
    state_.facts = facts_.get();
    state_.spec = context.strings.Intern(options.spec);
  }

  InferCounters counters() const override { return counters_; }

  void UseFacts(std::shared_ptr<const Facts> facts) override {
    if (facts == facts_) return;
    facts_ = std::move(facts);
    state_.facts = facts_.get();
    session_.Clear();
  }

  void UseBodies(const Bodies* bodies) override {
    state_.bodies = bodies;
    has_autocast_ = bodies != nullptr && bodies->HasAutocast();
  }

  absl::StatusOr<InferResult> Infer(Op op, AttrsId attrs, std::span<const MetaId> operands, QuantId quant,
                                    NodePlace place) override {
    const OpDef& def = context_.ops.Get(op);
    if (def.rule < 0) return op == op::getitem ? Element(attrs, operands) : Declared();
    if ((def.traits & kReadsValues) != 0 && TakeConstants(place)) {
      auto result = InferReading(op, def, attrs, operands, quant, place);
      state_.constants.clear();
      return result;
    }
    if (!use_memo_ || CastTo(op, place) || (def.traits & (kMintsSymbols | kHigherOrder)) != 0) {
      return EvaluateAndKeep(op, def, attrs, operands, place);
    }
    const QuantId read = (def.traits & kReadsQuant) != 0 ? quant : QuantId{0};
    const uint64_t hash = SessionHash(op, attrs, read, operands);
    if (const MemoEntry* entry = session_.Find(hash, op, attrs, read, operands)) {
      ++counters_.memo_hits;
      if (!entry->status.ok()) return entry->status;
      return entry->result;
    }
    return Miss(op, def, attrs, operands, read, place, hash);
  }

  absl::StatusOr<BodyArguments> InferBodyArguments(Op op, AttrsId attrs, std::span<const MetaId> operands,
                                                   NodePlace place) override {
    BodyArguments given;
    const OpDef& def = context_.ops.Get(op);
    const Schema* schema = context_.ops.schema(op);
    if (def.rule < 0 || schema == nullptr) return given;
    const Rule& rule = rules_.rules()[static_cast<size_t>(def.rule)];
    if (rule.row->bodies == kNoRuleNode) return given;
    state_.Begin(place);
    RuleContext rc(state_);
    TARE_ASSIGN_OR_RETURN(const std::span<const Value> args,
                          BindArguments(rc, *schema, context_.attrs.Get(attrs), operands));
    TARE_ASSIGN_OR_RETURN(const Value bodies, EvaluateBodies(state_, rule, args));
    const auto misfit = [&] {
      return InvalidError("rule_c8", "bodies must be a list of (graph, inputs), found ", rc.Print(bodies));
    };
    if (bodies.is_none()) return given;
    if (!IsList(bodies)) return misfit();
    for (size_t i = 0; i < LengthOf(bodies); ++i) {
      const Value body = ItemOf(bodies, i);
      if (body.kind != ValueKind::kTuple || body.items().size() != 2) return misfit();
      const Value &graph = body.items()[0], &inputs = body.items()[1];
      if (graph.kind != ValueKind::kGraph || !IsList(inputs)) return misfit();
      BodyArguments::Body& out = given.bodies.emplace_back();
      out.graph = graph.graph;
      for (size_t k = 0; k < LengthOf(inputs); ++k) {
        const Value input = ItemOf(inputs, k);
        TARE_ASSIGN_OR_RETURN(const MetaId meta, input.is_none() ? MetaId{} : InternResult(rc, input));
        out.inputs.push_back(meta);
      }
    }
    given.guards.assign(state_.guards.begin(), state_.guards.end());
    return given;
  }

 private:
  // Reads the constants among the operands for the next evaluation; false when there are none to read.
  bool TakeConstants(const NodePlace& place) {
    state_.constants.clear();
    if (state_.bodies == nullptr) return false;
    for (size_t i = 0; i < place.constants.size(); ++i) {
      if (!place.constants[i].has_value()) continue;
      const Constant* constant = state_.bodies->ConstantOf(place.constants[i]);
      if (constant == nullptr) continue;
      std::optional<Elements> elements = ReadElements(context_, *constant, kMaxReadElements);
      if (elements.has_value()) state_.constants.push_back({static_cast<uint32_t>(i), *std::move(elements)});
    }
    return !state_.constants.empty();
  }

  // Some operands are constants, and the op reads them.
  absl::StatusOr<InferResult> InferReading(Op op, const OpDef& def, AttrsId attrs, std::span<const MetaId> operands,
                                           QuantId quant, NodePlace place) {
    if (!use_memo_ || CastTo(op, place) || (def.traits & (kMintsSymbols | kHigherOrder)) != 0) {
      return EvaluateAndKeep(op, def, attrs, operands, place);
    }
    const QuantId read = (def.traits & kReadsQuant) != 0 ? quant : QuantId{0};
    const std::string_view values = context_.strings.Intern(state_.TextOfConstants());
    return Miss(op, def, attrs, operands, read, place, SessionHash(op, attrs, read, operands) ^ HashOfText(values),
                values);
  }

  static absl::StatusOr<InferResult> Declared() {
    InferResult result;
    result.declared = true;
    return result;
  }

  absl::StatusOr<InferResult> Element(AttrsId attrs, std::span<const MetaId> operands) {
    int64_t index = -1;
    for (const NamedAttr& attr : context_.attrs.Get(attrs)) {
      if (attr.value.kind == AttrKind::kInt) index = attr.value.integer;
    }
    if (operands.empty()) return InvalidError("getitem_c1", "getitem needs a tuple or list");
    const Meta& meta = context_.metas.Get(operands[0]);
    if (meta.kind != MetaKind::kTuple && meta.kind != MetaKind::kList) {
      return InvalidError("getitem_c1", "getitem needs a tuple or list");
    }
    const auto count = static_cast<int64_t>(meta.items.size());
    if (index < 0 || index >= count) return InvalidError("getitem_c2", "element ", index, " of ", count);
    InferResult result;
    result.meta = meta.items[static_cast<size_t>(index)];
    return result;
  }

  absl::StatusOr<InferResult> Miss(Op op, const OpDef& def, AttrsId attrs, std::span<const MetaId> operands,
                                   QuantId quant, NodePlace place, uint64_t hash, std::string_view values = {}) {
    MemoKey key;
    key.values = values;
    key.rules = rules_.id();
    key.spec = state_.spec;
    key.facts = facts_ != nullptr && AnySymbolic(operands) ? IdOf(facts_.get()) : 0;
    key.op = op;
    key.attrs = attrs;
    key.quant = quant;
    key.operands = operands;
    const MemoEntry* entry = memo_.Find(key, hash);
    if (entry != nullptr) {
      ++counters_.memo_hits;
    } else {
      ++counters_.memo_misses;
      auto result = Evaluate(op, def, attrs, operands, place);
      if (state_.minted) return Keep(std::move(result));
      entry = memo_.Insert(key, hash, result.ok() ? *result : InferResult(), result.status());
    }
    if (values.empty()) session_.Insert(entry);
    if (!entry->status.ok()) return entry->status;
    return entry->result;
  }

  // The guards of the result live in the evaluation.
  absl::StatusOr<InferResult> Evaluate(Op op, const OpDef& def, AttrsId attrs, std::span<const MetaId> operands,
                                       NodePlace place) {
    state_.Begin(place);
    RuleContext rc(state_);
    const std::span<const NamedAttr> named = context_.attrs.Get(attrs);
    const Rule& rule = rules_.rules()[static_cast<size_t>(def.rule)];
    const Schema* schema = context_.ops.schema(op);
    if (schema == nullptr) return InvalidError("schema_c1", "the op has no schema");
    TARE_ASSIGN_OR_RETURN(std::span<const Value> args, BindArguments(rc, *schema, named, operands));
    if (const std::optional<DType> dtype = CastTo(op, place)) {
      args = Autocast(rc, AutocastPolicyOf(context_.ops.Name(op)), *dtype, args);
    }
    const absl::StatusOr<Value> evaluated = EvaluateRule(state_, rule, args);
    if (!evaluated.ok()) return state_.undescribed ? Declared() : evaluated.status();
    const Value& value = *evaluated;
    InferResult result;
    TARE_ASSIGN_OR_RETURN(result.meta, InternResult(rc, value));
    result.alias_of = AliasOf(*schema, rule.row->alias, named);
    result.guards = state_.guards;
    result.minted = state_.minted;
    return result;
  }
  // The dtype that autocast has for this op there; its answers are not remembered.
  std::optional<DType> CastTo(Op op, NodePlace place) const {
    if (!has_autocast_ || AutocastPolicyOf(context_.ops.Name(op)) == AutocastPolicy::kNone) return std::nullopt;
    return state_.bodies->AutocastOf(GraphId{static_cast<uint32_t>(place.lineage)});
  }
  static int32_t AliasOf(const Schema& schema, int alias, std::span<const NamedAttr> attrs) {
    if (alias < 0) return -1;
    for (const NamedAttr& attr : attrs) {
      if (attr.name == schema.args[static_cast<size_t>(alias)].name && attr.value.kind == AttrKind::kOperand) {
        return static_cast<int32_t>(attr.value.operand);
      }
    }
    return -1;
  }

  absl::StatusOr<InferResult> EvaluateAndKeep(Op op, const OpDef& def, AttrsId attrs, std::span<const MetaId> operands,
                                              NodePlace place) {
    ++counters_.memo_misses;
    return Keep(Evaluate(op, def, attrs, operands, place));
  }
  absl::StatusOr<InferResult> Keep(absl::StatusOr<InferResult> result) {
    if (result.ok() && !result->guards.empty()) {
      kept_guards_.emplace_back(result->guards.begin(), result->guards.end());
      result->guards = kept_guards_.back();
    }
    return result;
  }

  bool AnySymbolic(std::span<const MetaId> operands) const {
    for (MetaId operand : operands) {
      if (IsSymbolic(operand, 0)) return true;
    }
    return false;
  }
  bool IsSymbolic(MetaId id, int depth) const {
    const Meta& meta = context_.metas.Get(id);
    const auto symbolic = [](Dim dim) { return !dim.is_static(); };
    switch (meta.kind) {
      case MetaKind::kTensor:
        return std::any_of(meta.tensor.shape.begin(), meta.tensor.shape.end(), symbolic) ||
               std::any_of(meta.tensor.strides.begin(), meta.tensor.strides.end(), symbolic) ||
               symbolic(meta.tensor.offset);
      case MetaKind::kInt:
        return symbolic(meta.value);
      case MetaKind::kFloat:
      case MetaKind::kBool:
        return true;
      case MetaKind::kTuple:
      case MetaKind::kList:
        if (depth > 8) return true;
        return std::any_of(meta.items.begin(), meta.items.end(),
                           [&](MetaId item) { return IsSymbolic(item, depth + 1); });
      default:
        return false;
    }
  }

  Context& context_;
  SharedMemo& memo_;
  std::shared_ptr<const void> keep_rules_;
  const RuleSet& rules_;
  std::shared_ptr<const Facts> facts_;
  bool use_memo_;
  bool has_autocast_ = false;  // in some body
  RuleContext::State state_;
  SessionMemo session_;
  InferCounters counters_;
  std::deque<std::vector<Guard>> kept_guards_;  // of answers that are not remembered
};

}  // namespace

std::unique_ptr<Inferrer> MakeInferrer(Context& context, InferrerOptions options) {
  return std::make_unique<RuleInferrer>(context, std::move(options));
}

}  // namespace tare
