#include "meta/rule_parser.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "ir/dtype.h"
#include "ir/status.h"
#include "meta/function_table.h"

namespace tare {

uint32_t RuleArrays::Text(std::string_view text) {
  auto [it, inserted] = text_index.try_emplace(std::string(text), static_cast<uint32_t>(texts.size()));
  if (inserted) texts.emplace_back(text);
  return it->second;
}

namespace {

bool IsSimple(RuleOp op) {
  switch (op) {
    case RuleOp::kDiv:
    case RuleOp::kList:
    case RuleOp::kTuple:
    case RuleOp::kStar:
    case RuleOp::kCall:
    case RuleOp::kRule:
    case RuleOp::kFor:
      return false;
    default:
      return true;
  }
}

}  // namespace

uint32_t RuleArrays::Add(RuleNode node, std::span<const uint32_t> children) {
  const auto is_simple = [&](uint32_t child) { return (nodes[child].detail & kSimpleRule) != 0; };
  bool simple = IsSimple(node.op);
  if (node.op == RuleOp::kIn || node.op == RuleOp::kNotIn) {  // a list that is written out is not built
    const RuleNode& list = nodes[children[1]];
    const auto items = std::span<const uint32_t>(links).subspan(list.links, list.num_links);
    simple = is_simple(children[0]) && list.op == RuleOp::kList && std::ranges::all_of(items, is_simple);
  } else {
    simple = simple && std::ranges::all_of(children, is_simple);
  }
  if (simple) node.detail |= kSimpleRule;
  node.links = static_cast<uint32_t>(links.size());
  node.num_links = static_cast<uint16_t>(children.size());
  links.insert(links.end(), children.begin(), children.end());
  nodes.push_back(node);
  return static_cast<uint32_t>(nodes.size() - 1);
}

uint32_t PackPlace(RulePlace place) {
  return (std::min(place.line, (1u << 22) - 1) << 10) | std::min(place.column, 1023u);
}
RulePlace UnpackPlace(uint32_t packed) { return {packed >> 10, packed & 1023}; }

int FindRuleFunction(std::string_view name) {
  const auto table = FunctionTable();
  for (size_t i = 0; i < table.size(); ++i) {
    if (table[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

namespace {

constexpr std::string_view kKeywords[] = {"and", "or", "not", "if", "else", "for", "in", "true", "false", "none"};

std::optional<MemoryFormat> MemoryFormatByName(std::string_view name) {
  if (name == "contiguous") return MemoryFormat::kContiguous;
  if (name == "channels_last") return MemoryFormat::kChannelsLast;
  if (name == "channels_last_3d") return MemoryFormat::kChannelsLast3d;
  if (name == "preserve") return MemoryFormat::kPreserve;
  return std::nullopt;
}

std::optional<RuleField> FieldByName(std::string_view name) {
  constexpr std::pair<std::string_view, RuleField> kFields[] = {
      {"shape", RuleField::kShape},   {"dtype", RuleField::kDType},   {"strides", RuleField::kStrides},
      {"offset", RuleField::kOffset}, {"device", RuleField::kDevice}, {"layout", RuleField::kLayout},
  };
  for (const auto& [text, field] : kFields) {
    if (text == name) return field;
  }
  return std::nullopt;
}

// Recursive descent; one method per level of precedence. The first error ends the parse.
class Parser {
 public:
  Parser(std::vector<RuleToken> tokens, std::string_view text, RulePlace place, const RuleScope& scope,
         RuleArrays& arrays, std::vector<PendingRule>& pending)
      : tokens_(std::move(tokens)),
        text_(text),
        place_(place),
        scope_(scope),
        arrays_(arrays),
        pending_(pending),
        base_(static_cast<uint32_t>(arrays.nodes.size())) {}

  absl::StatusOr<uint32_t> Parse() {
    const uint32_t root = Ternary();
    if (error_.ok() && Now().kind != RuleTokenKind::kEnd) Fail("rule_c2", absl::StrCat("unexpected ", Shown()));
    if (!error_.ok()) return error_;
    return root;
  }

 private:
  const RuleToken& Now() const { return tokens_[at_]; }
  bool Is(std::string_view punct) const { return Now().kind == RuleTokenKind::kPunct && Now().text == punct; }
  bool IsWord(std::string_view word) const { return Now().kind == RuleTokenKind::kName && Now().text == word; }
  void Next() {
    if (Now().kind != RuleTokenKind::kEnd) ++at_;
  }
  bool Take(std::string_view punct) {
    if (!Is(punct)) return false;
    Next();
    return true;
  }
  bool TakeWord(std::string_view word) {
    if (!IsWord(word)) return false;
    Next();
    return true;
  }
  void Expect(std::string_view punct) {
    if (!Take(punct)) Fail("rule_c2", absl::StrCat("expected '", TextPiece(punct), "', found ", Shown()));
  }
  std::string Shown() const {
    switch (Now().kind) {
      case RuleTokenKind::kEnd:
        return "the end";
      case RuleTokenKind::kInt:
      case RuleTokenKind::kFloat:
        return "a number";
      default:
        return absl::StrCat("'", TextPiece(Now().text), "'");
    }
  }

  RulePlace PlaceOf(uint32_t offset) const { return PlaceAt(place_, text_, offset); }
  uint32_t Fail(std::string_view id, std::string_view what) {
    if (error_.ok()) {
      const RulePlace place = PlaceOf(Now().offset);
      error_ = InvalidError(id, place.line, ":", place.column, ": ", what);
    }
    at_ = tokens_.size() - 1;
    return kNoRuleNode;
  }

  uint32_t Add(RuleOp op, std::span<const uint32_t> children, uint32_t offset, int64_t value = 0, uint8_t detail = 0) {
    if (arrays_.nodes.size() >= kMaxRuleNodes) return Fail("rule_c5", "the file has too many expressions");
    if (children.size() > UINT16_MAX) return Fail("rule_c5", "list too long");
    RuleNode node;
    node.op = op;
    node.detail = detail;
    node.value = value;
    node.place = PackPlace(PlaceOf(offset));
    int height = 0;
    for (uint32_t child : children) {
      if (child == kNoRuleNode) return kNoRuleNode;
      height = std::max<int>(height, heights_[child - base_]);
    }
    if (height >= kMaxRuleDepth) return Fail("rule_c5", absl::StrCat("nested deeper than ", kMaxRuleDepth));
    heights_.push_back(static_cast<uint8_t>(height + 1));
    return arrays_.Add(node, children);
  }
  uint32_t Binary(RuleOp op, uint32_t a, uint32_t b, uint32_t offset) {
    const uint32_t children[] = {a, b};
    return Add(op, children, offset);
  }

  struct Depth {
    explicit Depth(Parser& p) : parser(p) {
      if (++parser.depth_ > 3 * kMaxRuleDepth)
        parser.Fail("rule_c5", absl::StrCat("nested deeper than ", kMaxRuleDepth));
    }
    ~Depth() { --parser.depth_; }
    Parser& parser;
  };

  uint32_t Ternary() {
    Depth depth(*this);
    if (!error_.ok()) return kNoRuleNode;
    const uint32_t offset = Now().offset;
    const uint32_t then = Or();
    if (!TakeWord("if")) return then;
    const uint32_t condition = Or();
    if (!TakeWord("else")) return Fail("rule_c2", absl::StrCat("expected 'else', found ", Shown()));
    const uint32_t children[] = {condition, then, Ternary()};
    return Add(RuleOp::kIf, children, offset);
  }

  uint32_t Or() {
    uint32_t left = And();
    for (uint32_t offset = Now().offset; TakeWord("or"); offset = Now().offset) {
      left = Binary(RuleOp::kOr, left, And(), offset);
    }
    return left;
  }
  uint32_t And() {
    uint32_t left = Not();
    for (uint32_t offset = Now().offset; TakeWord("and"); offset = Now().offset) {
      left = Binary(RuleOp::kAnd, left, Not(), offset);
    }
    return left;
  }
  uint32_t Not() {
    Depth depth(*this);
    if (!error_.ok()) return kNoRuleNode;
    const uint32_t offset = Now().offset;
    if (!TakeWord("not")) return Comparison();
    const uint32_t children[] = {Not()};
    return Add(RuleOp::kNot, children, offset);
  }

  std::optional<RuleOp> TakeComparison() {
    constexpr std::pair<std::string_view, RuleOp> kOps[] = {{"==", RuleOp::kEq}, {"!=", RuleOp::kNe},
                                                            {"<", RuleOp::kLt},  {"<=", RuleOp::kLe},
                                                            {">", RuleOp::kGt},  {">=", RuleOp::kGe}};
    for (const auto& [text, op] : kOps) {
      if (Take(text)) return op;
    }
    if (TakeWord("in")) return RuleOp::kIn;
    if (IsWord("not") && tokens_[at_ + 1].kind == RuleTokenKind::kName && tokens_[at_ + 1].text == "in") {
      at_ += 2;
      return RuleOp::kNotIn;
    }
    return std::nullopt;
  }
  // a < b < c is (a < b) and (b < c).
  uint32_t Comparison() {
    uint32_t left = Sum();
    uint32_t result = kNoRuleNode;
    for (uint32_t offset = Now().offset; const auto op = TakeComparison(); offset = Now().offset) {
      const uint32_t right = Sum();
      const uint32_t one = Binary(*op, left, right, offset);
      result = result == kNoRuleNode ? one : Binary(RuleOp::kAnd, result, one, offset);
      left = right;
    }
    return result == kNoRuleNode ? left : result;
  }

  uint32_t Sum() {
    uint32_t left = Product();
    while (error_.ok() && (Is("+") || Is("-"))) {
      const uint32_t offset = Now().offset;
      const RuleOp op = Is("+") ? RuleOp::kAdd : RuleOp::kSub;
      Next();
      left = Binary(op, left, Product(), offset);
    }
    return left;
  }
  uint32_t Product() {
    uint32_t left = Unary();
    while (error_.ok() && (Is("*") || Is("/") || Is("//") || Is("%"))) {
      const uint32_t offset = Now().offset;
      const RuleOp op = Is("*") ? RuleOp::kMul : Is("/") ? RuleOp::kDiv : Is("//") ? RuleOp::kFloorDiv : RuleOp::kMod;
      Next();
      left = Binary(op, left, Unary(), offset);
    }
    return left;
  }
  uint32_t Unary() {
    Depth depth(*this);
    if (!error_.ok()) return kNoRuleNode;
    const uint32_t offset = Now().offset;
    if (!Take("-")) return Postfix();
    if (Now().kind == RuleTokenKind::kInt) {
      const int64_t value = -Now().integer;
      Next();
      return Add(RuleOp::kInt, {}, offset, value);
    }
    if (Now().kind == RuleTokenKind::kFloat) {
      const int64_t value = std::bit_cast<int64_t>(-Now().real);
      Next();
      return Add(RuleOp::kFloat, {}, offset, value);
    }
    const uint32_t children[] = {Unary()};
    return Add(RuleOp::kNeg, children, offset);
  }

  uint32_t Postfix() {
    uint32_t value = Atom();
    while (error_.ok()) {
      const uint32_t offset = Now().offset;
      if (Take(".")) {
        const auto field = FieldByName(Now().text);
        if (Now().kind != RuleTokenKind::kName || !field) {
          return Fail("rule_c3", absl::StrCat("a tensor has no field ", Shown()));
        }
        Next();
        const uint32_t children[] = {value};
        value = Add(RuleOp::kField, children, offset, 0, static_cast<uint8_t>(*field));
      } else if (Take("[")) {
        value = Subscript(value, offset);
      } else {
        break;
      }
    }
    return value;
  }
  uint32_t Subscript(uint32_t value, uint32_t offset) {
    const uint32_t none = Add(RuleOp::kNone, {}, offset);
    uint32_t begin = none;
    if (!Is(":")) begin = Ternary();
    if (Take("]")) return Binary(RuleOp::kIndex, value, begin, offset);
    Expect(":");
    uint32_t end = none;
    if (!Is("]")) end = Ternary();
    Expect("]");
    const uint32_t children[] = {value, begin, end};
    return Add(RuleOp::kSlice, children, offset);
  }

  uint32_t Atom() {
    const RuleToken token = Now();
    switch (token.kind) {
      case RuleTokenKind::kInt:
        Next();
        return Add(RuleOp::kInt, {}, token.offset, token.integer);
      case RuleTokenKind::kFloat:
        Next();
        return Add(RuleOp::kFloat, {}, token.offset, std::bit_cast<int64_t>(token.real));
      case RuleTokenKind::kText:
        Next();
        return Add(RuleOp::kText, {}, token.offset, arrays_.Text(token.text));
      case RuleTokenKind::kName:
        return Name();
      case RuleTokenKind::kPunct:
        if (Is("[")) return List();
        if (Is("(")) return Parenthesised();
        break;
      case RuleTokenKind::kEnd:
        break;
    }
    return Fail("rule_c2", absl::StrCat("expected a value, found ", Shown()));
  }

  // Items up to `close`, which is taken.
  std::vector<uint32_t> Items(std::string_view close) {
    std::vector<uint32_t> items;
    while (error_.ok() && !Take(close)) {
      const uint32_t offset = Now().offset;
      if (Take("*")) {
        const uint32_t children[] = {Ternary()};
        items.push_back(Add(RuleOp::kStar, children, offset));
      } else {
        items.push_back(Ternary());
      }
      if (Take(close)) break;
      Expect(",");
    }
    return items;
  }
  uint32_t Parenthesised() {
    const uint32_t offset = Now().offset;
    Next();
    if (Take(")")) return Add(RuleOp::kTuple, {}, offset);
    const uint32_t first = Ternary();
    if (Take(")")) return first;
    Expect(",");
    std::vector<uint32_t> items = Items(")");
    items.insert(items.begin(), first);
    return Add(RuleOp::kTuple, items, offset);
  }
  // A comprehension's body stands before its variable: find the `for` at this level first.
  bool IsComprehension() const {
    int level = 0;
    for (size_t i = at_; i < tokens_.size(); ++i) {
      const RuleToken& token = tokens_[i];
      if (token.kind == RuleTokenKind::kName && token.text == "for" && level == 0) return true;
      if (token.kind != RuleTokenKind::kPunct) continue;
      if (token.text == "[" || token.text == "(") ++level;
      if (token.text == "]" || token.text == ")") {
        if (level-- == 0) return false;
      }
    }
    return false;
  }
  uint32_t List() {
    const uint32_t offset = Now().offset;
    Next();
    if (IsComprehension()) return Comprehension(offset);
    return Add(RuleOp::kList, Items("]"), offset);
  }
  uint32_t Comprehension(uint32_t offset) {
    size_t name_at = at_;
    for (int level = 0;
         !(level == 0 && tokens_[name_at].text == "for" && tokens_[name_at].kind == RuleTokenKind::kName); ++name_at) {
      const RuleToken& token = tokens_[name_at];
      if (token.kind != RuleTokenKind::kPunct) continue;
      if (token.text == "[" || token.text == "(") ++level;
      if (token.text == "]" || token.text == ")") --level;
    }
    const RuleToken& name = tokens_[name_at + 1 < tokens_.size() ? name_at + 1 : name_at];
    const bool keyword = std::find(std::begin(kKeywords), std::end(kKeywords), name.text) != std::end(kKeywords);
    if (name.kind != RuleTokenKind::kName || keyword) return Fail("rule_c2", "expected a name after 'for'");
    if (vars_.size() >= static_cast<size_t>(kMaxRuleVars)) return Fail("rule_c5", "comprehensions nested too deep");
    const int64_t slot = static_cast<int64_t>(vars_.size());
    vars_.emplace_back(name.text);
    const uint32_t body = Ternary();
    if (!error_.ok()) return kNoRuleNode;
    if (at_ != name_at) return Fail("rule_c2", absl::StrCat("expected 'for', found ", Shown()));
    Next();
    Next();
    if (!TakeWord("in")) return Fail("rule_c2", absl::StrCat("expected 'in', found ", Shown()));
    vars_.pop_back();  // the list does not see the variable
    const uint32_t list = Or();
    vars_.emplace_back(name.text);
    std::vector<uint32_t> children = {body, list};
    if (TakeWord("if")) children.push_back(Or());
    vars_.pop_back();
    Expect("]");
    return Add(RuleOp::kFor, children, offset, slot + 256 * static_cast<int64_t>(arrays_.Text(name.text)));
  }

  uint32_t Name() {
    const RuleToken token = Now();
    Next();
    if (Is("(")) return Call(token);
    if (token.text == "true") return Add(RuleOp::kTrue, {}, token.offset);
    if (token.text == "false") return Add(RuleOp::kFalse, {}, token.offset);
    if (token.text == "none") return Add(RuleOp::kNone, {}, token.offset);
    for (std::string_view keyword : kKeywords) {
      if (token.text == keyword) {
        --at_;
        return Fail("rule_c2", absl::StrCat("expected a value, found '", TextPiece(token.text), "'"));
      }
    }
    for (size_t i = vars_.size(); i-- > 0;) {
      if (vars_[i] == token.text) return Add(RuleOp::kVar, {}, token.offset, static_cast<int64_t>(i));
    }
    for (size_t i = scope_.lets.size(); i-- > 0;) {
      if (scope_.lets[i] == token.text) return Add(RuleOp::kLet, {}, token.offset, static_cast<int64_t>(i));
    }
    if (scope_.schema != nullptr) {
      if (const int index = scope_.schema->IndexOf(token.text); index >= 0) {
        return Add(RuleOp::kArg, {}, token.offset, index);
      }
      if (scope_.schema->variadic && token.text == "rest") {
        return Add(RuleOp::kArg, {}, token.offset, static_cast<int64_t>(scope_.schema->args.size()));
      }
    }
    if (const auto dtype = DTypeByName(token.text)) {
      return Add(RuleOp::kDType, {}, token.offset, static_cast<int64_t>(*dtype));
    }
    if (const auto format = MemoryFormatByName(token.text)) {
      return Add(RuleOp::kMemoryFormat, {}, token.offset, static_cast<int64_t>(*format));
    }
    if (token.text == "strided")
      return Add(RuleOp::kLayoutName, {}, token.offset, static_cast<int64_t>(Layout::kStrided));
    --at_;
    return Fail("rule_c3", absl::StrCat("unknown name '", TextPiece(token.text), "'"));
  }

  uint32_t Call(const RuleToken& name) {
    const size_t name_at = at_ - 1;
    Next();
    if (name.text == "rule") return RuleCall(name);
    const int function = FindRuleFunction(name.text);
    if (function < 0) {
      at_ = name_at;
      return Fail("rule_c3", absl::StrCat("unknown function '", TextPiece(name.text), "'"));
    }
    const std::vector<uint32_t> items = Items(")");
    if (!error_.ok()) return kNoRuleNode;
    const RuleFunctionRow& row = FunctionTable()[function];
    const int count = static_cast<int>(items.size());
    const bool spread =
        std::any_of(items.begin(), items.end(), [&](uint32_t item) { return arrays_.nodes[item].op == RuleOp::kStar; });
    if (!spread && (count < row.min_args || (row.max_args >= 0 && count > row.max_args))) {
      at_ = name_at;
      return Fail("rule_c4", absl::StrCat(TextPiece(name.text), " got ", count, " arguments; its signature is ",
                                          TextPiece(row.signature)));
    }
    if (!spread) {
      if (name.text == "rank") return Add(RuleOp::kRank, items, name.offset);
      if (name.text == "len") return Add(RuleOp::kLen, items, name.offset);
      if (name.text == "is_none") return Add(RuleOp::kIsNone, items, name.offset);
    }
    return Add(RuleOp::kCall, items, name.offset, function);
  }
  uint32_t RuleCall(const RuleToken& name) {
    const RuleToken op = Now();
    if (op.kind != RuleTokenKind::kText) return Fail("rule_c2", "rule() needs the op's name in quotes first");
    Next();
    if (!Is(")")) Expect(",");
    const std::vector<uint32_t> items = Items(")");
    if (!error_.ok()) return kNoRuleNode;
    const uint32_t node = Add(RuleOp::kRule, items, name.offset, -1);
    if (node != kNoRuleNode) pending_.push_back({node, std::string(op.text), {}, {}});
    return node;
  }

  std::vector<RuleToken> tokens_;
  std::string_view text_;
  RulePlace place_;
  const RuleScope& scope_;
  RuleArrays& arrays_;
  std::vector<PendingRule>& pending_;
  std::vector<std::string> vars_;
  size_t at_ = 0;
  int depth_ = 0;
  uint32_t base_ = 0;
  std::vector<uint8_t> heights_;  // of the nodes from base_ on
  absl::Status error_;
};

}  // namespace

absl::StatusOr<uint32_t> ParseRuleExpr(std::string_view text, RulePlace place, const RuleScope& scope,
                                       RuleArrays& arrays, std::vector<PendingRule>& pending) {
  auto tokens = LexRule(text, place);
  if (!tokens.ok()) return tokens.status();
  return Parser(*std::move(tokens), text, place, scope, arrays, pending).Parse();
}

namespace {

absl::Status MessageError(RulePlace place) {
  return InvalidError("rule_c2", place.line, ":", place.column, ": '{' without '}' in a message");
}

}  // namespace

absl::StatusOr<uint32_t> ParseRuleMessage(std::string_view text, RulePlace place, const RuleScope& scope,
                                          RuleArrays& arrays, std::vector<PendingRule>& pending) {
  std::vector<uint32_t> parts;
  std::string plain;
  const auto flush = [&] {
    if (plain.empty()) return;
    RuleNode node;
    node.op = RuleOp::kText;
    node.value = arrays.Text(plain);
    parts.push_back(arrays.Add(node, {}));
    plain.clear();
  };
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if ((c == '{' || c == '}') && at + 1 < text.size() && text[at + 1] == c) {
      plain += c;
      ++at;
    } else if (c == '{') {
      const size_t end = text.find('}', at);
      if (end == std::string_view::npos) return MessageError(PlaceAt(place, text, at));
      flush();
      auto expr =
          ParseRuleExpr(text.substr(at + 1, end - at - 1), PlaceAt(place, text, at + 1), scope, arrays, pending);
      if (!expr.ok()) return expr.status();
      parts.push_back(*expr);
      at = end;
    } else {
      plain += c;
    }
  }
  flush();
  RuleNode node;
  node.op = RuleOp::kList;
  node.place = PackPlace(place);
  return arrays.Add(node, parts);
}

}  // namespace tare
