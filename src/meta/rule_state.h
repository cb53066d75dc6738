// What one evaluation keeps: the arena, guards, where and under which facts it runs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/context.h"
#include "ir/elements.h"
#include "ir/inferrer.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Allocator.h"
#include "meta/function_table.h"
#include "meta/rule_context.h"
#include "meta/rule_set.h"

namespace tare {

inline constexpr int64_t kMaxReadElements = 4096;    // of a constant whose values a rule may read
inline constexpr int kMaxRuleCalls = 16;             // nesting of rule('…')
inline constexpr size_t kMaxRuleList = 1 << 16;      // items of a list made by the language itself
inline constexpr size_t kMaxRuleItems = 4'000'000;   // dims and values made for one answer
inline constexpr int64_t kMaxRuleSteps = 4'000'000;  // nodes evaluated for one answer

struct RuleContext::State {
  Context* context = nullptr;
  const RuleSet* rules = nullptr;
  const Facts* facts = nullptr;
  const Bodies* bodies = nullptr;
  std::string_view spec;
  // Operands that are constants, with their elements; of ops that read values. The rule sees each as a
  // tensor of its own.
  struct ConstantOperand {
    uint32_t operand = 0;
    Elements elements;
    const TensorMeta* tensor = nullptr;
  };
  llvm::SmallVector<ConstantOperand, 2> constants;
  std::string TextOfConstants() const;  // equal when operands and elements are
  NodePlace place;
  std::span<const RuleFunctionRow> functions = FunctionTable();
  llvm::BumpPtrAllocator arena;
  llvm::SmallVector<Guard, 8> guards;
  std::vector<const Schema*> schemas;  // by rule; null until asked for
  int rule_depth = 0;
  int64_t steps = 0;
  size_t items = 0;
  bool minted = false;              // the answer has fresh symbols: it must not be remembered
  bool undescribed = false;         // an op that is an argument has no rule
  std::span<const NamedAttr> rest;  // of a variadic schema

  // Of the op whose rule it is, found by name once.
  const Schema& SchemaOfRule(size_t rule) {
    if (rule >= schemas.size()) schemas.resize(rules->rules().size(), nullptr);
    if (schemas[rule] == nullptr) {
      const Rule& found = rules->rules()[rule];
      schemas[rule] = context->ops.schema(context->ops.Find(found.table->texts[found.row->name]));
    }
    return *schemas[rule];
  }

  void Begin(NodePlace at) {
    place = at;
    arena.Reset();
    guards.clear();
    rule_depth = 0;
    steps = 0;
    items = 0;
    minted = false;
    undescribed = false;
    rest = {};
  }
};

}  // namespace tare
