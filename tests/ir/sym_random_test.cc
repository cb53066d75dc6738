#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <optional>
#include <random>
#include <vector>

#include "sym_test_scope.h"

// Random expressions against the obvious evaluator: what the store makes, bounds, proves, prints
// and simplifies must agree with plain arithmetic wherever that is defined.
namespace tare {
namespace {

using Random = std::mt19937_64;

int64_t Pick(Random& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
}

constexpr std::string_view kNames[] = {"s0", "s1", "t0", "u0", "d0", "d1", "b0", "n0"};
constexpr int kNumNames = 8;

int64_t RandomValue(Random& random, int name) {
  switch (kNames[name][0]) {
    case 's':
      return 2 + Pick(random, 0, random() % 4 == 0 ? 200 : 8);
    case 'd':
      return 4 * Pick(random, 1, 9);
    case 'b':
      return Pick(random, 2, 16);
    case 'n':
      return Pick(random, -12, 12);
    default:
      return Pick(random, 0, random() % 4 == 0 ? 100 : 6);
  }
}

struct Tree {
  ExprKind kind;
  int64_t value = 0;  // constant, or index of a name
  std::vector<Tree> args;
};

Tree RandomInt(Random& random, int depth) {
  if (depth == 0 || random() % 5 == 0) {
    if (random() % 3 == 0) return {ExprKind::kIntConst, Pick(random, -9, 9), {}};
    return {ExprKind::kSymbol, Pick(random, 0, kNumNames - 1), {}};
  }
  static constexpr ExprKind kKinds[] = {ExprKind::kAdd, ExprKind::kAdd, ExprKind::kAdd,      ExprKind::kMul,
                                        ExprKind::kMul, ExprKind::kMod, ExprKind::kFloorDiv, ExprKind::kFloorDiv,
                                        ExprKind::kMax, ExprKind::kMin, ExprKind::kPow};
  Tree tree{kKinds[random() % 11], 0, {}};
  tree.args.push_back(RandomInt(random, depth - 1));
  if (tree.kind == ExprKind::kPow) {
    tree.args.push_back({ExprKind::kIntConst, Pick(random, 0, 3), {}});
  } else if ((tree.kind == ExprKind::kMod || tree.kind == ExprKind::kFloorDiv) && random() % 4 != 0) {
    tree.args.push_back({ExprKind::kIntConst, random() % 6 == 0 ? Pick(random, -4, -1) : Pick(random, 1, 8), {}});
  } else {
    tree.args.push_back(RandomInt(random, depth - 1));
  }
  return tree;
}

Tree RandomBool(Random& random, int depth) {
  if (depth > 0 && random() % 4 == 0) {
    static constexpr ExprKind kKinds[] = {ExprKind::kAnd, ExprKind::kOr, ExprKind::kNot};
    Tree tree{kKinds[random() % 3], 0, {}};
    tree.args.push_back(RandomBool(random, depth - 1));
    if (tree.kind != ExprKind::kNot) tree.args.push_back(RandomBool(random, depth - 1));
    return tree;
  }
  static constexpr ExprKind kKinds[] = {ExprKind::kEq, ExprKind::kNe, ExprKind::kLt, ExprKind::kLe};
  Tree tree{kKinds[random() % 4], 0, {}};
  tree.args.push_back(RandomInt(random, 2));
  tree.args.push_back(random() % 2 == 0 ? RandomInt(random, 2) : Tree{ExprKind::kIntConst, Pick(random, -3, 12), {}});
  return tree;
}

std::optional<int64_t> Naive(const Tree& tree, const std::vector<int64_t>& values) {
  if (tree.kind == ExprKind::kIntConst) return tree.value;
  if (tree.kind == ExprKind::kSymbol) return values[tree.value];
  std::vector<int64_t> v;
  for (const Tree& arg : tree.args) {
    const std::optional<int64_t> value = Naive(arg, values);
    if (!value.has_value() || std::abs(*value) > 1'000'000'000) return std::nullopt;
    v.push_back(*value);
  }
  switch (tree.kind) {
    case ExprKind::kAdd:
      return v[0] + v[1];
    case ExprKind::kMul:
      return v[0] * v[1];
    case ExprKind::kPow: {
      int64_t power = 1;
      for (int64_t i = 0; i < v[1]; ++i) {
        power *= v[0];
        if (std::abs(power) > 1'000'000'000) return std::nullopt;
      }
      return power;
    }
    case ExprKind::kFloorDiv:
      if (v[1] == 0) return std::nullopt;
      return v[0] / v[1] - (v[0] % v[1] != 0 && (v[0] < 0) != (v[1] < 0));
    case ExprKind::kMod:
      if (v[1] == 0) return std::nullopt;
      return ((v[0] % v[1]) + v[1]) % v[1];
    case ExprKind::kMax:
      return std::max(v[0], v[1]);
    case ExprKind::kMin:
      return std::min(v[0], v[1]);
    case ExprKind::kEq:
      return v[0] == v[1];
    case ExprKind::kNe:
      return v[0] != v[1];
    case ExprKind::kLt:
      return v[0] < v[1];
    case ExprKind::kLe:
      return v[0] <= v[1];
    case ExprKind::kAnd:
      return v[0] != 0 && v[1] != 0;
    case ExprKind::kOr:
      return v[0] != 0 || v[1] != 0;
    case ExprKind::kNot:
      return v[0] == 0;
    default:
      return std::nullopt;
  }
}

struct World {
  SymStore store;
  TestScope scope{store};
  ExprId symbols[kNumNames];
  World() {
    for (int i = 0; i < kNumNames; ++i) symbols[i] = *scope.Resolve(kNames[i]);
  }
  ExprId Build(const Tree& tree) {
    if (tree.kind == ExprKind::kIntConst) return store.OfDim(store.Int(tree.value));
    if (tree.kind == ExprKind::kSymbol) return symbols[tree.value];
    std::vector<ExprId> args;
    for (const Tree& arg : tree.args) args.push_back(Build(arg));
    return store.Make(tree.kind, args);
  }
  std::vector<int64_t> Values(Random& random) const {
    std::vector<int64_t> values;
    for (int i = 0; i < kNumNames; ++i) values.push_back(RandomValue(random, i));
    return values;
  }
  SymStore::Values Map(const std::vector<int64_t>& values) const {
    SymStore::Values map;
    for (int i = 0; i < kNumNames; ++i) map[symbols[i]] = values[i];
    return map;
  }
};

// A tree whose every sub-expression has a value: what is defined everywhere it is looked at.
TEST_CASE("canonical forms evaluate like plain arithmetic") {
  World world;
  SymStore& store = world.store;
  Random random(7);
  int compared = 0;
  for (int round = 0; round < 6000; ++round) {
    const Tree tree = random() % 3 == 0 ? RandomBool(random, 2) : RandomInt(random, 1 + static_cast<int>(random() % 4));
    const ExprId e = world.Build(tree);
    if (!e.has_value()) continue;
    const std::string text = store.Print(e);
    CAPTURE(text);
    const bool is_bool = store.type(e) == ExprType::kBool;
    const Range range = is_bool ? Range{0, 1} : store.RangeOf(store.ToDim(e), nullptr);
    const Tri proven = is_bool ? store.Prove(e, nullptr) : Tri::kUnknown;
    for (int trial = 0; trial < 12; ++trial) {
      const std::vector<int64_t> values = world.Values(random);
      const std::optional<int64_t> want = Naive(tree, values);
      if (!want.has_value()) continue;
      const std::optional<int64_t> got = store.Evaluate(e, world.Map(values));
      if (!got.has_value()) continue;  // a product that cancelled may overflow on the way
      ++compared;
      CHECK_EQ(*got, *want);
      CHECK_LE(range.min, *want);
      CHECK_GE(range.max, *want);
      if (proven != Tri::kUnknown) CHECK_EQ(proven == Tri::kYes, *want != 0);
    }
    for (const std::string& form : {text, store.PrintSrepr(e)}) {
      const absl::StatusOr<ExprId> back = ParseExpr(form, store, world.scope);
      REQUIRE_MESSAGE(back.ok(), back.status().message());
      CHECK_MESSAGE(*back == e, store.Print(*back));
    }
  }
  CHECK_GT(compared, 30000);
}

TEST_CASE("answers under facts hold wherever the facts hold") {
  World world;
  SymStore& store = world.store;
  Random random(11);
  int decided = 0;
  for (int round = 0; round < 4000; ++round) {
    // Facts that are true of the first assignment, and of some others.
    const std::vector<int64_t> anchor = world.Values(random);
    std::vector<Tree> facts_trees;
    std::vector<ExprId> axioms;
    for (int64_t i = Pick(random, 1, 3); i > 0; --i) {
      Tree tree = RandomBool(random, 1);
      const std::optional<int64_t> value = Naive(tree, anchor);
      if (!value.has_value()) continue;
      if (*value == 0) tree = Tree{ExprKind::kNot, 0, {tree}};
      const ExprId axiom = world.Build(tree);
      if (!axiom.has_value()) continue;
      facts_trees.push_back(tree);
      axioms.push_back(axiom);
    }
    const std::shared_ptr<const Facts> facts = store.MakeFacts(axioms);
    const Tree tree = RandomInt(random, 1 + static_cast<int>(random() % 3));
    const Tree question = RandomBool(random, 1);
    const ExprId e = world.Build(tree), condition = world.Build(question);
    if (!e.has_value() || !condition.has_value()) continue;
    std::string told;
    for (const ExprId axiom : axioms) told += store.Print(axiom) + "; ";
    CAPTURE(told);
    CAPTURE(store.Print(e));
    CAPTURE(store.Print(condition));
    const Dim simple = store.Simplify(store.ToDim(e), facts.get());
    CAPTURE(store.Print(simple));
    CHECK(simple.is_valid());
    CHECK(store.Simplify(simple, facts.get()) == simple);
    const Range range = store.RangeOf(store.ToDim(e), facts.get());
    const Tri proven = store.Prove(condition, facts.get());
    const ExprId simple_condition = store.SimplifyExpr(condition, facts.get());
    CHECK_EQ(store.Equal(store.ToDim(e), simple, facts.get()), Tri::kYes);
    if (proven != Tri::kUnknown) ++decided;
    for (int trial = 0; trial < 40; ++trial) {
      std::vector<int64_t> values = trial == 0 ? anchor : world.Values(random);
      if (trial > 0) {  // near the anchor more facts hold
        for (int i = 0; i < kNumNames; ++i) {
          if (random() % 4 != 0) values[i] = anchor[i];
        }
      }
      bool holds = true;
      for (const Tree& fact : facts_trees) {
        const std::optional<int64_t> value = Naive(fact, values);
        holds &= value.has_value() && *value != 0;
      }
      if (!holds) continue;
      const SymStore::Values map = world.Map(values);
      if (const auto want = Naive(tree, values)) {
        CHECK_LE(range.min, *want);
        CHECK_GE(range.max, *want);
        if (const auto got = store.Evaluate(store.OfDim(simple), map)) CHECK_EQ(*got, *want);
      }
      if (const auto want = Naive(question, values)) {
        if (proven != Tri::kUnknown) CHECK_EQ(proven == Tri::kYes, *want != 0);
        if (const auto got = store.Evaluate(simple_condition, map)) CHECK_EQ(*got, *want);
      }
    }
  }
  CHECK_GT(decided, 500);
}

}  // namespace
}  // namespace tare
