#include "passes/pipeline.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/context.h"
#include "ir/status.h"

// Comes last: it configures a library.
// clang-format off
#include "ir/parse_toml.h"
// clang-format on

namespace tare {
namespace {

constexpr int kMaxRounds = 100;
constexpr int kMaxSteps = 10'000;

struct TraitName {
  std::string_view name;
  OpTrait trait;
};
constexpr TraitName kTraitNames[] = {
    {"view", kView}, {"mutates", kMutates}, {"random", kRandom}, {"higher_order", kHigherOrder}};

std::optional<OpTrait> TraitByName(std::string_view name) {
  for (const TraitName& row : kTraitNames)
    if (row.name == name) return row.trait;
  return std::nullopt;
}

constexpr std::string_view kWithout = "without ";

bool IsFact(std::string_view fact) {
  return fact == "functional" || fact == "static-shapes" ||
         (fact.substr(0, kWithout.size()) == kWithout && fact.size() > kWithout.size());
}

absl::Status BadField(std::string_view pipeline, std::string_view what) {
  return InvalidError("pipeline_c2", "pipeline ", pipeline, ": ", what);
}

absl::StatusOr<std::vector<std::string>> ReadFacts(std::string_view pipeline,
                                                   const toml::node_view<const toml::node>& at,
                                                   std::string_view field) {
  std::vector<std::string> facts;
  if (!at) return facts;
  const toml::array* list = at.as_array();
  if (list == nullptr) return BadField(pipeline, absl::StrCat(TextPiece(field), " must be a list of texts"));
  for (const toml::node& item : *list) {
    const std::optional<std::string> fact = item.value<std::string>();
    if (!fact.has_value() || !IsFact(*fact)) {
      return BadField(pipeline, absl::StrCat("unknown fact ", fact.value_or("(not a text)"),
                                             "; known are functional, static-shapes, without OP-OR-TRAIT"));
    }
    facts.push_back(*fact);
  }
  return facts;
}

absl::StatusOr<PassOptions> ReadOptions(std::string_view pipeline, const toml::node* at) {
  PassOptions options;
  if (at == nullptr) return options;
  const toml::table* table = at->as_table();
  if (table == nullptr) return BadField(pipeline, "options must be a table");
  for (const auto& [key, value] : *table) {
    OptionValue& option = options[std::string(key.str())];
    if (value.is_boolean()) {
      option = *value.value<bool>();
    } else if (value.is_integer()) {
      option = *value.value<int64_t>();
    } else if (value.is_floating_point()) {
      option = *value.value<double>();
    } else if (value.is_string()) {
      option = *value.value<std::string>();
    } else {
      return BadField(pipeline, absl::StrCat("option ", TextPiece(key.str()), " must be a bool, number or text"));
    }
  }
  return options;
}

class Reader {
 public:
  Reader(Context& context, std::span<const PassRow> rows, std::string_view name)
      : context_(context), rows_(rows), name_(name) {}

  absl::StatusOr<PipelineStep> Step(const toml::node& item) {
    PipelineStep step;
    const toml::table* table = item.as_table();
    if (table == nullptr || table->contains("pass")) {
      TARE_ASSIGN_OR_RETURN(Pass pass, OnePass(item));
      step.passes.push_back(std::move(pass));
      return step;
    }
    for (const auto& [key, value] : *table)
      if (key.str() != "repeat" && key.str() != "at_most")
        return BadField(name_, absl::StrCat("unknown field ", TextPiece(key.str()), " of a step"));
    const toml::array* repeat = table->get_as<toml::array>("repeat");
    if (repeat == nullptr || repeat->empty()) return BadField(name_, "a step is a pass or repeats a list of passes");
    for (const toml::node& inner : *repeat) {
      TARE_ASSIGN_OR_RETURN(Pass pass, OnePass(inner));
      step.passes.push_back(std::move(pass));
    }
    const int64_t at_most = (*table)["at_most"].value_or(int64_t{8});
    if (at_most < 1 || at_most > kMaxRounds)
      return BadField(name_, absl::StrCat("at_most is ", at_most, ", must be 1 to ", kMaxRounds));
    step.at_most = static_cast<int>(at_most);
    return step;
  }

 private:
  absl::StatusOr<Pass> OnePass(const toml::node& item) {
    if (const std::optional<std::string> name = item.value<std::string>(); name.has_value())
      return MakePass(context_, rows_, *name);
    const toml::table* table = item.as_table();
    if (table == nullptr) return BadField(name_, "a pass is a name or a table");
    for (const auto& [key, value] : *table)
      if (key.str() != "pass" && key.str() != "options")
        return BadField(name_, absl::StrCat("unknown field ", TextPiece(key.str()), " of a pass"));
    const std::optional<std::string> name = (*table)["pass"].value<std::string>();
    if (!name.has_value()) return BadField(name_, "a pass has no name");
    TARE_ASSIGN_OR_RETURN(const PassOptions options, ReadOptions(name_, table->get("options")));
    return MakePass(context_, rows_, *name, options);
  }

  Context& context_;
  std::span<const PassRow> rows_;
  std::string_view name_;
};

absl::Status Broken(const Graph& graph, NodeId node, std::string_view fact, std::string_view why) {
  return WithNode(CheckError(absl::StatusCode::kFailedPrecondition, "pipeline_c3",
                             absl::StrCat("the program is not `", TextPiece(fact), "`: %",
                                          TextPiece(graph.NameOf(node)), TextPiece(why))),
                  node);
}

bool HasSymbols(const Meta& meta) {
  const auto symbolic = [](Dim dim) { return !dim.is_static(); };
  if (meta.kind != MetaKind::kTensor) return false;
  return std::any_of(meta.tensor.shape.begin(), meta.tensor.shape.end(), symbolic);
}

}  // namespace

absl::StatusOr<Pipeline> ParsePipeline(Context& context, std::span<const PassRow> rows, std::string_view name,
                                       std::string_view text) {
  const toml::parse_result parsed = ParseToml(text, name);
  if (!parsed) {
    return InvalidError("pipeline_c1", "pipeline ", name, ", line ", parsed.error().source().begin.line, ": ",
                        parsed.error().description());
  }
  const toml::table& table = parsed.table();
  for (const auto& [key, value] : table)
    if (key.str() != "doc" && key.str() != "requires" && key.str() != "ensures" && key.str() != "steps")
      return BadField(name, absl::StrCat("unknown field ", TextPiece(key.str())));
  Pipeline pipeline;
  pipeline.name = std::string(name);
  pipeline.doc = table["doc"].value_or(std::string());
  TARE_ASSIGN_OR_RETURN(pipeline.requires_facts, ReadFacts(name, table["requires"], "requires"));
  TARE_ASSIGN_OR_RETURN(pipeline.ensures_facts, ReadFacts(name, table["ensures"], "ensures"));
  const toml::array* steps = table.get_as<toml::array>("steps");
  if (steps == nullptr || steps->size() > kMaxSteps) return BadField(name, "steps must be a list of passes");
  Reader reader(context, rows, name);
  for (const toml::node& item : *steps) {
    TARE_ASSIGN_OR_RETURN(PipelineStep step, reader.Step(item));
    pipeline.steps.push_back(std::move(step));
  }
  return pipeline;
}

absl::Status CheckFact(const Program& program, std::string_view fact) {
  const Context& context = *program.context;
  const std::string_view name = fact.size() > kWithout.size() ? fact.substr(kWithout.size()) : std::string_view();
  std::optional<OpTrait> trait = TraitByName(name);
  const bool functional = fact == "functional", static_shapes = fact == "static-shapes";
  if (functional) trait = kMutates;
  const Op op = trait.has_value() || static_shapes ? Op{} : context.ops.Find(name);
  for (const ProgramGraph& owner : program.graphs) {
    const Graph& graph = owner.graph;
    for (const NodeId node : graph.nodes()) {
      if (static_shapes) {
        const MetaId meta = graph.meta(node);
        if (meta.has_value() && HasSymbols(context.metas.Get(meta)))
          return Broken(graph, node, fact, " has a symbolic extent");
      } else if (trait.has_value() ? context.ops.Has(graph.op(node), *trait) : op.has_value() && graph.op(node) == op) {
        return Broken(graph, node, fact, absl::StrCat(" is ", TextPiece(context.ops.Name(graph.op(node)))));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<PassStats>> RunPipeline(Program& program, Inferrer& inferrer, const Pipeline& pipeline,
                                                   const RunOptions& options) {
  for (const std::string& fact : pipeline.requires_facts) TARE_RETURN_IF_ERROR(CheckFact(program, fact));
  Rewriter rw(program, inferrer);
  PassRunner runner(rw, options);
  std::vector<PassStats> all;
  for (const PipelineStep& step : pipeline.steps) {
    for (int round = 0; round < step.at_most; ++round) {
      bool changed = false;
      for (const Pass& pass : step.passes) {
        TARE_ASSIGN_OR_RETURN(PassStats stats, runner.Run(pass));
        changed |= stats.changed;
        all.push_back(std::move(stats));
      }
      if (!changed) break;
    }
  }
  TARE_RETURN_IF_ERROR(runner.Finish());
  for (const std::string& fact : pipeline.ensures_facts) TARE_RETURN_IF_ERROR(CheckFact(program, fact));
  return all;
}

}  // namespace tare
