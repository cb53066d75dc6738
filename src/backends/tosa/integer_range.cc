#include "backends/tosa/integer_range.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "backends/tosa/constants.h"
#include "backends/tosa/element_ops.h"
#include "backends/tosa/emitter.h"
#include "backends/tosa/tosa_ops.h"
#include "ir/context.h"

namespace tare {
namespace {

using Range = std::optional<IntegerRange>;

// Arguments of kJoiningOps that hold values.
constexpr std::string_view kValues[] = {"self", "other", "value", "values", "src", "tensors"};

Range Between(int64_t a, int64_t b) { return IntegerRange{std::min(a, b), std::max(a, b)}; }
Range Joined(const Range& a, const Range& b) {
  if (!a.has_value() || !b.has_value()) return std::nullopt;
  return Between(std::min(a->low, b->low), std::max(a->high, b->high));
}
// Of sums; of products the least and largest are among those of ends.
Range Sum(const Range& a, const Range& b) {
  int64_t low = 0, high = 0;
  if (!a.has_value() || !b.has_value() || __builtin_add_overflow(a->low, b->low, &low) ||
      __builtin_add_overflow(a->high, b->high, &high))
    return std::nullopt;
  return Between(low, high);
}
Range Product(const Range& a, const Range& b) {
  if (!a.has_value() || !b.has_value()) return std::nullopt;
  int64_t ends[4];
  if (__builtin_mul_overflow(a->low, b->low, &ends[0]) || __builtin_mul_overflow(a->low, b->high, &ends[1]) ||
      __builtin_mul_overflow(a->high, b->low, &ends[2]) || __builtin_mul_overflow(a->high, b->high, &ends[3]))
    return std::nullopt;
  return Between(*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4));
}

class Ranges {
 public:
  explicit Ranges(Rewriter& rw) : rw_(rw), ranges_(rw.graph().id_bound()) {
    const auto add = [&](std::string_view name, Rule rule) {
      if (const Op op = rw.context().ops.Find(name); op.has_value()) rules_[op] = rule;
    };
    for (const std::string_view name : kMovingOps) add(name, &Ranges::Picked);
    for (const std::string_view name : kPickingOps) add(name, &Ranges::Picked);
    for (const std::string_view name : kCastOps) add(name, &Ranges::Picked);
    for (const std::string_view name : kJoiningOps) add(name, &Ranges::AnyArgument);
    for (const std::string_view name : {"aten.argmax.default", "aten.argmin.default"}) add(name, &Ranges::Place);
    for (const std::string_view name : {"aten.sum.default", "aten.sum.dim_IntList", "aten.cumsum.default"})
      add(name, &Ranges::Total);
    for (const std::string_view name : {"aten.count_nonzero.default", "aten.count_nonzero.dim_IntList"})
      add(name, &Ranges::Count);
    for (const std::string_view name : {"aten.add.Tensor", "aten.add.Scalar"}) add(name, &Ranges::Added);
    for (const std::string_view name : {"aten.sub.Tensor", "aten.sub.Scalar"}) add(name, &Ranges::Subtracted);
    for (const std::string_view name : {"aten.mul.Tensor", "aten.mul.Scalar"}) add(name, &Ranges::Multiplied);
    for (const std::string_view name : {"aten.clamp.default", "aten.clamp_min.default", "aten.clamp_max.default"})
      add(name, &Ranges::Clamped);
    for (const std::string_view name : {"aten.arange.default", "aten.arange.start", "aten.arange.start_step"})
      add(name, &Ranges::Run);
    for (const std::string_view name : {"aten.full.default", "aten.full_like.default"}) add(name, &Ranges::Filled);
    for (const std::string_view name :
         {"aten.zeros.default", "aten.zeros_like.default", "aten.ones.default", "aten.ones_like.default"})
      add(name, &Ranges::Bit);
    add("aten.neg.default", &Ranges::Negated);
    add("aten.remainder.Scalar", &Ranges::Rest);
    pairs_ = {rw.context().ops.Find("aten.max.dim"), rw.context().ops.Find("aten.min.dim")};
  }

  std::vector<Range> Take() {
    for (const NodeId id : rw_.graph().nodes()) {
      const Node node = rw_.node(id);
      if (!node.is_tensor()) continue;
      const DType dtype = node.tensor().dtype;
      Range& range = ranges_[id.index];
      if (dtype == DType::kBool) {
        range = Between(0, 1);
      } else if (dtype == DType::kI64) {
        if (!rw_.StorageOf(node).mutated) range = Of(node);
      } else if (IsInteger(dtype) && BitsOf(dtype) <= 32) {
        const auto [low, high] = RangeOf(dtype);
        range = Between(low, high);
      }
    }
    return std::move(ranges_);
  }

 private:
  using Rule = Range (Ranges::*)(Node node);

  Range Of(Node node) {
    if (node.op() == op::placeholder) return OfInput(node);
    if (node.op() == op::getitem) {
      const Node pair = node.operand(0);
      if (pair.op() != pairs_.first && pair.op() != pairs_.second) return std::nullopt;
      return node.integer("index") == 1 ? Place(pair) : Picked(pair);
    }
    const auto rule = rules_.find(node.op());
    return rule == rules_.end() ? std::nullopt : (this->*rule->second)(node);
  }

  Range OfInput(Node node) {
    if (node.constant() == nullptr) {
      const std::span<const NodeId> inputs = rw_.graph().inputs();
      const auto at = static_cast<size_t>(std::find(inputs.begin(), inputs.end(), node.id()) - inputs.begin());
      const std::vector<InputSpec>& specs = rw_.program().inputs;
      if (at >= specs.size() || specs[at].kind != InputKind::kUser) return std::nullopt;
      return Between(INT32_MIN, INT32_MAX);
    }
    const auto values = ReadIntegers(rw_.context(), *node.constant());
    if (!values.has_value() || values->empty()) return std::nullopt;
    return Between(*std::min_element(values->begin(), values->end()),
                   *std::max_element(values->begin(), values->end()));
  }

  // Of a tensor or number argument; absent ones are nothing.
  Range Argument(Node node, std::string_view name) const {
    if (const Node tensor = node.arg(name); tensor.has_value()) return ranges_[tensor.id().index];
    const std::optional<double> number = node.number(name);
    if (!number.has_value() || *number != std::floor(*number) || std::abs(*number) > 9e15) return std::nullopt;
    return Between(static_cast<int64_t>(*number), static_cast<int64_t>(*number));
  }

  Range Picked(Node node) { return node.num_operands() == 0 ? std::nullopt : ranges_[node.operand(0).id().index]; }

  Range AnyArgument(Node node) {
    if (node.flag("accumulate").value_or(false)) return std::nullopt;
    Range all;
    const auto join = [&](const Range& one) { all = all.has_value() ? Joined(all, one) : one; };
    bool known = true;
    for (const std::string_view name : kValues) {
      for (const Node part : node.arg_list(name)) {
        known = known && part.has_value() && ranges_[part.id().index].has_value();
        if (known) join(ranges_[part.id().index]);
      }
      if (!node.arg(name).has_value() && !node.number(name).has_value()) continue;
      const Range one = Argument(node, name);
      known = known && one.has_value();
      if (known) join(one);
    }
    // What pads and triangles leave free, unless they say otherwise.
    if (known && all.has_value()) join(Between(0, 0));
    return known ? all : std::nullopt;
  }

  // How many elements of its input one of the result stands for, at most.
  static std::optional<int64_t> Elements(Node node) {
    const Node x = node.operand(0);
    const auto shape = StaticShape(x.tensor());
    if (!shape.has_value()) return std::nullopt;
    if (!node.integer("dim").has_value()) return ElementCount(x.tensor());
    const auto rank = static_cast<int64_t>(shape->size());
    const int64_t dim = *node.integer("dim"), axis = dim < 0 ? dim + rank : dim;
    if (rank == 0) return 1;
    if (axis < 0 || axis >= rank) return std::nullopt;
    return (*shape)[static_cast<size_t>(axis)];
  }

  Range Place(Node node) {
    const std::optional<int64_t> count = Elements(node);
    return count.has_value() && *count > 0 ? Between(0, *count - 1) : std::nullopt;
  }
  Range Count(Node node) {
    const std::optional<int64_t> count = ElementCount(node.operand(0).tensor());
    return count.has_value() ? Between(0, *count) : std::nullopt;
  }
  Range Total(Node node) {
    const std::optional<int64_t> count = ElementCount(node.operand(0).tensor());
    if (!count.has_value()) return std::nullopt;
    return Product(Picked(node), Between(0, *count));
  }
  Range Added(Node node) {
    return Sum(Argument(node, "self"), Product(Argument(node, "other"), Argument(node, "alpha")));
  }
  Range Subtracted(Node node) {
    const Range less = Product(Argument(node, "other"), Argument(node, "alpha"));
    return Sum(Argument(node, "self"), Product(less, Between(-1, -1)));
  }
  Range Multiplied(Node node) { return Product(Argument(node, "self"), Argument(node, "other")); }
  Range Negated(Node node) { return Product(Picked(node), Between(-1, -1)); }
  Range Clamped(Node node) {
    const Range x = Picked(node), low = Argument(node, "min"), high = Argument(node, "max");
    if (!x.has_value()) return low.has_value() && high.has_value() ? Between(low->low, high->low) : std::nullopt;
    const auto bounded = [&](int64_t value) {
      if (low.has_value()) value = std::max(value, low->low);
      return high.has_value() ? std::min(value, high->low) : value;
    };
    return Between(bounded(x->low), bounded(x->high));
  }
  Range Run(Node node) {
    const Range end = Argument(node, "end");
    return Joined(node.attr("start").is_none() ? Between(0, 0) : Argument(node, "start"), end);
  }
  Range Filled(Node node) { return Argument(node, "fill_value"); }
  Range Bit(Node) { return Between(0, 1); }
  // The sign of the divisor.
  Range Rest(Node node) {
    const Range divisor = Argument(node, "other");
    return divisor.has_value() ? Joined(divisor, Between(0, 0)) : std::nullopt;
  }

  Rewriter& rw_;
  std::vector<Range> ranges_;  // by node index
  absl::flat_hash_map<Op, Rule> rules_;
  std::pair<Op, Op> pairs_;
};

}  // namespace

std::vector<std::optional<IntegerRange>> IntegerRanges(Rewriter& rw) { return Ranges(rw).Take(); }

}  // namespace tare
