// The memo against its slow twin, which evaluates every answer.
#include "meta/memo.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "golden_lines.h"
#include "ir/notation.h"
#include "ir/text.h"
#include "meta/context_factory.h"
#include "meta/golden_symbols.h"
#include "meta/infer.h"
#include "meta/rule_set.h"

namespace tare {
namespace {

struct Question {
  Call call;
  std::shared_ptr<const Facts> facts;
  std::string spec, text;
};

// Calls that the files of tests/data/goldens hold, read into `context`.
std::vector<Question> Questions(Context& context) {
  std::vector<Question> questions;
  for (const std::string& text : GoldenLinesOf("goldens/sample")) {
    const auto line = SplitGoldenLine(text);
    if (!line.ok() || !line->has_value()) continue;
    auto symbols = LineSymbols::Make(context, (*line)->call, (*line)->facts);
    if (!symbols.ok()) continue;
    Cursor cursor((*line)->call);
    auto call = ReadCall(context, cursor, *symbols);
    if (!call.ok()) continue;
    questions.push_back({*std::move(call), symbols->facts(), (*line)->spec, text});
  }
  return questions;
}

absl::StatusOr<InferResult> Ask(Inferrer& inferrer, const Question& question) {
  inferrer.UseFacts(question.facts);
  NodePlace place;
  place.node = NodeId{7};
  return inferrer.Infer(question.call.op, question.call.attrs, question.call.operands, QuantId{0}, place);
}

// Everything an answer says.
std::string Text(Context& context, const absl::StatusOr<InferResult>& answer) {
  if (!answer.ok()) return std::string(answer.status().ToString());
  if (answer->declared) return "declared";
  std::string text = PrintMeta(context, answer->meta) + " alias " + std::to_string(answer->alias_of);
  for (const Guard& guard : answer->guards) {
    text += (guard.kind == Guard::kGuard ? " guard " : " assert ") + context.syms.Print(guard.condition);
  }
  return text;
}

TEST_CASE("a memoised answer is the recomputed one, guards and alias too") {
  const auto context = MakeContext();
  const std::vector<Question> questions = Questions(*context);
  REQUIRE(questions.size() > 1000);
  for (const char* spec : {"", "TOSA-1.0+INT", "TOSA-1.0+FP"}) {
    InferrerOptions options;
    options.spec = spec;
    const auto memo = MakeInferrer(*context, options);
    const auto second_session = MakeInferrer(*context, options);
    options.use_memo = false;
    const auto twin = MakeInferrer(*context, options);
    for (const Question& question : questions) {
      CAPTURE(question.text);
      const std::string want = Text(*context, Ask(*twin, question));
      CHECK_EQ(Text(*context, Ask(*memo, question)), want);
      CHECK_EQ(Text(*context, Ask(*memo, question)), want);
      CHECK_EQ(Text(*context, Ask(*second_session, question)), want);
    }
    CHECK_GT(memo->counters().memo_hits, 0);
    CHECK_EQ(twin->counters().memo_hits, 0);
  }
}

TEST_CASE("the specification in force is part of the key") {
  const auto context = MakeContext();
  const std::string text = "tosa.RESCALE.default(i32[4], dtype=i8, scale=[0.5], in_zp=0, out_zp=3)";
  auto symbols = LineSymbols::Make(*context, text, "");
  Cursor cursor(text);
  const auto call = ReadCall(*context, cursor, *symbols);
  REQUIRE(call.ok());
  const auto ask = [&](std::string spec) {
    InferrerOptions options;
    options.spec = std::move(spec);
    const auto inferrer = MakeInferrer(*context, options);
    return Text(*context, inferrer->Infer(call->op, call->attrs, call->operands, QuantId{0}, {})).substr(0, 5);
  };
  CHECK_EQ(ask("TOSA-1.0+INT"), "i8[4]");
  CHECK_EQ(ask("TOSA-1.0+FP"), "INVAL");
  CHECK_EQ(ask("TOSA-1.0+INT"), "i8[4]");
}

TEST_CASE("fresh symbols are not remembered; the same node mints the same ones") {
  const auto context = MakeContext();
  const std::string text = "aten.nonzero.default(f32[3])";
  auto symbols = LineSymbols::Make(*context, text, "");
  Cursor cursor(text);
  const auto call = ReadCall(*context, cursor, *symbols);
  REQUIRE(call.ok());
  const auto inferrer = MakeInferrer(*context);
  const auto ask = [&](uint32_t node) {
    NodePlace place;
    place.node = NodeId{node};
    return inferrer->Infer(call->op, call->attrs, call->operands, QuantId{0}, place)->meta;
  };
  const MetaId first = ask(1);
  CHECK(!(first == ask(2)));
  CHECK(first == ask(1));
  CHECK_EQ(inferrer->counters().memo_hits, 0);
}

TEST_CASE("rules added later are part of the key") {
  const auto context = MakeContext();
  const uint64_t before = RulesOf(*context).id();
  REQUIRE(AddOpsFile(*context, "t.toml", "[op.'t.a.x']\nschema = '(Tensor x) -> Tensor'\nresult = 'x'").ok());
  CHECK(RulesOf(*context).id() != before);
}

TEST_CASE("sessions of many threads share answers") {
  const auto context = MakeContext();
  const std::vector<Question> questions = Questions(*context);
  std::vector<std::string> answers[4];
  std::vector<std::thread> threads;
  for (auto& mine : answers) {
    threads.emplace_back([&] {
      const auto inferrer = MakeInferrer(*context);
      for (const Question& question : questions) mine.push_back(Text(*context, Ask(*inferrer, question)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& other : answers) CHECK(other == answers[0]);
}

}  // namespace
}  // namespace tare
