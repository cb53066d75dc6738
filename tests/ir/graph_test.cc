// Graphs against a naive model: a vector of nodes in order.
#include "ir/graph.h"

#include <doctest/doctest.h>
#include <time.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace tare {
namespace {

// User CPU time of this process, which other processes disturb less than the clock on the wall.
double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct ModelNode {
  NodeId id;
  Op op;
  MetaId meta;
  std::vector<NodeId> operands;
  std::string name;
};
using Model = std::vector<ModelNode>;

void CheckSame(const Graph& graph, const Model& model) {
  REQUIRE(graph.num_nodes() == model.size());
  size_t i = 0;
  NodeId before;
  for (const NodeId id : graph.nodes()) {
    REQUIRE(i < model.size());
    const ModelNode& want = model[i++];
    REQUIRE(id == want.id);
    REQUIRE(graph.Contains(id));
    REQUIRE(graph.op(id) == want.op);
    REQUIRE(graph.meta(id) == want.meta);
    REQUIRE(std::ranges::equal(graph.operands(id), want.operands));
    REQUIRE(graph.NameOf(id) == want.name);
    REQUIRE(graph.FindNode(want.name) == id);
    REQUIRE(graph.prev(id) == before);
    if (before.has_value()) REQUIRE(graph.Before(before, id));
    before = id;
  }
  REQUIRE(i == model.size());
  REQUIRE(graph.last() == before);
}

// One random edit of both.
void Edit(std::mt19937& random, Graph& graph, Model& model) {
  GraphEdit edit(graph);
  const auto pick = [&](size_t bound) { return random() % bound; };
  const auto operands = [&] {
    std::vector<NodeId> list(pick(8) == 0 ? pick(100) : pick(5));
    for (NodeId& id : list) id = model.empty() ? NodeId{0} : model[pick(model.size())].id;
    return list;
  };
  ModelNode node{{}, Op{static_cast<uint16_t>(pick(50))}, MetaId{static_cast<uint32_t>(pick(1000))}, operands(), ""};
  const auto def = [&] { return NodeDef{node.op, AttrsId{0}, node.meta, QuantId{0}, LocId{}, node.operands}; };
  switch (model.empty() ? 0 : pick(8)) {
    case 0:
      node.id = edit.Append(def(), "n");
      node.name = graph.NameOf(node.id);
      model.push_back(node);
      break;
    case 1:
    case 2:
    case 3: {
      const size_t at = pick(2) == 0 ? pick(model.size()) : std::min<size_t>(3, model.size() - 1);
      const std::string name(graph.mutable_lineage().UniqueName("inserted"));
      node.id = edit.InsertBefore(model[at].id, def(), name);
      node.name = name;
      model.insert(model.begin() + static_cast<ptrdiff_t>(at), node);
      break;
    }
    case 4: {
      const size_t from = pick(model.size()), to = pick(model.size());
      edit.MoveBefore(model[from].id, model[to].id);
      if (from == to) break;
      const ModelNode moved = model[from];
      const NodeId where = model[to].id;
      model.erase(model.begin() + static_cast<ptrdiff_t>(from));
      model.insert(std::ranges::find(model, where, &ModelNode::id), moved);
      break;
    }
    case 5: {
      ModelNode& old = model[pick(model.size())];
      if (pick(2) == 0) node.operands.assign(graph.operands(old.id).begin(), graph.operands(old.id).end());
      // Operands given may lie in the page itself.
      const NodeDef same{node.op, AttrsId{0}, node.meta, QuantId{0}, LocId{}, graph.operands(old.id)};
      const bool alias = std::ranges::equal(node.operands, graph.operands(old.id));
      edit.SetDef(old.id, alias ? same : def());
      old.op = node.op;
      old.meta = node.meta;
      old.operands = node.operands;
      break;
    }
    case 6: {
      const size_t at = pick(model.size());
      edit.Erase(model[at].id);
      model.erase(model.begin() + static_cast<ptrdiff_t>(at));
      break;
    }
    default: {
      ModelNode& old = model[pick(model.size())];
      old.meta = node.meta;
      edit.SetMeta(old.id, old.meta);
      if (old.operands.empty()) break;
      const size_t index = pick(old.operands.size());
      old.operands[index] = model[pick(model.size())].id;
      edit.SetOperand(old.id, static_cast<uint32_t>(index), old.operands[index]);
    }
  }
}

TEST_CASE("random edits agree with a vector; copies never change") {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    Graph graph;
    Model model;
    std::vector<std::pair<Graph, Model>> versions;
    for (int step = 0; step < 600; ++step) {
      Edit(random, graph, model);
      if (random() % 40 == 0) versions.emplace_back(graph, model);
      if (random() % 200 == 0 && !versions.empty()) {  // back to a version, as after a failed pass
        const size_t at = random() % versions.size();
        graph = versions[at].first;
        model = versions[at].second;
      }
    }
    CheckSame(graph, model);
    for (const auto& [version, want] : versions) CheckSame(version, want);
  }
}

Graph Chain(uint32_t count, std::string_view name = "n") {
  Graph graph;
  NodeId last;
  for (uint32_t i = 0; i < count; ++i) {
    const NodeDef def{Op{7}, AttrsId{0}, MetaId{0}, QuantId{0}, LocId{}, {&last, i == 0 ? 0u : 1u}};
    last = GraphEdit(graph).Append(def, name);
  }
  return graph;
}

TEST_CASE("a copy shares pages until one is written") {
  Graph graph = Chain(1000);
  const Graph copy = graph;
  CHECK(copy.SameVersion(graph));
  CHECK(graph.num_pages() == 16);
  GraphEdit(graph).SetMeta(NodeId{70}, MetaId{1});
  CHECK(!copy.SameVersion(graph));
  CHECK(graph.PagesDiffering(copy) == 1);
  CHECK(copy.meta(NodeId{70}) == MetaId{0});
  GraphEdit(graph).SetMeta(NodeId{70}, MetaId{0});
  CHECK(!copy.SameVersion(graph));  // equal by value, yet not shared
  CHECK(graph.MemoryBytes() < 1024 * 48 + 4096);
  CHECK(graph.CountOps()[7] == 1000);
}

TEST_CASE("pages hold a no-op in slots of erased nodes and go when they are empty") {
  Graph graph = Chain(130);
  const Page* page = graph.page(1);
  GraphEdit(graph).Erase(NodeId{129});
  GraphEdit(graph).Erase(NodeId{128});
  CHECK(graph.page(2) == nullptr);
  GraphEdit(graph).Erase(NodeId{100});
  CHECK(graph.page(1) == page);  // alone: written in place
  CHECK(page->op[100 - 64] == kDeadOp);
  CHECK((page->live >> (100 - 64) & 1) == 0);
  CHECK(!graph.Contains(NodeId{100}));
  CHECK(graph.id_bound() == 130);
  const NodeDef def{Op{1}, AttrsId{0}, MetaId{0}, QuantId{0}, LocId{}, {}};
  CHECK(GraphEdit(graph).Append(def, "late") == NodeId{130});
}

TEST_CASE("names depend on one's own history only") {
  const NodeDef def{Op{1}, AttrsId{0}, MetaId{0}, QuantId{0}, LocId{}, {}};
  Graph graph = Chain(3);
  Graph left = graph, right = graph;
  CHECK(left.NameOf(GraphEdit(left).Append(def, "n")) == "n_3");
  CHECK(right.NameOf(GraphEdit(right).Append(def, "n")) == "n_3");
  CHECK(graph.NameOf(GraphEdit(graph).Append(def, "n")) == "n_3");
  CHECK(left.mutable_lineage().UniqueName("x") == "x");
  CHECK(right.mutable_lineage().UniqueName("x") == "x");
  Graph moved = std::move(left);
  CHECK(moved.mutable_lineage().UniqueName("x") == "x_1");
}

TEST_CASE("inserting at one place relabels little") {
  Graph graph = Chain(20000);
  const NodeDef def{Op{1}, AttrsId{0}, MetaId{0}, QuantId{0}, LocId{}, {}};
  const double start = CpuSeconds();
  for (int i = 0; i < 20000; ++i) GraphEdit(graph).InsertBefore(NodeId{10000}, def, "i");
  for (int i = 0; i < 20000; ++i) GraphEdit(graph).InsertBefore(graph.first(), def, "f");
  CHECK(CpuSeconds() - start < 2);
  uint32_t last = 0;
  size_t count = 0;
  for (const NodeId id : graph.nodes()) {
    if (count++ > 0) REQUIRE(graph.Position(id) > last);
    last = graph.Position(id);
  }
  CHECK(count == 60000);
}

TEST_CASE("equal names cost no more than linear time") {
  const auto seconds = [](uint32_t count) {
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      const double start = CpuSeconds();
      const Graph graph = Chain(count);
      CHECK(graph.NameOf(NodeId{count - 1}) == "n_" + std::to_string(count - 1));
      best = std::min(best, CpuSeconds() - start);
    }
    return best;
  };
  seconds(10500);
  CHECK(seconds(21000) <= 2.5 * seconds(10500));
  // Names that look like made ones do not bring back a quadratic search.
  Lineage lineage;
  for (int i = 1; i < 20000; ++i) lineage.UniqueName("n_" + std::to_string(i));
  const double start = CpuSeconds();
  for (int i = 0; i < 20000; ++i) lineage.UniqueName("n");
  CHECK(CpuSeconds() - start < 1);
}

}  // namespace
}  // namespace tare
