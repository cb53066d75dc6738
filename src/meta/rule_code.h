// Compiled rules: plain arrays that the evaluator walks.
//
// The build writes the rows of ops/*.toml as constant arrays of these types; `--ops FILE` fills the
// same types at run time. Expressions are trees: a node names its children by a range of `links`.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tare {

enum class RuleOp : uint8_t {
  kNone,
  kTrue,
  kFalse,
  kInt,           // value
  kFloat,         // value: bits of the double
  kText,          // value: index of texts
  kDType,         // value: DType
  kMemoryFormat,  // value: MemoryFormat
  kLayoutName,    // value: Layout
  kArg,           // value: index of the schema's argument
  kLet,           // value: slot
  kVar,           // value: slot of a comprehension
  kField,         // detail: RuleField; child
  kIndex,         // children: list, index
  kSlice,         // children: list, begin, end; an absent bound is kNone
  kNeg,
  kNot,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kFloorDiv,
  kMod,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kIn,
  kNotIn,
  kAnd,
  kOr,
  kIf,     // children: condition, then, else
  kList,   // children; kStar children are spread
  kTuple,  // children
  kStar,   // child
  kCall,   // value: index of the function table; children: arguments
  kRule,   // value: rule of the set; children: arguments in schema order
  kRank,   // the functions rank, len and is_none, without a call; child
  kLen,
  kIsNone,
  kFor,  // value: slot of the variable + 256 * text of its name; children: body, list, optionally a condition
};

enum class RuleField : uint8_t { kShape, kDType, kStrides, kOffset, kDevice, kLayout };

// Flag of RuleNode::detail: below the node there are only constants, arguments, lets, variables, fields,
// elements, arithmetic, comparisons and choices, so that it can be evaluated without bookkeeping.
inline constexpr uint8_t kSimpleRule = 0x80;

struct RuleNode {
  RuleOp op = RuleOp::kNone;
  uint8_t detail = 0;
  uint16_t num_links = 0;
  uint32_t links = 0;
  uint32_t place = 0;  // line * 1024 + column of the file, column capped
  int64_t value = 0;
};

inline constexpr uint32_t kNoRuleNode = UINT32_MAX;
inline constexpr int kMaxRuleDepth = 64;         // nesting of one expression
inline constexpr int kMaxRuleVars = 8;           // nested comprehensions
inline constexpr int kMaxRuleLets = 64;          // of one row
inline constexpr int kMaxRuleArgs = 64;          // of one schema
inline constexpr size_t kMaxRuleText = 1 << 14;  // bytes of one expression
inline constexpr size_t kMaxRuleFile = 8 << 20;  // bytes of one file
inline constexpr uint32_t kMaxRuleNodes = 1u << 22;

struct RuleCheck {
  uint32_t id = 0;  // text
  uint32_t that = kNoRuleNode;
  uint32_t say = kNoRuleNode;  // a kList of texts and expressions
};

struct RuleResult {  // `result`, or the other four
  uint32_t shape = kNoRuleNode;
  uint32_t dtype = kNoRuleNode;
  uint32_t layout = kNoRuleNode;
  uint32_t offset = kNoRuleNode;
  uint32_t result = kNoRuleNode;
};

struct RuleRow {
  uint32_t name = 0;  // text
  uint32_t file = 0;  // text
  uint32_t line = 0;
  uint32_t family = 0;              // text; "" = none
  uint32_t lets = 0, num_lets = 0;  // range of `lets`; slots in this order
  uint32_t checks = 0, num_checks = 0;
  uint32_t results = 0, num_results = 0;
  uint32_t bodies = kNoRuleNode;  // a list of (graph, inputs)
  bool several = false;           // `results`: a tuple even of one
  int16_t alias = -1;             // argument whose storage the result shares
  int16_t num_args = 0;
};

struct RuleTable {
  std::span<const RuleNode> nodes;
  std::span<const uint32_t> links;
  std::span<const uint32_t> lets;
  std::span<const uint32_t> let_names;  // texts, as `lets`
  std::span<const RuleCheck> checks;
  std::span<const RuleResult> results;
  std::span<const RuleRow> rows;
  std::span<const std::string_view> texts;
  uint64_t content_hash = 0;
};

}  // namespace tare
