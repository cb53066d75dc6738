#include "call_checker.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "call_grammar.h"
#include "ir/program.h"
#include "ir/status.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "meta/context_factory.h"
#include "meta/infer.h"

namespace tare {
namespace {

constexpr std::string_view kSpecs[] = {"", "TOSA-1.0+INT", "TOSA-1.0+FP"};
constexpr int kCallsPerContext = 20000;  // bounds what the stores keep

using Answer = absl::StatusOr<InferResult>;

}  // namespace

struct CallChecker::State {
  struct Session {
    std::unique_ptr<Inferrer> first, second, twin;  // second meets what first left in the shared memo
  };

  State() : context(MakeContext()), symbols(context->syms), grammar(*context, symbols) {
    for (const std::string_view spec : kSpecs) {
      const auto make = [&](bool use_memo) {
        InferrerOptions options;
        options.spec = spec;
        options.use_memo = use_memo;
        return MakeInferrer(*context, std::move(options));
      };
      sessions.push_back({make(true), make(true), make(false)});
    }
  }

  static Answer Ask(Inferrer& inferrer, const Call& call) {
    NodePlace place;
    place.node = NodeId{7};
    return inferrer.Infer(call.op, call.attrs, call.operands, QuantId{0}, place);
  }

  std::string Text(const Call& call) const { return PrintCall(*context, call.op, call.attrs, call.operands); }
  // Everything an answer says.
  std::string Text(const Answer& answer) const {
    if (!answer.ok()) return std::string(answer.status().ToString());
    if (answer->declared) return "declared";
    std::string text = Cat(PrintMeta(*context, answer->meta), " alias ", answer->alias_of);
    for (const Guard& guard : answer->guards) {
      CatTo(text, guard.kind == Guard::kGuard ? " guard " : " assert ", context->syms.Print(guard.condition));
    }
    return text;
  }

  std::string Problem(std::string_view what, const Call& call, const Answer& answer, std::string_view more) const {
    return Cat(what, "\n  ", Text(call), "\n    -> ", Text(answer), "\n    ", more);
  }

  bool SameAnswer(const Answer& a, const Answer& b) const {
    if (!a.ok() || !b.ok()) return a.status() == b.status();
    if (a->guards.size() != b->guards.size()) return false;
    for (size_t i = 0; i < a->guards.size(); ++i) {
      if (!(a->guards[i] == b->guards[i])) return false;
    }
    return a->meta == b->meta && a->alias_of == b->alias_of && a->declared == b->declared;
  }

  // The verifier's word on a program of only this call.
  absl::Status VerifyAnswer(const Call& call, MetaId meta) const {
    Program program;
    program.context = context.get();
    program.graphs.emplace_back();
    program.graphs[0].name = "main";
    GraphEdit edit(program.main());
    std::vector<NodeId> inputs;
    for (const MetaId operand : call.operands) {
      NodeDef input;
      input.op = op::placeholder;
      input.attrs = context->attrs.Empty();
      input.meta = operand;
      inputs.push_back(edit.Append(input, program.main().mutable_lineage().UniqueName("x")));
    }
    edit.SetInputs(inputs);
    NodeDef node;
    node.op = call.op;
    node.attrs = call.attrs;
    node.meta = meta;
    node.operands = inputs;
    const NodeId id = edit.Append(node, program.main().mutable_lineage().UniqueName("y"));
    return VerifyNodes(program, GraphId{0}, {&id, 1});
  }

  // --- numbers in place of symbols
  std::optional<Dim> Put(Dim dim, const SymStore::Values& values) const {
    if (dim.is_static() || !dim.is_valid()) return dim;
    const auto number = context->syms.Evaluate(dim.expr(), values);
    if (!number) return std::nullopt;
    return context->syms.Int(*number);
  }
  // Nullopt also where a result has symbols of its own.
  std::optional<MetaId> Put(MetaId id, const SymStore::Values& values) const {
    const Meta& meta = context->metas.Get(id);
    if (meta.kind == MetaKind::kInt) {
      const auto value = Put(meta.value, values);
      return value ? std::optional(context->metas.Int(*value)) : std::nullopt;
    }
    if (meta.kind == MetaKind::kTuple || meta.kind == MetaKind::kList) {
      std::vector<MetaId> items;
      for (const MetaId item : meta.items) {
        const auto put = Put(item, values);
        if (!put) return std::nullopt;
        items.push_back(*put);
      }
      return meta.kind == MetaKind::kTuple ? context->metas.Tuple(items) : context->metas.List(items);
    }
    if (meta.kind != MetaKind::kTensor) return id;
    std::vector<Dim> shape, strides;
    for (const Dim dim : meta.tensor.shape) {
      const auto put = Put(dim, values);
      if (!put) return std::nullopt;
      shape.push_back(*put);
    }
    for (const Dim dim : meta.tensor.strides) {
      const auto put = Put(dim, values);
      if (!put) return std::nullopt;
      strides.push_back(*put);
    }
    const auto offset = Put(meta.tensor.offset, values);
    if (!offset) return std::nullopt;
    TensorMeta tensor = meta.tensor;
    tensor.shape = shape;
    tensor.strides = strides;
    tensor.offset = *offset;
    return context->metas.Tensor(tensor);
  }

  // Values of scalars that are not integers depend on more than shapes; where a tensor without
  // elements begins has no meaning.
  bool Agree(MetaId a, MetaId b, bool strides) const {
    const Meta& x = context->metas.Get(a);
    const Meta& y = context->metas.Get(b);
    if (x.kind != y.kind) return false;
    switch (x.kind) {
      case MetaKind::kFloat:
      case MetaKind::kBool:
        return true;
      case MetaKind::kTuple:
      case MetaKind::kList:
        if (x.items.size() != y.items.size()) return false;
        for (size_t i = 0; i < x.items.size(); ++i) {
          if (!Agree(x.items[i], y.items[i], strides)) return false;
        }
        return true;
      case MetaKind::kTensor: {
        const std::span<const Dim> shape = x.tensor.shape;
        const bool empty = std::ranges::any_of(shape, [](Dim dim) { return dim == 0; });
        if (strides && !empty) return SameMeta(*context, a, b);
        return x.tensor.dtype == y.tensor.dtype && std::ranges::equal(shape, y.tensor.shape);
      }
      default:
        return SameMeta(*context, a, b);
    }
  }

  // Of a tensor or an integer.
  bool HasUnbacked(MetaId id) const {
    const auto unbacked = [&](Dim dim) {
      if (dim.is_static() || !dim.is_valid()) return false;
      return std::ranges::any_of(context->syms.Symbols(dim.expr()), [&](ExprId symbol) {
        return context->syms.symbol(symbol).kind == SymbolKind::kUnbacked;
      });
    };
    const Meta& meta = context->metas.Get(id);
    return unbacked(meta.value) || unbacked(meta.tensor.offset) || std::ranges::any_of(meta.tensor.shape, unbacked) ||
           std::ranges::any_of(meta.tensor.strides, unbacked);
  }

  std::string CheckNumbers(Inferrer& inferrer, const Call& call, const Answer& answer) const {
    // Which order of axes a tensor has is not decided where that is known only at run time.
    const bool strides = std::ranges::none_of(call.operands, [&](MetaId id) { return HasUnbacked(id); });
    for (const std::vector<int64_t>& sample : symbols.samples) {
      SymStore::Values values;
      for (size_t i = 0; i < sample.size(); ++i) values[symbols.symbols[i]] = sample[i];
      bool holds = true;
      for (const Guard& guard : answer->guards) {
        holds = holds && context->syms.Evaluate(guard.condition, values).value_or(0) != 0;
      }
      const auto want = holds ? Put(answer->meta, values) : std::nullopt;
      if (!want) continue;
      Call numbers = call;
      bool same = true;
      for (MetaId& operand : numbers.operands) {
        const auto put = Put(operand, values);
        if (!put) return "";
        same = same && *put == operand;
        operand = *put;
      }
      if (same) return "";
      const Answer got = Ask(inferrer, numbers);
      if (got.ok() && !Agree(got->meta, *want, strides)) {
        return Problem("an answer with symbols is another one with numbers", call, answer,
                       Cat(Text(numbers), "\n    -> ", Text(got)));
      }
      if (!got.ok() && VerifyAnswer(call, *want).ok()) {
        return Problem("a call with symbols has an answer, with numbers it is refused", call, answer,
                       Cat(Text(numbers), "\n    -> ", Text(got)));
      }
    }
    return "";
  }

  std::string Check(std::string_view text) {
    ByteSource bytes(text);
    accepted = false;
    Session& session = sessions[bytes.Below(sessions.size())];
    const auto call = grammar.Make(bytes);
    if (!call.ok()) return CheckIdOf(call.status()).empty() ? "arguments refused without a check id" : "";
    const Answer answer = Ask(*session.twin, *call);
    for (Inferrer* inferrer : {session.first.get(), session.first.get(), session.second.get()}) {
      const Answer other = Ask(*inferrer, *call);
      if (!SameAnswer(answer, other)) return Problem("the memo has another answer", *call, answer, Text(other));
    }
    if (!answer.ok()) {
      return CheckIdOf(answer.status()).empty() ? Problem("a refusal has no check id", *call, answer, "") : "";
    }
    accepted = true;
    const absl::Status verified = VerifyAnswer(*call, answer->meta);
    if (!verified.ok()) return Problem("the verifier refuses", *call, answer, verified.ToString());
    return CheckNumbers(*session.twin, *call, answer);
  }

  std::unique_ptr<Context> context;
  CallSymbols symbols;
  CallGrammar grammar;
  std::vector<Session> sessions;
  bool accepted = false;
};

CallChecker::CallChecker() : state_(std::make_unique<State>()) {}
CallChecker::~CallChecker() = default;

std::string CallChecker::Check(std::string_view bytes) {
  if (++calls_ % kCallsPerContext == 0) state_ = std::make_unique<State>();
  return state_->Check(bytes);
}
bool CallChecker::accepted() const { return state_->accepted; }

}  // namespace tare
