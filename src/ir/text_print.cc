#include "absl/container/flat_hash_set.h"
#include "ir/status.h"
#include "ir/text.h"
#include "ir/text_parts.h"

namespace tare {
namespace {

// Names of a program's graphs, made unique: the text refers to them by name.
std::vector<std::string> GraphNames(const Program& program) {
  std::vector<std::string> names;
  absl::flat_hash_set<std::string> taken;
  for (const ProgramGraph& body : program.graphs) {
    std::string name = body.name.empty() ? "graph" : body.name;
    for (int k = 1; !taken.insert(name).second; ++k) name = Cat(body.name.empty() ? "graph" : body.name, "_", k);
    names.push_back(std::move(name));
  }
  return names;
}

class Printer {
 public:
  Printer(const Context& context, const Program& program)
      : context_(context), program_(program), graph_names_(GraphNames(program)) {}

  void PrintConstants() {
    for (size_t k = 0; k < program_.constants.size(); ++k) {
      const Constant& constant = program_.constants[k];
      CatTo(out, k == 0 ? "constants {\n" : "", "  $", k, ": ",
            constant.meta.has_value() ? PrintMeta(context_, constant.meta) : "none", " ", Quote(constant.name));
      if (constant.is_parameter) out += " parameter";
      if (!constant.file_name.empty()) CatTo(out, " file ", Quote(constant.file_name));
      if (!constant.opaque_class.empty()) CatTo(out, " class ", Quote(constant.opaque_class));
      out += '\n';
    }
    if (!program_.constants.empty()) out += "}\n";
  }

  void PrintBody(GraphId id, bool constants_follow) {
    const Graph& graph = program_.graphs[id.index].graph;
    CatTo(out, "graph ", QuoteUnlessWord(graph_names_[id.index]), "(");
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      const NodeId input = graph.inputs()[i];
      CatTo(out, i > 0 ? ", " : "", "%", QuoteUnlessWord(graph.NameOf(input)), ": ",
            PrintMeta(context_, graph.meta(input)));
      PrintQuant(context_, graph.quant(input), out);
      if (id.index == 0 && i < program_.inputs.size()) PrintInput(program_.inputs[i], constants_follow);
    }
    out += ") {\n";
    size_t inputs = 0;
    for (const NodeId node : graph.nodes()) {
      if (inputs < graph.inputs().size() && node == graph.inputs()[inputs]) {
        ++inputs;
        continue;
      }
      out += "  ";
      if (node == graph.last() && graph.op(node) == op::output) {
        PrintReturn(id, node);
      } else {
        PrintNode(graph, node);
      }
      out += '\n';
    }
    out += "}\n";
  }

  void PrintNode(const Graph& graph, NodeId node) {
    CatTo(out, "%", QuoteUnlessWord(graph.NameOf(node)), " = ", QuoteUnlessWord(context_.ops.Name(graph.op(node))),
          PrintArgs(context_, graph.op(node), graph.attrs(node), Names(*this, graph, node)));
    if (graph.meta(node).has_value()) CatTo(out, " : ", PrintMeta(context_, graph.meta(node)));
    PrintQuant(context_, graph.quant(node), out);
  }

  std::string out;

 private:
  class Names final : public OperandNames {
   public:
    Names(const Printer& printer, const tare::Graph& graph, NodeId node)
        : printer_(printer), graph_(graph), operands_(graph.operands(node)) {}
    std::string Operand(uint32_t index) const override {
      if (index >= operands_.size() || !graph_.Contains(operands_[index])) return OperandNames::Operand(index);
      return Cat("%", QuoteUnlessWord(graph_.NameOf(operands_[index])));
    }
    std::string Graph(GraphId id) const override {
      if (id.index >= printer_.graph_names_.size()) return OperandNames::Graph(id);
      return Cat("@", QuoteUnlessWord(printer_.graph_names_[id.index]));
    }

   private:
    const Printer& printer_;
    const tare::Graph& graph_;
    std::span<const NodeId> operands_;
  };

  void PrintInput(const InputSpec& spec, bool constants_follow) {
    if (spec.kind == InputKind::kUser) return;
    CatTo(out, " = ", kInputKindNames[static_cast<size_t>(spec.kind)]);
    if (!spec.target.empty()) CatTo(out, " ", Quote(spec.target));
    if (!spec.persistent) out += " transient";
    if (spec.constant.has_value() && !constants_follow) CatTo(out, " $", spec.constant.index);
  }

  void PrintReturn(GraphId id, NodeId node) {
    const Graph& graph = program_.graphs[id.index].graph;
    out += "return";
    const Names names(*this, graph, node);
    size_t count = 0;
    const auto print = [&](const AttrValue& value) {
      CatTo(out, count > 0 ? ", " : " ", PrintAttr(context_, value, names));
      if (id.index == 0 && count < program_.outputs.size()) PrintOutput(program_.outputs[count]);
      ++count;
    };
    for (const NamedAttr& attr : context_.attrs.Get(graph.attrs(node))) {
      for (const AttrValue& value :
           attr.value.kind == AttrKind::kList ? attr.value.items() : std::span<const AttrValue>())
        print(value);
      for (const int64_t value : attr.value.kind == AttrKind::kInts ? attr.value.ints() : std::span<const int64_t>())
        print(AttrValue::Int(value));
    }
    PrintQuant(context_, graph.quant(node), out);
  }

  void PrintOutput(const OutputSpec& spec) {
    if (spec.kind == OutputKind::kUser) return;
    CatTo(out, " -> ", kOutputKindNames[static_cast<size_t>(spec.kind)]);
    if (!spec.target.empty()) CatTo(out, " ", Quote(spec.target));
  }

  const Context& context_;
  const Program& program_;
  std::vector<std::string> graph_names_;
};

}  // namespace

bool ConstantsFollowFromInputs(const Program& program) {
  if (program.graphs.empty()) return program.constants.empty();
  const std::span<const NodeId> placeholders = program.main().inputs();
  size_t next = 0;
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const InputSpec& spec = program.inputs[i];
    if (!spec.constant.has_value()) continue;
    if (i >= placeholders.size() || spec.constant.index != next || next >= program.constants.size()) return false;
    const Constant& constant = program.constants[next++];
    const bool tensor = spec.kind == InputKind::kParameter || spec.kind == InputKind::kBuffer ||
                        spec.kind == InputKind::kTensorConstant;
    if (!tensor || constant.name != spec.target || constant.name.empty() || !constant.file_name.empty() ||
        !constant.opaque_class.empty() || constant.is_parameter != (spec.kind == InputKind::kParameter) ||
        constant.meta != program.main().meta(placeholders[i])) {
      return false;
    }
  }
  return next == program.constants.size();
}

std::string PrintNode(const Context& context, const Program& program, GraphId graph, NodeId node) {
  Printer printer(context, program);
  printer.PrintNode(program.graphs[graph.index].graph, node);
  return std::move(printer.out);
}

std::string PrintGraph(const Context& context, const Program& program, GraphId graph) {
  Printer printer(context, program);
  printer.PrintBody(graph, ConstantsFollowFromInputs(program));
  return std::move(printer.out);
}

std::string PrintProgram(const Context& context, const Program& program) {
  Printer printer(context, program);
  PrintSymbols(context, program, printer.out);
  const bool constants_follow = ConstantsFollowFromInputs(program);
  if (!constants_follow) printer.PrintConstants();
  for (uint32_t i = 0; i < program.graphs.size(); ++i) printer.PrintBody(GraphId{i}, constants_follow);
  return std::move(printer.out);
}

}  // namespace tare
