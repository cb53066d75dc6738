#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "sym_test_scope.h"

namespace tare {
namespace {

struct Made {
  std::vector<ExprId> ids;
  std::vector<std::string> texts;
};

// The same expressions in an order of the thread's own.
Made Work(SymStore& store, int seed) {
  constexpr int kCount = 1200;
  TestScope scope(store);
  Made made;
  made.ids.resize(kCount);
  made.texts.resize(kCount);
  for (int i = 0; i < kCount; ++i) {
    const int n = (i * 7 + seed * 311) % kCount;
    const std::string a = "s" + std::to_string(n % 37), b = "u" + std::to_string(n / 37),
                      c = std::to_string(n % 11 + 1);
    const std::string text =
        "max((" + a + "*" + c + "+" + b + ")//3, " + b + "%" + c + ") + " + a + "*" + b + " - " + c;
    const absl::StatusOr<ExprId> e = ParseExpr(text, store, scope);
    if (!e.ok()) continue;
    made.ids[n] = *e;
    made.texts[n] = store.Print(*e);
    const ExprId fact = store.Eq(store.ToDim(*scope.Resolve(a)), Dim::Static(n % 37 + 2));
    const auto facts = store.MakeFacts({&fact, 1});
    made.texts[n] += store.Print(store.Simplify(store.ToDim(*e), facts.get()));
  }
  return made;
}

TEST_CASE("threads share expressions: one id and one text each") {
  constexpr int kThreads = 4;
  SymStore store;
  std::vector<Made> made(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back([&, t] { made[t] = Work(store, t); });
  for (std::thread& thread : threads) thread.join();
  SymStore alone;
  const Made want = Work(alone, 0);
  for (const Made& m : made) {
    CHECK(m.ids == made[0].ids);
    CHECK(m.texts == want.texts);
  }
  for (const ExprId id : made[0].ids) CHECK(id.has_value());
}

}  // namespace
}  // namespace tare
