#include <algorithm>
#include <iterator>

#include "absl/container/flat_hash_map.h"
#include "ir/asserted.h"
#include "ir/status.h"
#include "ir/text.h"
#include "ir/text_parts.h"

namespace tare {
namespace {

constexpr size_t kMaxConstants = 1 << 24;

std::optional<size_t> IndexOf(std::span<const std::string_view> names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<size_t>(found - names.begin());
}

class Parser {
 public:
  Parser(Context& context, std::string_view text, Inferrer* inferrer)
      : context_(context), cursor_(text), symbols_(context.syms), inferrer_(inferrer) {}

  absl::StatusOr<Program> Parse() {
    program_.context = &context_;
    TARE_RETURN_IF_ERROR(FindGraphs());
    uint32_t next = 0;
    while (!cursor_.AtEnd()) {
      if (cursor_.TakeWord("symbols")) {
        if (next > 0) return cursor_.Error("symbols come before graphs");
        TARE_RETURN_IF_ERROR(ReadSymbols(cursor_, symbols_));
      } else if (cursor_.TakeWord("constants")) {
        if (next > 0) return cursor_.Error("constants come before graphs");
        TARE_RETURN_IF_ERROR(ReadConstants());
      } else if (cursor_.TakeWord("graph")) {
        TARE_RETURN_IF_ERROR(ReadGraph(GraphId{next++}));
      } else {
        return cursor_.Error("expected 'graph', 'symbols' or 'constants'");
      }
    }
    if (next == 0) return cursor_.Error("expected a graph");
    if (const std::vector<ExprId> asserted = AssertedConditions(program_); !asserted.empty()) {
      program_.facts = context_.syms.MakeFacts(asserted);
    }
    return std::move(program_);
  }

 private:
  // Graphs are named before they are read, since a call of a body comes before it.
  absl::Status FindGraphs() {
    Cursor scan = cursor_;
    while (!scan.AtEnd()) {
      if (scan.TakeWord("graph")) {
        const size_t start = scan.offset();
        TARE_ASSIGN_OR_RETURN(const std::string name, scan.WordOrQuoted("the name of a graph"));
        if (!graphs_.try_emplace(name, GraphId{static_cast<uint32_t>(program_.graphs.size())}).second) {
          return scan.ErrorAt(start, Cat("graph ", name, " is there already"));
        }
        program_.graphs.emplace_back();
        program_.graphs.back().name = name;
      } else if (scan.Word().empty()) {
        return scan.Error("expected 'graph', 'symbols' or 'constants'");
      }
      TARE_RETURN_IF_ERROR(SkipBlock(scan));
    }
    return absl::OkStatus();
  }

  // To behind the next top-level `}`.
  static absl::Status SkipBlock(Cursor& scan) {
    const std::string_view text = scan.text();
    const size_t start = scan.offset();
    int depth = 0;
    for (size_t i = start; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '#') {
        while (i < text.size() && text[i] != '\n') ++i;
      } else if (c == '"') {
        for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i) i += text[i] == '\\';
      } else if (c == '(' || c == '{') {
        ++depth;
      } else if (c == ')' || c == '}') {
        --depth;
        if (depth < 0 || (depth == 0 && c == '}')) {
          scan.Rewind(i + 1);
          return depth < 0 ? scan.ErrorAt(i, Cat("unexpected '", std::string_view(&text[i], 1), "'"))
                           : absl::OkStatus();
        }
      }
    }
    return scan.ErrorAt(start, "a block without its end");
  }

  absl::Status ReadConstants() {
    if (!program_.constants.empty()) return cursor_.Error("constants are there already");
    TARE_RETURN_IF_ERROR(cursor_.Expect("{"));
    while (!cursor_.Take("}")) {
      if (program_.constants.size() == kMaxConstants) return cursor_.Error("too many constants");
      Constant constant;
      TARE_RETURN_IF_ERROR(cursor_.Expect("$"));
      TARE_ASSIGN_OR_RETURN(const int64_t index, cursor_.Integer());
      if (index != static_cast<int64_t>(program_.constants.size()))
        return cursor_.Error("constants are numbered from 0");
      TARE_RETURN_IF_ERROR(cursor_.Expect(":"));
      TARE_ASSIGN_OR_RETURN(constant.meta, ReadMeta(context_, cursor_, symbols_));
      TARE_ASSIGN_OR_RETURN(constant.name, cursor_.QuotedText());
      constant.is_parameter = cursor_.TakeWord("parameter");
      if (cursor_.TakeWord("file")) {
        TARE_ASSIGN_OR_RETURN(constant.file_name, cursor_.QuotedText());
      }
      if (cursor_.TakeWord("class")) {
        TARE_ASSIGN_OR_RETURN(constant.opaque_class, cursor_.QuotedText());
      }
      constant.payload.missing = true;
      program_.constants.push_back(std::move(constant));
    }
    return absl::OkStatus();
  }

  // Operands of the node being read.
  class Operands final : public OperandScope {
   public:
    explicit Operands(Parser& parser) : parser_(parser) {}
    absl::StatusOr<uint32_t> Node(std::string_view name) override {
      const auto found = parser_.nodes_.find(std::string(name));
      if (found == parser_.nodes_.end()) {
        return absl::InvalidArgumentError(Cat("%", QuoteUnlessWord(name), " is not defined before its use"));
      }
      nodes.push_back(found->second);
      return static_cast<uint32_t>(nodes.size() - 1);
    }
    absl::StatusOr<GraphId> Graph(std::string_view name) override {
      const auto found = parser_.graphs_.find(std::string(name));
      if (found == parser_.graphs_.end()) return OperandScope::Graph(name);
      graphs.push_back(found->second);
      return found->second;
    }
    std::vector<NodeId> nodes;
    std::vector<GraphId> graphs;

   private:
    Parser& parser_;
  };

  absl::Status ReadGraph(GraphId id) {
    nodes_.clear();
    TARE_RETURN_IF_ERROR(cursor_.WordOrQuoted("the name of a graph").status());
    Graph& graph = program_.graphs[id.index].graph;
    TARE_RETURN_IF_ERROR(cursor_.Expect("("));
    std::vector<NodeId> inputs;
    if (!cursor_.Take(")")) {
      do {
        TARE_ASSIGN_OR_RETURN(const NodeId input, ReadInput(id, graph));
        inputs.push_back(input);
      } while (cursor_.Take(","));
      TARE_RETURN_IF_ERROR(cursor_.Expect(")"));
    }
    GraphEdit(graph).SetInputs(inputs);
    TARE_RETURN_IF_ERROR(cursor_.Expect("{"));
    while (!cursor_.TakeWord("return")) {
      TARE_RETURN_IF_ERROR(ReadNode(id, graph));
    }
    TARE_RETURN_IF_ERROR(ReadReturn(id, graph));
    return cursor_.Expect("}");
  }

  // `%name`, free.
  absl::StatusOr<std::string> ReadName() {
    if (cursor_.Peek() != '%') return cursor_.Error("expected '%name' or 'return'");
    const size_t start = cursor_.offset();
    cursor_.Take("%");
    TARE_ASSIGN_OR_RETURN(std::string name, cursor_.WordOrQuoted("a name"));
    if (name.empty()) return cursor_.ErrorAt(start, "a name cannot be empty");
    if (nodes_.contains(name)) return cursor_.ErrorAt(start, Cat("%", QuoteUnlessWord(name), " is defined already"));
    if (nodes_.size() >= kMaxNodes - 1) return cursor_.ErrorAt(start, "too many nodes");
    return name;
  }

  absl::StatusOr<NodeId> ReadInput(GraphId id, Graph& graph) {
    TARE_ASSIGN_OR_RETURN(const std::string name, ReadName());
    TARE_RETURN_IF_ERROR(cursor_.Expect(":"));
    NodeDef def;
    def.op = op::placeholder;
    def.attrs = context_.attrs.Empty();
    TARE_ASSIGN_OR_RETURN(def.meta, ReadMeta(context_, cursor_, symbols_));
    if (cursor_.TakeWord("quant")) {
      TARE_ASSIGN_OR_RETURN(def.quant, ReadQuant(context_, cursor_));
    }
    if (id.index == 0) {
      program_.inputs.emplace_back();
      if (cursor_.Take("=")) {
        TARE_RETURN_IF_ERROR(ReadInputSpec(program_.inputs.back(), def.meta));
      }
    }
    const NodeId node = GraphEdit(graph).Append(def, name);
    nodes_.emplace(name, node);
    return node;
  }

  absl::Status ReadInputSpec(InputSpec& spec, MetaId meta) {
    const size_t start = cursor_.offset();
    const std::optional<size_t> kind = IndexOf(kInputKindNames, cursor_.Word());
    if (!kind) return cursor_.ErrorAt(start, "expected the kind of an input");
    spec.kind = static_cast<InputKind>(*kind);
    if (cursor_.Peek() == '"') {
      TARE_ASSIGN_OR_RETURN(spec.target, cursor_.QuotedText());
    }
    spec.persistent = !cursor_.TakeWord("transient");
    if (cursor_.Take("$")) {
      TARE_ASSIGN_OR_RETURN(const int64_t index, cursor_.Integer());
      if (index < 0 || index >= static_cast<int64_t>(program_.constants.size())) {
        return cursor_.ErrorAt(start, Cat("there is no constant $", index));
      }
      spec.constant = ConstId{static_cast<uint32_t>(index)};
      return absl::OkStatus();
    }
    const bool tensor = spec.kind == InputKind::kParameter || spec.kind == InputKind::kBuffer ||
                        spec.kind == InputKind::kTensorConstant;
    if (!tensor || spec.target.empty()) return absl::OkStatus();
    if (program_.constants.size() == kMaxConstants) return cursor_.Error("too many constants");
    Constant constant;
    constant.name = spec.target;
    constant.meta = meta;
    constant.is_parameter = spec.kind == InputKind::kParameter;
    constant.payload.missing = true;
    spec.constant = ConstId{static_cast<uint32_t>(program_.constants.size())};
    program_.constants.push_back(std::move(constant));
    return absl::OkStatus();
  }

  absl::Status ReadNode(GraphId id, Graph& graph) {
    const size_t start = cursor_.offset();
    TARE_ASSIGN_OR_RETURN(const std::string name, ReadName());
    TARE_RETURN_IF_ERROR(cursor_.Expect("="));
    TARE_ASSIGN_OR_RETURN(const std::string op_name, cursor_.WordOrQuoted("an operator"));
    NodeDef def;
    def.op = context_.ops.FindOrDeclare(op_name);
    if (!def.op.has_value()) return cursor_.ErrorAt(start, "too many unknown operators");
    Operands operands(*this);
    TARE_ASSIGN_OR_RETURN(def.attrs, ReadArgs(context_, cursor_, def.op, symbols_, operands));
    if (operands.nodes.size() > static_cast<size_t>(kMaxOperands)) return cursor_.ErrorAt(start, "too many operands");
    def.operands = operands.nodes;
    const bool stated = cursor_.Take(":");
    if (stated) {
      TARE_ASSIGN_OR_RETURN(def.meta, ReadMeta(context_, cursor_, symbols_));
    }
    if (cursor_.TakeWord("quant")) {
      TARE_ASSIGN_OR_RETURN(def.quant, ReadQuant(context_, cursor_));
    }
    if (!stated) {
      TARE_ASSIGN_OR_RETURN(def.meta, Infer(start, graph, def));
    }
    const NodeId node = GraphEdit(graph).Append(def, name);
    nodes_.emplace(name, node);
    for (const GraphId body : operands.graphs) {
      ProgramGraph& owned = program_.graphs[body.index];
      if (owned.owner.has_value()) return cursor_.ErrorAt(start, Cat("graph ", owned.name, " has an owner already"));
      owned.owner_graph = id;
      owned.owner = node;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<MetaId> Infer(size_t start, const Graph& graph, const NodeDef& def) {
    if (inferrer_ == nullptr) return cursor_.Error("expected ':' and metadata");
    std::vector<MetaId> metas;
    for (const NodeId operand : def.operands) metas.push_back(graph.meta(operand));
    const NodePlace place{reinterpret_cast<uintptr_t>(&graph.lineage()), NodeId{graph.id_bound()}};
    const absl::StatusOr<InferResult> result = inferrer_->Infer(def.op, def.attrs, metas, def.quant, place);
    if (!result.ok()) {
      const auto message = result.status().message();
      return cursor_.ErrorAt(start, {message.data(), message.size()});
    }
    if (result->declared) return cursor_.ErrorAt(start, "the operator has no rule: write ': metadata'");
    return result->meta;
  }

  absl::Status ReadReturn(GraphId id, Graph& graph) {
    const size_t start = cursor_.offset();
    Operands operands(*this);
    std::vector<AttrValue> values;
    while (cursor_.Peek() != '}' && cursor_.PeekWord() != "quant") {
      if (!values.empty()) TARE_RETURN_IF_ERROR(cursor_.Expect(","));
      TARE_ASSIGN_OR_RETURN(values.emplace_back(), ReadAttr(context_, cursor_, symbols_, operands));
      if (id.index == 0) program_.outputs.emplace_back();
      if (id.index == 0 && cursor_.Take("->")) {
        const std::optional<size_t> kind = IndexOf(kOutputKindNames, cursor_.Word());
        if (!kind) return cursor_.Error("expected the kind of an output");
        program_.outputs.back().kind = static_cast<OutputKind>(*kind);
        if (cursor_.Peek() == '"') {
          TARE_ASSIGN_OR_RETURN(program_.outputs.back().target, cursor_.QuotedText());
        }
      }
    }
    if (operands.nodes.size() > static_cast<size_t>(kMaxOperands)) return cursor_.ErrorAt(start, "too many outputs");
    if (!operands.graphs.empty()) return cursor_.ErrorAt(start, "a graph cannot be returned");
    const NamedAttr args{"args", MakeList(context_.strings, values)};
    NodeDef def;
    def.op = op::output;
    def.attrs = context_.attrs.Intern({&args, 1});
    def.meta = context_.metas.None();
    def.operands = operands.nodes;
    if (cursor_.TakeWord("quant")) {
      TARE_ASSIGN_OR_RETURN(def.quant, ReadQuant(context_, cursor_));
    }
    GraphEdit(graph).Append(def, "output");
    return absl::OkStatus();
  }

  Context& context_;
  Cursor cursor_;
  TextSymbols symbols_;
  Inferrer* inferrer_;
  Program program_;
  absl::flat_hash_map<std::string, GraphId> graphs_;
  absl::flat_hash_map<std::string, NodeId> nodes_;  // of the graph being read
};

}  // namespace

absl::StatusOr<Program> ParseProgram(Context& context, std::string_view text, Inferrer* inferrer) {
  return Parser(context, text, inferrer).Parse();
}

absl::StatusOr<MetaId> ParseMeta(Context& context, std::string_view text, SymbolScope& scope) {
  Cursor cursor(text);
  TARE_ASSIGN_OR_RETURN(const MetaId meta, ReadMeta(context, cursor, scope));
  if (!cursor.AtEnd()) return cursor.Error("unexpected text after metadata");
  return meta;
}

}  // namespace tare
