// The exporter's guards as facts: what it checks before it runs the program, and so what holds in it.
//
// A guard is Python text on the inputs, `L['x'].size()[0] % 4 == 0`. Those within the grammar of
// expressions whose inputs are found become axioms; others stay text only. So do the conditions that
// the program itself asserts.
#include <charconv>

#include "formats/pt2/pt2_limits.h"
#include "formats/pt2/reader.h"
#include "ir/asserted.h"

namespace tare::pt2 {
namespace {

// `L['d']['a'][0].size()[1]`: input d_a_0, dim 1. Inputs are named by their path.
struct GuardSource {
  std::string input;
  std::string_view method;  // "size", "stride", "storage_offset" or "" for the input itself
  int64_t index = -1;
};

void AppendPart(std::string& name, std::string_view part) {
  if (!name.empty()) name += '_';
  for (const char c : part) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    name += word ? c : '_';
  }
}

std::optional<GuardSource> ParseSource(std::string_view text) {
  GuardSource source;
  if (!text.starts_with("L[")) return std::nullopt;
  text.remove_prefix(1);
  while (text.starts_with("[")) {
    const size_t end = text.find(']');
    if (end == text.npos || end < 2) return std::nullopt;
    std::string_view part = text.substr(1, end - 1);
    if (part.size() >= 2 && (part[0] == '\'' || part[0] == '"')) part = part.substr(1, part.size() - 2);
    AppendPart(source.input, part);
    text.remove_prefix(end + 1);
  }
  if (text.empty()) return source;
  const size_t call = text.find("()");
  if (text[0] != '.' || call == text.npos) return std::nullopt;
  source.method = text.substr(1, call - 1);
  text.remove_prefix(call + 2);
  if (text.empty()) return source;
  if (text.front() != '[' || text.back() != ']') return std::nullopt;
  const auto [last, error] = std::from_chars(text.data() + 1, text.data() + text.size() - 1, source.index);
  if (error != std::errc() || last != text.data() + text.size() - 1) return std::nullopt;
  return source;
}

class GuardScope final : public SymbolScope {
 public:
  explicit GuardScope(Reader& reader) : reader_(reader) {
    const Graph& main = reader.program.main();
    for (size_t i = 0; i < reader.program.inputs.size(); ++i) {
      if (reader.program.inputs[i].kind == InputKind::kUser)
        inputs_.emplace(main.NameOf(main.inputs()[i]), main.meta(main.inputs()[i]));
    }
  }

  absl::StatusOr<ExprId> Resolve(std::string_view name) override {
    SymStore& syms = reader_.context.syms;
    const std::optional<GuardSource> source = ParseSource(name);
    if (!source) return reader_.symbols.Resolve(name);
    const auto input = inputs_.find(std::string_view(source->input));
    if (input == inputs_.end()) return InvalidError("expr_c5", "no input ", source->input);
    const Meta& meta = reader_.context.metas.Get(input->second);
    if (source->method.empty()) {
      if (meta.kind == MetaKind::kInt) return syms.OfDim(meta.value);
      if (meta.kind == MetaKind::kFloat || meta.kind == MetaKind::kBool) return meta.expr;
    } else if (meta.kind == MetaKind::kTensor) {
      if (source->method == "storage_offset") return syms.OfDim(meta.tensor.offset);
      const std::span<const Dim> dims = source->method == "size"     ? meta.tensor.shape
                                        : source->method == "stride" ? meta.tensor.strides
                                                                     : std::span<const Dim>{};
      if (source->index >= 0 && source->index < static_cast<int64_t>(dims.size()))
        return syms.OfDim(dims[static_cast<size_t>(source->index)]);
    }
    return InvalidError("expr_c5", "no value of an input");
  }

 private:
  Reader& reader_;
  absl::flat_hash_map<std::string_view, MetaId> inputs_;
};

}  // namespace

void ReadGuards(Reader& reader) {
  GuardScope scope(reader);
  std::vector<ExprId> axioms;
  for (const std::string& guard : reader.program.guards_code) {
    if (axioms.size() == kMaxGuards) break;
    const absl::StatusOr<ExprId> axiom = ParseExpr(guard, reader.context.syms, scope);
    if (axiom.ok() && reader.context.syms.type(*axiom) == ExprType::kBool) axioms.push_back(*axiom);
  }
  const std::vector<ExprId> asserted = AssertedConditions(reader.program);
  axioms.insert(axioms.end(), asserted.begin(), asserted.end());
  if (!axioms.empty()) reader.program.facts = reader.context.syms.MakeFacts(axioms);
}

}  // namespace tare::pt2
