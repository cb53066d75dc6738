#include "ir/program.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "ir/context.h"

namespace tare {
namespace {

// What an argument of `output` returns.
MetaId ResultOf(Context& context, const Graph& graph, const AttrValue& value) {
  if (value.kind == AttrKind::kOperand) return graph.meta(graph.operands(graph.last())[value.operand]);
  const MetaId constant = MetaOf(context, value);
  return constant.has_value() ? constant : context.metas.None();
}

// What higher_order.wrap_with_autocast(device, dtype, enabled, cache, body, operands…) says of its body.
std::optional<DType> AutocastSaid(std::span<const NamedAttr> attrs) {
  if (attrs.size() > 2 && attrs[2].value.kind == AttrKind::kBool && !attrs[2].value.flag) return std::nullopt;
  if (attrs.size() > 1 && attrs[1].value.kind == AttrKind::kDType) return attrs[1].value.dtype;
  return DType::kBF16;  // the default on CPUs
}

constexpr size_t kLeastForgottenBytes = 1 << 16;

}  // namespace

void ForgetPages(const Payload& payload) {
  if (!payload.mapped || payload.bytes.size() < kLeastForgottenBytes) return;
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t address = reinterpret_cast<size_t>(payload.bytes.data());
  const size_t skipped = (page - address % page) % page;  // pages that others share stay
  const size_t whole = (payload.bytes.size() - skipped) / page * page;
  if (payload.bytes.size() > skipped && whole > 0)
    madvise(const_cast<std::byte*>(payload.bytes.data() + skipped), whole, MADV_DONTNEED);
}

std::vector<Payload> MappedSpans(std::span<const Constant> constants) {
  std::vector<Payload> spans;
  absl::flat_hash_map<const void*, size_t> of_file;  // by owner
  for (const Constant& constant : constants) {
    const Payload& part = constant.payload;
    if (!part.mapped || part.bytes.empty()) continue;
    const auto [at, fresh] = of_file.try_emplace(part.owner.get(), spans.size());
    if (fresh) spans.push_back(part);
    std::span<const std::byte>& all = spans[at->second].bytes;
    all = {std::min(all.data(), part.bytes.data()),
           std::max(all.data() + all.size(), part.bytes.data() + part.bytes.size())};
  }
  return spans;
}

bool Program::IsFunctional() const {
  for (const ProgramGraph& body : graphs) {
    const std::vector<uint32_t> counts = body.graph.CountOps();
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] != 0 && context->ops.Has(Op{static_cast<uint16_t>(i)}, kMutates)) return false;
    }
  }
  return true;
}

bool ProgramBodies::HasAutocast() const {
  const Op autocast = program_.context->ops.Find("higher_order.wrap_with_autocast");
  if (!autocast.has_value()) return false;
  for (size_t g = 1; g < program_.graphs.size(); ++g) {
    const ProgramGraph& body = program_.graphs[g];
    if (!body.owner.has_value() || !body.owner_graph.has_value()) continue;
    const Graph& around = program_.graphs[body.owner_graph.index].graph;
    if (around.Contains(body.owner) && around.op(body.owner) == autocast) return true;
  }
  return false;
}

// The innermost such node around the graph decides.
std::optional<DType> ProgramBodies::AutocastOf(GraphId id) const {
  const Op autocast = program_.context->ops.Find("higher_order.wrap_with_autocast");
  for (size_t depth = 0; depth < program_.graphs.size(); ++depth) {
    const ProgramGraph& body = program_.graphs[id.index];
    if (!body.owner_graph.has_value() || !body.owner.has_value()) return std::nullopt;
    const Graph& around = program_.graphs[body.owner_graph.index].graph;
    if (around.Contains(body.owner) && around.op(body.owner) == autocast) {
      return AutocastSaid(program_.context->attrs.Get(around.attrs(body.owner)));
    }
    id = body.owner_graph;
  }
  return std::nullopt;
}

absl::flat_hash_map<NodeId, ConstId> ReadableConstants(const Program& program) {
  absl::flat_hash_map<NodeId, ConstId> readable;
  if (!program.IsFunctional()) return readable;
  absl::flat_hash_set<std::string_view> replaced;
  for (const OutputSpec& output : program.outputs)
    if (output.kind == OutputKind::kBufferMutation || output.kind == OutputKind::kParameterMutation)
      replaced.insert(output.target);
  const std::span<const NodeId> inputs = program.main().inputs();
  for (size_t i = 0; i < inputs.size() && i < program.inputs.size(); ++i) {
    const InputSpec& spec = program.inputs[i];
    if (spec.constant.has_value() && !replaced.contains(spec.target)) readable.emplace(inputs[i], spec.constant);
  }
  return readable;
}

const Constant* ProgramBodies::ConstantOf(ConstId id) const {
  return id.index < program_.constants.size() ? &program_.constants[id.index] : nullptr;
}

BodyMetas ProgramBodies::Find(GraphId id) const {
  const ProgramGraph& body = program_.graphs[id.index];
  const Graph& graph = body.graph;
  BodyMetas metas;
  metas.single_tensor_return = body.single_tensor_return;
  for (const NodeId input : graph.inputs()) metas.inputs.push_back(graph.meta(input));
  for (const NamedAttr& attr : program_.context->attrs.Get(graph.attrs(graph.last()))) {
    if (attr.value.kind == AttrKind::kInts) {
      for (const int64_t value : attr.value.ints()) {
        metas.results.push_back(ResultOf(*program_.context, graph, AttrValue::Int(value)));
      }
    } else if (attr.value.kind == AttrKind::kList) {
      for (const AttrValue& value : attr.value.items()) {
        metas.results.push_back(ResultOf(*program_.context, graph, value));
      }
    }
  }
  return metas;
}

}  // namespace tare
