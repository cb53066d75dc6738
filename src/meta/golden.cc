#include "meta/golden.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "ir/notation.h"
#include "ir/status.h"
#include "ir/text.h"
#include "meta/golden_symbols.h"
#include "meta/infer.h"
#include "meta/tosa_spec.h"

namespace tare {
namespace {

constexpr size_t kMaxSamples = 24;

// First `token` outside quotes.
size_t FindOutsideQuotes(std::string_view text, std::string_view token) {
  bool quoted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    if (quoted && text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      quoted = !quoted;
    } else if (!quoted && text.substr(at, token.size()) == token) {
      return at;
    }
  }
  return std::string_view::npos;
}

std::string Trim(std::string_view text) { return std::string(absl::StripAsciiWhitespace({text.data(), text.size()})); }

// Compares what a rule gave with what a line says, under the line's facts.
class Comparison {
 public:
  Comparison(Context& context, LineSymbols& symbols) : context_(context), syms_(context.syms), symbols_(symbols) {}

  bool Equal(MetaId got, MetaId want) {
    if (Walk(got, want, nullptr)) return true;
    std::vector<ExprId> ints = symbols_.All();
    if (ints.empty()) return false;
    const auto samples = Assignments(syms_, ints, symbols_.axioms(), kMaxSamples);
    for (const std::vector<int64_t>& sample : samples) {
      SymStore::Values values;
      for (size_t i = 0; i < ints.size(); ++i) values[ints[i]] = sample[i];
      if (!Walk(got, want, &values)) return false;
    }
    return !samples.empty();
  }

 private:
  using Values = SymStore::Values;

  // A symbol the rule minted stands for one symbol of the line's result, and the other way round.
  ExprId Renamed(ExprId got) {
    for (ExprId symbol : syms_.Symbols(got)) {
      if (const auto found = renamed_.find(symbol); found != renamed_.end() && !(found->second == symbol)) {
        return syms_.Substitute(got, renamed_);
      }
    }
    return got;
  }
  void Match(ExprId got, ExprId want) {
    if (syms_.kind(got) != ExprKind::kSymbol || syms_.kind(want) != ExprKind::kSymbol) return;
    if (symbols_.IsOfCall(got) || symbols_.IsOfCall(want) || got == want || renamed_.contains(got)) return;
    const bool taken =
        std::any_of(renamed_.begin(), renamed_.end(), [&](const auto& pair) { return pair.second == want; });
    if (!taken) renamed_[got] = want;
  }

  bool SameDim(Dim got, Dim want, const Values* values) {
    if (got == want) return true;
    if (!got.is_valid() || !want.is_valid()) return false;
    if (got.is_static() && want.is_static()) return false;
    Match(syms_.OfDim(got), syms_.OfDim(want));
    const Dim renamed = syms_.ToDim(Renamed(syms_.OfDim(got)));
    if (values == nullptr) return syms_.Equal(renamed, want, symbols_.facts().get()) == Tri::kYes;
    const auto a = syms_.Evaluate(syms_.OfDim(renamed), *values), b = syms_.Evaluate(syms_.OfDim(want), *values);
    return a && b && *a == *b;
  }
  // Floats and conditions: an unset expression is any value.
  bool SameExpr(ExprId got, ExprId want, const Values* values) {
    if (!want.has_value() || got == want) return true;
    if (!got.has_value()) return false;
    const auto of_got = syms_.Symbols(got), of_want = syms_.Symbols(want);
    if (of_got.size() == 1 && of_want.size() == 1) Match(of_got[0], of_want[0]);
    const ExprId renamed = Renamed(got);
    if (renamed == want) return true;
    if (syms_.SimplifyExpr(renamed, symbols_.facts().get()) == syms_.SimplifyExpr(want, symbols_.facts().get()))
      return true;
    if (values == nullptr || syms_.type(want) == ExprType::kFloat) return false;
    const auto a = syms_.Evaluate(renamed, *values), b = syms_.Evaluate(want, *values);
    return a && b && *a == *b;
  }

  bool Is(Dim dim, int64_t value, const Values* values) {
    if (dim.is_static()) return dim.value() == value;
    if (values == nullptr) return syms_.Equal(dim, Dim::Static(value), symbols_.facts().get()) == Tri::kYes;
    const auto number = syms_.Evaluate(syms_.OfDim(dim), *values);
    return number && *number == value;
  }

  bool SameTensor(const TensorMeta& got, const TensorMeta& want, const Values* values) {
    if (got.dtype != want.dtype || got.layout != want.layout || got.shape.size() != want.shape.size()) return false;
    for (size_t i = 0; i < got.shape.size(); ++i) {
      if (!SameDim(got.shape[i], want.shape[i], values)) return false;
    }
    if (!SameDim(got.offset, want.offset, values)) return false;
    for (Dim dim : want.shape) {
      if (Is(dim, 0, values)) return true;
    }
    for (size_t i = 0; i < got.shape.size(); ++i) {
      if (!Is(want.shape[i], 1, values) && !SameDim(got.strides[i], want.strides[i], values)) return false;
    }
    return true;
  }

  bool Walk(MetaId got_id, MetaId want_id, const Values* values) {
    const Meta& got = context_.metas.Get(got_id);
    const Meta& want = context_.metas.Get(want_id);
    if (got.kind != want.kind) return false;
    switch (want.kind) {
      case MetaKind::kTensor:
        return SameTensor(got.tensor, want.tensor, values);
      case MetaKind::kTuple:
      case MetaKind::kList:
        if (got.items.size() != want.items.size()) return false;
        for (size_t i = 0; i < got.items.size(); ++i) {
          if (!Walk(got.items[i], want.items[i], values)) return false;
        }
        return true;
      case MetaKind::kInt:
        return !want.value.is_valid() || SameDim(got.value, want.value, values);
      case MetaKind::kFloat:
      case MetaKind::kBool:
        return SameExpr(got.expr, want.expr, values);
      case MetaKind::kString:
      case MetaKind::kObject:
        return got.text == want.text;
      case MetaKind::kNone:
      case MetaKind::kToken:
        return true;
    }
    return false;
  }

  Context& context_;
  SymStore& syms_;
  LineSymbols& symbols_;
  absl::flat_hash_map<ExprId, ExprId> renamed_;
};

std::string ErrorText(const absl::Status& status) {
  return absl::StrCat("error: ", absl::string_view(status.message()));
}
// A refusal that blames the row, not the call.
bool IsRowFault(const absl::Status& status) {
  const std::string id = CheckIdOf(status);
  return id.empty() || id == "rule_c8" || id == "rule_c9" || id == "rule_args_c1";
}

}  // namespace

absl::StatusOr<std::optional<GoldenLine>> SplitGoldenLine(std::string_view text) {
  text = text.substr(0, FindOutsideQuotes(text, "#"));
  GoldenLine line;
  const size_t arrow = FindOutsideQuotes(text, "->");
  line.call = Trim(text.substr(0, arrow));
  if (line.call.empty() && arrow == std::string_view::npos) return std::nullopt;
  if (line.call.empty()) return InvalidError("golden_c1", "no call before ->");
  std::string_view rest = arrow == std::string_view::npos ? text : text.substr(arrow + 2);
  const size_t bar = FindOutsideQuotes(rest, "|");
  if (arrow == std::string_view::npos) {
    if (bar != std::string_view::npos) line.call = Trim(rest.substr(0, bar));
  } else {
    line.want = Trim(rest.substr(0, bar));
    if (line.want.empty()) return InvalidError("golden_c1", "no result after ->");
  }
  if (bar != std::string_view::npos) line.facts = Trim(rest.substr(bar + 1));
  if (const size_t spec = line.facts.find("spec="); spec != std::string::npos) {
    const size_t end = std::min(line.facts.find_first_of(", ", spec), line.facts.size());
    line.spec = line.facts.substr(spec + 5, end - spec - 5);
    const size_t next = line.facts.find_first_not_of(", ", end);
    line.facts = line.facts.substr(0, spec) + (next == std::string::npos ? "" : line.facts.substr(next));
    while (!line.facts.empty() && (line.facts.back() == ',' || line.facts.back() == ' ')) line.facts.pop_back();
  }
  return line;
}

Inferrer& GoldenChecker::InferrerFor(const std::string& spec) {
  std::unique_ptr<Inferrer>& inferrer = inferrers_[spec];
  if (inferrer == nullptr) {
    InferrerOptions options;
    options.spec = spec;
    inferrer = MakeInferrer(context_, std::move(options));
  }
  return *inferrer;
}

GoldenAnswer GoldenChecker::Check(const GoldenLine& line) {
  GoldenAnswer answer;
  const bool wants_error = line.want == "error";
  answer.op = line.call.substr(0, line.call.find('('));
  auto symbols = LineSymbols::Make(context_, line.call, line.facts);
  if (!symbols.ok()) {
    answer.got = ErrorText(symbols.status());
    return answer;
  }
  Cursor cursor(line.call);
  const auto call = ReadCall(context_, cursor, *symbols);
  if (!call.ok()) {
    answer.got = ErrorText(call.status());
    if (absl::IsNotFound(call.status())) answer.verdict = GoldenVerdict::kUnsupported;
    answer.refused = true;
    // Arguments that do not fit the schema are refused while the call is read.
    if (wants_error && answer.got.find(" [args_c") != std::string::npos) answer.verdict = GoldenVerdict::kEqual;
    return answer;
  }
  if (!line.spec.empty()) {
    if (const absl::Status known = CheckTosaSpec(line.spec); !known.ok()) {
      answer.got = ErrorText(known);
      answer.refused = true;
      if (wants_error) answer.verdict = GoldenVerdict::kEqual;
      return answer;
    }
  }
  Inferrer& inferrer = InferrerFor(line.spec);
  inferrer.UseFacts(symbols->facts());
  NodePlace place;
  place.node = NodeId{0};
  const auto result = inferrer.Infer(call->op, call->attrs, call->operands, QuantId{0}, place);
  if (!result.ok()) {
    answer.got = ErrorText(result.status());
    answer.refused = true;
    if (wants_error && !IsRowFault(result.status())) answer.verdict = GoldenVerdict::kEqual;
    return answer;
  }
  if (result->declared) {
    answer.got = "no rule";
    answer.verdict = GoldenVerdict::kUnsupported;
    return answer;
  }
  answer.got = PrintMeta(context_, result->meta);
  for (const Guard& guard : result->guards) {
    absl::StrAppend(&answer.got, answer.got.find(" | ") == std::string::npos ? " | " : ", ",
                    context_.syms.Print(guard.condition));
  }
  if (line.want.empty()) {
    answer.verdict = GoldenVerdict::kEqual;
    return answer;
  }
  if (wants_error) return answer;
  Cursor want_cursor(line.want);
  const auto want = ReadMeta(context_, want_cursor, *symbols);
  if (!want.ok() || !want_cursor.AtEnd()) {
    answer.got = want.ok() ? "error: text after the result" : ErrorText(want.status());
    return answer;
  }
  if (Comparison(context_, *symbols).Equal(result->meta, *want)) answer.verdict = GoldenVerdict::kEqual;
  return answer;
}

}  // namespace tare
