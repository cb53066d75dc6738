#include "tools/program_diff.h"

#include <algorithm>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "ir/context.h"
#include "ir/status.h"
#include "ir/text.h"

namespace tare {
namespace {

std::string Text(const Program& program, GraphId graph, NodeId node) {
  return PrintNode(*program.context, program, graph, node);
}

// Values of one graph on both sides. A side without the graph is empty.
class GraphDiff {
 public:
  GraphDiff(const Program& before, GraphId before_id, const Program& after, GraphId after_id,
            std::vector<DiffRow>& rows)
      : before_(before), before_id_(before_id), after_(after), after_id_(after_id), rows_(rows) {}

  void Run() {
    Index(before_, before_id_, in_before_);
    Index(after_, after_id_, in_after_);
    if (before_id_.has_value()) gone_ = GraphOf(before_, before_id_).first();
    if (after_id_.has_value()) {
      for (NodeId node : GraphOf(after_, after_id_).nodes()) AddNode(node);
    }
    AddGoneUntil(NodeId{});
  }

 private:
  using Names = absl::flat_hash_map<std::string_view, NodeId>;

  static const Graph& GraphOf(const Program& program, GraphId id) { return program.graphs[id.index].graph; }

  static void Index(const Program& program, GraphId id, Names& names) {
    if (!id.has_value()) return;
    const Graph& graph = GraphOf(program, id);
    for (NodeId node : graph.nodes()) names.emplace(graph.NameOf(node), node);
  }

  void AddNode(NodeId node) {
    const std::string_view name = GraphOf(after_, after_id_).NameOf(node);
    const auto found = in_before_.find(name);
    if (found == in_before_.end()) {
      Add(name, "", Text(after_, after_id_, node));
      return;
    }
    AddGoneUntil(found->second);
    const std::string before = Text(before_, before_id_, found->second), after = Text(after_, after_id_, node);
    if (before != after) Add(name, before, after);
  }

  // Values of `before` that are gone and stand before `stop`; each is added once.
  void AddGoneUntil(NodeId stop) {
    if (!before_id_.has_value()) return;
    const Graph& graph = GraphOf(before_, before_id_);
    if (stop.has_value() && gone_.has_value() && graph.Before(stop, gone_)) return;  // passed already
    while (gone_.has_value() && !(gone_ == stop)) {
      const std::string_view name = graph.NameOf(gone_);
      if (!in_after_.contains(name)) Add(name, Text(before_, before_id_, gone_), "");
      gone_ = graph.next(gone_);
    }
  }

  void Add(std::string_view name, std::string before, std::string after) {
    const Program& program = after_id_.has_value() ? after_ : before_;
    const GraphId id = after_id_.has_value() ? after_id_ : before_id_;
    rows_.push_back(
        {program.graphs[id.index].name, absl::StrCat("%", TextPiece(name)), std::move(before), std::move(after)});
  }

  const Program& before_;
  const GraphId before_id_;
  const Program& after_;
  const GraphId after_id_;
  std::vector<DiffRow>& rows_;
  Names in_before_, in_after_;
  NodeId gone_;  // next value of `before` not looked at
};

// A constant without its bytes.
std::string ConstantText(const Program& program, const Constant& constant) {
  std::string text = absl::StrCat("constant ", constant.name);
  if (constant.meta.has_value()) absl::StrAppend(&text, " : ", PrintMeta(*program.context, constant.meta));
  return text;
}

bool SameBytes(const Payload& a, const Payload& b) {
  return a.bytes.size() == b.bytes.size() &&
         (a.bytes.data() == b.bytes.data() || std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin()));
}

void DiffConstants(const Program& before, const Program& after, std::vector<DiffRow>& rows) {
  std::map<std::string, std::pair<const Constant*, const Constant*>> by_name;
  for (const Constant& constant : before.constants) by_name[constant.name].first = &constant;
  for (const Constant& constant : after.constants) by_name[constant.name].second = &constant;
  for (const auto& [name, pair] : by_name) {
    const auto& [a, b] = pair;
    std::string old_text = a == nullptr ? "" : ConstantText(before, *a);
    std::string new_text = b == nullptr ? "" : ConstantText(after, *b);
    if (a != nullptr && b != nullptr && old_text == new_text) {
      if (SameBytes(a->payload, b->payload)) continue;
      new_text += ", with other values";
    }
    rows.push_back({"main", name, std::move(old_text), std::move(new_text)});
  }
}

}  // namespace

std::vector<DiffRow> DiffPrograms(const Program& before, const Program& after) {
  std::vector<DiffRow> rows;
  std::map<std::string, uint32_t> before_graphs;
  for (uint32_t i = 0; i < before.graphs.size(); ++i) before_graphs.emplace(before.graphs[i].name, i);
  for (uint32_t i = 0; i < after.graphs.size(); ++i) {
    const auto found = before_graphs.find(after.graphs[i].name);
    GraphId before_id;
    if (i == 0) before_id = GraphId{0};  // main, whatever it is called
    if (i > 0 && found != before_graphs.end()) before_id = GraphId{found->second};
    if (found != before_graphs.end()) before_graphs.erase(found);
    GraphDiff(before, before_id, after, GraphId{i}, rows).Run();
  }
  for (const auto& [name, index] : before_graphs) {
    if (index != 0) GraphDiff(before, GraphId{index}, after, GraphId{}, rows).Run();
  }
  DiffConstants(before, after, rows);
  return rows;
}

std::string DiffText(const std::vector<DiffRow>& rows) {
  std::string text, graph = "main";
  for (const DiffRow& row : rows) {
    if (row.graph != graph) {
      graph = row.graph;
      absl::StrAppend(&text, "in ", graph, ":\n");
    }
    if (!row.before.empty()) absl::StrAppend(&text, "- ", row.before, "\n");
    if (!row.after.empty()) absl::StrAppend(&text, "+ ", row.after, "\n");
  }
  return text;
}

}  // namespace tare
