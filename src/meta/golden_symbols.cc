#include "meta/golden_symbols.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "ir/notation.h"
#include "ir/status.h"

namespace tare {
namespace {

constexpr size_t kMaxTries = 20'000;

bool IsSymbolName(std::string_view word) {
  size_t letters = 0;
  for (std::string_view prefix : {"zuf", "zf", "s", "u"}) {
    if (word.substr(0, prefix.size()) == prefix) {
      letters = prefix.size();
      break;
    }
  }
  return letters > 0 && word.size() > letters &&
         std::all_of(word.begin() + static_cast<ptrdiff_t>(letters), word.end(),
                     [](char c) { return absl::ascii_isdigit(c); });
}

// Names of symbols in order of appearance, outside quotes.
std::vector<std::string> SymbolNames(std::string_view text) {
  std::vector<std::string> names;
  bool quoted = false;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '"') quoted = !quoted;
    if (quoted || !(absl::ascii_isalnum(text[at]) || text[at] == '_' || text[at] == '.')) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && (absl::ascii_isalnum(text[end]) || text[end] == '_' || text[end] == '.')) ++end;
    const std::string word(text.substr(at, end - at));
    const bool argument = end < text.size() && text[end] == '=' && end + 1 < text.size() && text[end + 1] != '=';
    if (!argument && IsSymbolName(word) && std::find(names.begin(), names.end(), word) == names.end()) {
      names.push_back(word);
    }
    at = end;
  }
  return names;
}

// Conditions are separated by commas outside parentheses.
std::vector<std::string> SplitFacts(std::string_view text) {
  std::vector<std::string> facts;
  std::string current;
  int level = 0;
  for (char c : text) {
    if (c == '(') ++level;
    if (c == ')') --level;
    if (c == ',' && level == 0) {
      facts.push_back(current);
      current.clear();
    } else {
      current += c;
    }
  }
  facts.push_back(current);
  std::erase_if(facts, [](const std::string& fact) { return absl::StripAsciiWhitespace(fact).empty(); });
  return facts;
}

void CollectConstants(const SymStore& syms, ExprId id, int depth, std::vector<int64_t>& constants) {
  if (depth > 32 || constants.size() > 64) return;
  if (syms.kind(id) == ExprKind::kIntConst) constants.push_back(syms.int_value(id));
  for (ExprId arg : syms.args(id)) CollectConstants(syms, arg, depth + 1, constants);
}

// Values worth trying for the k-th symbol, best first.
std::vector<int64_t> Candidates(const SymbolRow& symbol, size_t k, const std::vector<int64_t>& constants) {
  std::vector<int64_t> all;
  const auto number = static_cast<int64_t>(k);
  for (int64_t round = 0; round < 4; ++round) all.push_back(1013 + 60 * number + 300 * round);
  for (int64_t round = 0; round < 4; ++round) all.push_back(61 + 12 * number + 7 * round);
  for (int64_t value = 17 + 6 * number; value < 34 + 6 * number; ++value) all.push_back(value);
  for (int64_t constant : constants) {
    if (constant > INT64_MAX / 4 || constant < INT64_MIN / 4) continue;
    for (int64_t offset : {1, 0, -1, 2}) {
      all.push_back(constant + offset);
      all.push_back(2 * constant + offset);
    }
  }
  for (int64_t value = 2; value < 40; ++value) all.push_back(value);
  all.push_back(1);
  all.push_back(0);
  if (symbol.max != INT64_MAX) all.push_back(symbol.max);
  all.push_back(symbol.min);
  std::vector<int64_t> fitting;
  for (int64_t value : all) {
    const bool fits = value >= symbol.min && value <= symbol.max && value % symbol.divisor == 0;
    if (fits && std::find(fitting.begin(), fitting.end(), value) == fitting.end()) fitting.push_back(value);
  }
  return fitting;
}

// `symbol == expr` of an axiom, expr free of the symbol.
struct Definition {
  size_t symbol = 0;
  ExprId value;
};

std::vector<Definition> Definitions(const SymStore& syms, const std::vector<ExprId>& symbols,
                                    const std::vector<ExprId>& axioms) {
  std::vector<Definition> definitions;
  for (ExprId axiom : axioms) {
    if (syms.kind(axiom) != ExprKind::kEq) continue;
    const auto args = syms.args(axiom);
    for (int side = 0; side < 2; ++side) {
      const auto found = std::find(symbols.begin(), symbols.end(), args[side]);
      if (found == symbols.end()) continue;
      const size_t index = static_cast<size_t>(found - symbols.begin());
      const auto used = syms.Symbols(args[1 - side]);
      const bool free = std::find(used.begin(), used.end(), args[side]) == used.end();
      // A definition may use later symbols only, so that they can be computed from the back.
      const bool ordered = std::all_of(used.begin(), used.end(), [&](ExprId other) {
        const auto place = std::find(symbols.begin(), symbols.end(), other);
        const auto known = static_cast<size_t>(place - symbols.begin());
        return std::none_of(definitions.begin(), definitions.end(),
                            [&](const Definition& d) { return d.symbol == known; });
      });
      const bool once =
          std::none_of(definitions.begin(), definitions.end(), [&](const Definition& d) { return d.symbol == index; });
      if (free && ordered && once) {
        definitions.push_back({index, args[1 - side]});
        break;
      }
    }
  }
  return definitions;
}

bool Holds(const SymStore& syms, const std::vector<ExprId>& axioms, const SymStore::Values& values) {
  return std::all_of(axioms.begin(), axioms.end(), [&](ExprId axiom) {
    const auto truth = syms.Evaluate(axiom, values);
    return truth && *truth != 0;
  });
}

}  // namespace

std::vector<std::vector<int64_t>> Assignments(SymStore& syms, const std::vector<ExprId>& symbols,
                                              const std::vector<ExprId>& axioms, size_t limit) {
  std::vector<std::vector<int64_t>> found;
  std::vector<int64_t> constants;
  for (ExprId axiom : axioms) CollectConstants(syms, axiom, 0, constants);
  const std::vector<Definition> definitions = Definitions(syms, symbols, axioms);
  std::vector<std::vector<int64_t>> candidates;
  std::vector<size_t> free;
  for (size_t i = 0; i < symbols.size(); ++i) {
    candidates.push_back(Candidates(syms.symbol(symbols[i]), i, constants));
    if (candidates.back().empty()) return found;
    const bool defined =
        std::any_of(definitions.begin(), definitions.end(), [&](const Definition& d) { return d.symbol == i; });
    if (!defined) free.push_back(i);
  }

  std::vector<size_t> choice(symbols.size(), 0);
  uint64_t random = 88172645463325252u;
  for (size_t attempt = 0; attempt < kMaxTries && found.size() < limit; ++attempt) {
    // First the best of each, then every place of one symbol, then mixtures.
    for (size_t index : free) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      choice[index] = attempt == 0 ? 0 : free.size() == 1 ? attempt : random % candidates[index].size();
      if (choice[index] >= candidates[index].size()) return found;
    }
    SymStore::Values values;
    for (size_t index : free) values[symbols[index]] = candidates[index][choice[index]];
    bool complete = true;
    for (size_t d = definitions.size(); d-- > 0;) {
      const auto value = syms.Evaluate(definitions[d].value, values);
      const SymbolRow& row = syms.symbol(symbols[definitions[d].symbol]);
      complete = complete && value && *value >= row.min && *value <= row.max;
      if (!complete) break;
      values[symbols[definitions[d].symbol]] = *value;
    }
    if (complete && Holds(syms, axioms, values)) {
      std::vector<int64_t> assignment;
      for (ExprId symbol : symbols) assignment.push_back(values[symbol]);
      if (std::find(found.begin(), found.end(), assignment) == found.end()) found.push_back(std::move(assignment));
    }
    if (free.empty()) break;
  }
  return found;
}

ExprId LineSymbols::Declare(const SymbolRow& row) {
  const bool is_float = row.kind == SymbolKind::kFloat || row.kind == SymbolKind::kUnbackedFloat;
  const ExprId id = is_float ? context_->syms.FloatSymbol(row) : context_->syms.OfDim(context_->syms.Symbol(row));
  known_.emplace_back(std::string(row.name), id);
  return id;
}

absl::StatusOr<ExprId> LineSymbols::Resolve(std::string_view name) {
  for (const auto& [known, id] : known_) {
    if (known == name) return id;
  }
  if (!IsSymbolName(name)) return InvalidError("golden_c1", "unknown symbol ", name);
  return Declare(TextSymbols::DefaultRow(context_->strings.Intern(name)));
}

bool LineSymbols::IsOfCall(ExprId symbol) const {
  for (const auto& [name, id] : known_) {
    if (id == symbol) return std::find(of_call_.begin(), of_call_.end(), name) != of_call_.end();
  }
  return false;
}

std::vector<ExprId> LineSymbols::All() const {
  std::vector<std::pair<std::string, ExprId>> sorted;
  for (const auto& entry : known_) {
    if (context_->syms.type(entry.second) == ExprType::kInt) sorted.push_back(entry);
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ExprId> ids;
  for (const auto& entry : sorted) ids.push_back(entry.second);
  return ids;
}

absl::Status LineSymbols::ReadFacts(std::string_view facts) {
  axioms_.clear();
  for (const std::string& fact : SplitFacts(facts)) {
    const absl::StatusOr<ExprId> parsed = ParseExpr(fact, context_->syms, *this);
    if (CheckIdOf(parsed.status()) == "expr_c4") continue;  // numbers beyond 64 bits: without it less is proved
    TARE_ASSIGN_OR_RETURN(const ExprId axiom, parsed);
    if (context_->syms.type(axiom) != ExprType::kBool) return InvalidError("golden_c1", "no condition: ", fact);
    axioms_.push_back(axiom);
  }
  facts_ = axioms_.empty() ? nullptr : context_->syms.MakeFacts(axioms_);
  return absl::OkStatus();
}

absl::StatusOr<LineSymbols> LineSymbols::Make(Context& context, std::string_view text, std::string_view facts) {
  LineSymbols out(context);
  out.of_call_ = SymbolNames(text);
  std::vector<std::string> names = out.of_call_;
  for (const std::string& name : SymbolNames(facts)) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (names.empty()) return out;
  SymStore& syms = context.syms;
  // First with wide ranges, to see what the facts say of them; then with those ranges, to find
  // values; then with the values as hints.
  std::vector<SymbolRow> rows;
  for (const std::string& name : names) {
    SymbolRow row = TextSymbols::DefaultRow(context.strings.Intern(name));
    row.min = 0;
    rows.push_back(row);
  }
  for (int round = 0; round < 3; ++round) {
    out.known_.clear();
    for (const SymbolRow& row : rows) out.Declare(row);
    TARE_RETURN_IF_ERROR(out.ReadFacts(facts));
    if (round == 2) break;
    const std::vector<ExprId> ints = out.All();
    const auto values = round == 1 ? Assignments(syms, ints, out.axioms_, 1) : std::vector<std::vector<int64_t>>();
    for (SymbolRow& row : rows) {
      const ExprId id = *out.Resolve(row.name);
      if (syms.type(id) != ExprType::kInt) continue;
      if (round == 0) {
        const Range range = syms.RangeOf(syms.ToDim(id), out.facts_.get());
        const int64_t least = row.kind == SymbolKind::kBacked && range.max >= 2 ? 2 : 0;
        row.min = std::max(range.min, least);
        row.max = std::max(range.max, row.min);
      } else if (row.kind == SymbolKind::kBacked && !values.empty()) {
        row.hint = values[0][static_cast<size_t>(std::find(ints.begin(), ints.end(), id) - ints.begin())];
      }
    }
  }
  return out;
}

}  // namespace tare
