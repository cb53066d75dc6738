// Bytes per node, kept and under edit.
#include <malloc.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "aims.h"
#include "groups.h"
#include "meta/context_factory.h"
#include "meta/infer.h"
#include "programs.h"
#include "replay_passes.h"

namespace tare::bench {
namespace {

constexpr Aim kKept{48, "B"}, kEditing{76, "B"}, kOther{0, "B"};

int64_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

int64_t Nodes(const Program& program) {
  int64_t nodes = 0;
  for (const ProgramGraph& owner : program.graphs) nodes += owner.graph.num_nodes();
  return nodes;
}

template <typename MakeProgram>
void AddProgram(Context& context, const std::string& name, MakeProgram make) {
  const auto per_node = [](int64_t bytes, const Program& program) {
    return static_cast<double>(bytes) / static_cast<double>(Nodes(program));
  };
  RegisterOnce(absl::StrCat("memory/kept/", name), kKept, [=] {
    const Program program = make();
    int64_t bytes = 0;
    for (const ProgramGraph& owner : program.graphs) bytes += owner.graph.MemoryBytes();
    return Figure{per_node(bytes, program), absl::StrCat(Nodes(program), " nodes; definitions and order"), ""};
  });
  RegisterOnce(absl::StrCat("memory/editing/", name), kEditing, [=, &context] {
    Program program = make();
    const std::unique_ptr<Inferrer> inferrer = MakeInferrer(context);
    const Rewriter rw(program, *inferrer);
    int64_t bytes = rw.MemoryBytes();
    for (const ProgramGraph& owner : program.graphs) bytes += owner.graph.MemoryBytes();
    return Figure{per_node(bytes, program), "definitions, order, users, ops, queue", ""};
  });
  // All that a program allocates, names and locations too, when a first one has filled the stores.
  RegisterOnce(absl::StrCat("memory/program/", name), kOther, [=] {
    { const Program first = make(); }
    const int64_t before = HeapBytes();
    const Program program = make();
    return Figure{per_node(HeapBytes() - before, program), "heap: with names, locations, signature, JSON kept", ""};
  });
}

}  // namespace

void MemoryBenches() {
  const std::unique_ptr<Context> context = MakeContext();
  for (const int nodes : {1000, 10000, 100000}) {
    AddProgram(*context, absl::StrCat("chain-", nodes), [&, nodes] { return MakeChain(*context, nodes, 100); });
  }
  for (const char* net : {"ds_cnn/int8", "mobilenet_v2_035/int8", "swin/train", "llama_mini/train"}) {
    const std::string path = DataFile(absl::StrCat("nets/", net, ".pt2"));
    AddProgram(*context, net, [&, path] { return ReadOrDie(*context, path); });
  }
  for (const char* net : {"convnext/int8", "llama_mini/int8"}) {  // over 1,000 nodes
    const auto path = SharedFile(absl::StrCat("corpus/nets/", net, ".pt2"));
    if (path) AddProgram(*context, net, [&, path] { return ReadOrDie(*context, *path); });
  }
  RunRegistered();
}

}  // namespace tare::bench
