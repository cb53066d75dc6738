#include "meta/rule_print.h"

#include <algorithm>
#include <bit>

#include "ir/dtype.h"
#include "ir/notation.h"
#include "ir/status.h"
#include "meta/function_table.h"

namespace tare {
namespace {

// How tightly an expression binds; a child that binds less than its place asks for gets parentheses.
enum Level { kTernary, kOrLevel, kAndLevel, kNotLevel, kComparison, kSum, kProduct, kUnary, kPostfix, kAtom };

struct BinaryText {
  RuleOp op;
  Level level;
  std::string_view text;
};
constexpr BinaryText kBinary[] = {
    {RuleOp::kOr, kOrLevel, " or "},       {RuleOp::kAnd, kAndLevel, " and "},
    {RuleOp::kEq, kComparison, " == "},    {RuleOp::kNe, kComparison, " != "},
    {RuleOp::kLt, kComparison, " < "},     {RuleOp::kLe, kComparison, " <= "},
    {RuleOp::kGt, kComparison, " > "},     {RuleOp::kGe, kComparison, " >= "},
    {RuleOp::kIn, kComparison, " in "},    {RuleOp::kNotIn, kComparison, " not in "},
    {RuleOp::kAdd, kSum, " + "},           {RuleOp::kSub, kSum, " - "},
    {RuleOp::kMul, kProduct, " * "},       {RuleOp::kDiv, kProduct, " / "},
    {RuleOp::kFloorDiv, kProduct, " // "}, {RuleOp::kMod, kProduct, " % "},
};

std::string_view FieldName(uint8_t detail) {
  switch (static_cast<RuleField>(detail & ~kSimpleRule)) {
    case RuleField::kShape:
      return "shape";
    case RuleField::kDType:
      return "dtype";
    case RuleField::kStrides:
      return "strides";
    case RuleField::kOffset:
      return "offset";
    case RuleField::kDevice:
      return "device";
    case RuleField::kLayout:
      return "layout";
  }
  return "";
}

class Printer {
 public:
  Printer(const RuleSet& rules, const Rule& rule, const Schema& schema)
      : rules_(rules), table_(*rule.table), row_(*rule.row), schema_(schema) {}

  // The nesting is bounded by kMaxRuleDepth.
  std::string At(uint32_t index, Level least) {
    const RuleNode& node = table_.nodes[index];
    std::string text = Print(node);
    return LevelOf(node) < least ? Cat("(", text, ")") : text;
  }

 private:
  static Level LevelOf(const RuleNode& node) {
    for (const BinaryText& binary : kBinary) {
      if (binary.op == node.op) return binary.level;
    }
    switch (node.op) {
      case RuleOp::kIf:
        return kTernary;
      case RuleOp::kNot:
        return kNotLevel;
      case RuleOp::kNeg:
        return kUnary;
      case RuleOp::kInt:
        return node.value < 0 ? kUnary : kAtom;
      case RuleOp::kFloat:
        return std::bit_cast<double>(node.value) < 0 ? kUnary : kAtom;
      case RuleOp::kField:
      case RuleOp::kIndex:
      case RuleOp::kSlice:
        return kPostfix;
      default:
        return kAtom;
    }
  }

  std::span<const uint32_t> Links(const RuleNode& node) const {
    return table_.links.subspan(node.links, node.num_links);
  }
  std::string Child(const RuleNode& node, size_t k, Level least) { return At(Links(node)[k], least); }
  std::string_view Text(int64_t index) const { return table_.texts[static_cast<size_t>(index)]; }

  // Children as the items of a list or call.
  std::string Items(const RuleNode& node) {
    std::string out;
    for (size_t k = 0; k < node.num_links; ++k) CatTo(out, k > 0 ? ", " : "", Child(node, k, kTernary));
    return out;
  }
  std::string Call(std::string_view name, const RuleNode& node) { return Cat(name, "(", Items(node), ")"); }

  std::string Bound(const RuleNode& node, size_t k) {
    return table_.nodes[Links(node)[k]].op == RuleOp::kNone ? "" : Child(node, k, kTernary);
  }

  std::string For(const RuleNode& node) {
    const size_t slot = node.value & 0xff;
    const std::string_view name = Text(node.value >> 8);
    const std::string list = Child(node, 1, kOrLevel);  // does not see the variable
    if (vars_.size() <= slot) vars_.resize(slot + 1);
    vars_[slot] = name;
    std::string out = Cat("[", Child(node, 0, kTernary), " for ", name, " in ", list);
    if (node.num_links == 3) {
      vars_[slot] = name;  // a comprehension in the body has used a slot of its own
      CatTo(out, " if ", Child(node, 2, kOrLevel));
    }
    return out + "]";
  }

  std::string Binary(const BinaryText& binary, const RuleNode& node) {
    const bool comparison = binary.level == kComparison;  // does not associate
    const Level left = comparison ? kSum : binary.level, right = static_cast<Level>(binary.level + 1);
    return Cat(Child(node, 0, left), binary.text, Child(node, 1, comparison ? kSum : right));
  }

  std::string Print(const RuleNode& node) {
    for (const BinaryText& binary : kBinary) {
      if (binary.op == node.op) return Binary(binary, node);
    }
    switch (node.op) {
      case RuleOp::kNone:
        return "none";
      case RuleOp::kTrue:
        return "true";
      case RuleOp::kFalse:
        return "false";
      case RuleOp::kInt:
        return Cat(node.value);
      case RuleOp::kFloat:
        return PrintDouble(std::bit_cast<double>(node.value));
      case RuleOp::kText: {
        const std::string_view quote = Text(node.value).find('\'') == std::string_view::npos ? "'" : "\"";
        return Cat(quote, Text(node.value), quote);
      }
      case RuleOp::kDType:
        return std::string(Name(static_cast<DType>(node.value)));
      case RuleOp::kMemoryFormat:
        return std::string(Name(static_cast<MemoryFormat>(node.value)));
      case RuleOp::kLayoutName:
        return std::string(Name(static_cast<Layout>(node.value)));
      case RuleOp::kArg: {
        const auto index = static_cast<size_t>(node.value);
        return index < schema_.args.size() ? schema_.args[index].name : "rest";
      }
      case RuleOp::kLet:
        return std::string(Text(table_.let_names[row_.lets + static_cast<uint32_t>(node.value)]));
      case RuleOp::kVar:
        return std::string(vars_[static_cast<size_t>(node.value)]);
      case RuleOp::kField:
        return Cat(Child(node, 0, kPostfix), ".", FieldName(node.detail));
      case RuleOp::kIndex:
        return Cat(Child(node, 0, kPostfix), "[", Child(node, 1, kTernary), "]");
      case RuleOp::kSlice:
        return Cat(Child(node, 0, kPostfix), "[", Bound(node, 1), ":", Bound(node, 2), "]");
      case RuleOp::kNeg: {
        const RuleOp child = table_.nodes[Links(node)[0]].op;
        const bool literal = child == RuleOp::kInt || child == RuleOp::kFloat;  // -2 would be one number
        return literal ? Cat("-(", Child(node, 0, kTernary), ")") : Cat("-", Child(node, 0, kUnary));
      }
      case RuleOp::kNot:
        return Cat("not ", Child(node, 0, kNotLevel));
      case RuleOp::kIf:
        return Cat(Child(node, 1, kOrLevel), " if ", Child(node, 0, kOrLevel), " else ", Child(node, 2, kTernary));
      case RuleOp::kList:
        return Cat("[", Items(node), "]");
      case RuleOp::kTuple:
        return Cat("(", Items(node), node.num_links == 1 ? ",)" : ")");
      case RuleOp::kStar:
        return Cat("*", Child(node, 0, kTernary));
      case RuleOp::kCall:
        return Call(FunctionTable()[static_cast<size_t>(node.value)].name, node);
      case RuleOp::kRank:
        return Call("rank", node);
      case RuleOp::kLen:
        return Call("len", node);
      case RuleOp::kIsNone:
        return Call("is_none", node);
      case RuleOp::kRule: {
        const Rule& other = rules_.rules()[static_cast<size_t>(node.value)];
        return Cat("rule('", other.table->texts[other.row->name], "'", node.num_links > 0 ? ", " : "", Items(node),
                   ")");
      }
      case RuleOp::kFor:
        return For(node);
      default:
        return "";
    }
  }

  const RuleSet& rules_;
  const RuleTable& table_;
  const RuleRow& row_;
  const Schema& schema_;
  std::vector<std::string_view> vars_;
};

// The functions of the tree below `index`, appended.
void CollectFunctions(const RuleTable& table, uint32_t index, std::vector<int>& functions) {
  if (index == kNoRuleNode) return;
  const RuleNode& node = table.nodes[index];
  if (node.op == RuleOp::kCall) functions.push_back(static_cast<int>(node.value));
  if (node.op == RuleOp::kRank) functions.push_back(FindRuleFunction("rank"));
  if (node.op == RuleOp::kLen) functions.push_back(FindRuleFunction("len"));
  if (node.op == RuleOp::kIsNone) functions.push_back(FindRuleFunction("is_none"));
  for (const uint32_t child : table.links.subspan(node.links, node.num_links)) {
    CollectFunctions(table, child, functions);
  }
}

std::vector<int> FunctionsOf(const Rule& rule) {
  const RuleTable& table = *rule.table;
  const RuleRow& row = *rule.row;
  std::vector<int> out;
  for (const uint32_t let : table.lets.subspan(row.lets, row.num_lets)) CollectFunctions(table, let, out);
  for (const RuleCheck& check : table.checks.subspan(row.checks, row.num_checks)) {
    CollectFunctions(table, check.that, out);
    CollectFunctions(table, check.say, out);
  }
  for (const RuleResult& result : table.results.subspan(row.results, row.num_results)) {
    for (const uint32_t node : {result.shape, result.dtype, result.layout, result.offset, result.result}) {
      CollectFunctions(table, node, out);
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

std::string PrintRuleExpr(const RuleSet& rules, const Rule& rule, const Schema& schema, uint32_t node) {
  return node == kNoRuleNode ? "" : Printer(rules, rule, schema).At(node, kTernary);
}

RuleText TextOfRule(const Context& context, Op op) {
  const RuleSet& rules = RulesOf(context);
  const OpDef& def = context.ops.Get(op);
  TARE_CHECK(def.rule >= 0);
  const Rule& rule = rules.rules()[static_cast<size_t>(def.rule)];
  const RuleTable& table = *rule.table;
  const RuleRow& row = *rule.row;
  const Schema& schema = *context.ops.schema(op);
  const auto print = [&](uint32_t node) { return PrintRuleExpr(rules, rule, schema, node); };

  RuleText text;
  text.row = table.texts[row.name];
  text.family = table.texts[row.family];
  text.file = table.texts[row.file];
  text.line = row.line;
  text.several = row.several;
  if (row.alias >= 0) text.alias = schema.args[static_cast<size_t>(row.alias)].name;
  // A row of one tensor has its shape and dtype as the first lets.
  const bool single = row.num_lets >= 2 && table.texts[table.let_names[row.lets]] == "result_shape";
  for (uint32_t i = single ? 2 : 0; i < row.num_lets; ++i) {
    text.lets.push_back({std::string(table.texts[table.let_names[row.lets + i]]), print(table.lets[row.lets + i])});
  }
  for (const RuleCheck& check : table.checks.subspan(row.checks, row.num_checks)) {
    RuleText::Check out{std::string(table.texts[check.id]), print(check.that), ""};
    const RuleNode& say = table.nodes[check.say];
    for (const uint32_t part : table.links.subspan(say.links, say.num_links)) {
      const RuleNode& node = table.nodes[part];
      // A text in braces is printed as the text it is.
      CatTo(out.say, node.op == RuleOp::kText ? std::string(table.texts[node.value]) : Cat("{", print(part), "}"));
    }
    text.checks.push_back(std::move(out));
  }
  for (const RuleResult& result : table.results.subspan(row.results, row.num_results)) {
    RuleText::Result out{print(result.shape), print(result.dtype), print(result.layout), print(result.offset),
                         print(result.result)};
    if (single) {
      out.shape = print(table.lets[row.lets]);
      out.dtype = print(table.lets[row.lets + 1]);
    }
    text.results.push_back(std::move(out));
  }
  text.functions = FunctionsOf(rule);
  return text;
}

}  // namespace tare
