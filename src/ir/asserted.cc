#include "ir/asserted.h"

#include <algorithm>

#include "ir/context.h"

namespace tare {
namespace {

// size >= min and size <= max.
void AddRange(SymStore& syms, Dim size, std::span<const NamedAttr> attrs, std::vector<ExprId>& conditions) {
  for (const NamedAttr& attr : attrs) {
    if (attr.value.kind != AttrKind::kInt) continue;
    const Dim bound = syms.Int(attr.value.integer);
    if (attr.name == "min") conditions.push_back(syms.Le(bound, size));
    if (attr.name == "max") conditions.push_back(syms.Le(size, bound));
  }
}

}  // namespace

std::vector<ExprId> AssertedConditions(const Program& program) {
  std::vector<ExprId> conditions;
  if (program.graphs.empty()) return conditions;
  const Context& context = *program.context;
  const Op asserts = context.ops.Find("aten._assert_scalar.default");
  const Op ranges = context.ops.Find("aten.sym_constrain_range.default");
  const Op sizes = context.ops.Find("aten.sym_constrain_range_for_size.default");
  const Graph& main = program.main();
  const std::vector<uint32_t> counts = main.CountOps();
  const auto occurs = [&](Op op) { return op.has_value() && op.index < counts.size() && counts[op.index] != 0; };
  if (!occurs(asserts) && !occurs(ranges) && !occurs(sizes)) return conditions;
  for (const NodeId node : main.nodes()) {
    if (conditions.size() >= kMaxAsserted) break;
    const Op op = main.op(node);
    if ((op != asserts && op != ranges && op != sizes) || main.operands(node).empty()) continue;
    const Meta& subject = context.metas.Get(main.meta(main.operands(node)[0]));
    if (op == asserts && subject.kind == MetaKind::kBool && subject.expr.has_value()) {
      conditions.push_back(subject.expr);
    } else if (op != asserts && subject.kind == MetaKind::kInt) {
      AddRange(program.context->syms, subject.value, context.attrs.Get(main.attrs(node)), conditions);
    }
  }
  return conditions;
}

}  // namespace tare
