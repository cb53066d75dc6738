#include "ir/lineage.h"

#include <algorithm>
#include <charconv>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "ir/intern_table.h"
#include "ir/status.h"

namespace tare {
namespace {

struct NameTraits {
  using Record = std::string_view;
  static uint64_t Hash(std::string_view text) { return MixHash(0, text); }
  static bool Equal(std::string_view a, std::string_view b) { return a == b; }
  static std::string_view Copy(std::string_view text, Arena& arena) { return CopyTo(arena, text); }
};

struct SourceTraits {
  using Record = std::span<const MetadataEntry>;
  static uint64_t Hash(Record entries) {
    uint64_t h = entries.size();
    for (const auto& [key, value] : entries) h = MixHash(MixHash(h, key), value);
    return MixHash(h, 0);
  }
  static bool Equal(Record a, Record b) { return std::ranges::equal(a, b); }
  static Record Copy(Record entries, Arena& arena) {
    if (entries.empty()) return {};
    MetadataEntry* copy = arena.Allocate<MetadataEntry>(entries.size());
    for (size_t i = 0; i < entries.size(); ++i) {
      new (copy + i) MetadataEntry(CopyTo(arena, entries[i].first), CopyTo(arena, entries[i].second));
    }
    return {copy, entries.size()};
  }
};

struct Event {
  LocId parent;     // none: a root
  uint32_t source;  // of its root; UINT32_MAX = unknown
  std::string_view pass;
};
struct EventTraits {
  using Record = Event;
  static uint64_t Hash(const Event& e) { return MixHash(MixHash(e.parent.index, e.source), e.pass); }
  static bool Equal(const Event& a, const Event& b) {
    return a.parent == b.parent && a.source == b.source && a.pass == b.pass;
  }
  static Event Copy(const Event& e, Arena& arena) { return {e.parent, e.source, CopyTo(arena, e.pass)}; }
};

// Splits at `separator` outside of brackets and returns the last part.
std::string_view LastPart(std::string_view text, char separator) {
  int depth = 0;
  for (size_t i = text.size(); i > 0; --i) {
    const char c = text[i - 1];
    if (c == ']' || c == ')') ++depth;
    if (c == '[' || c == '(') --depth;
    if (c == separator && depth == 0) return text.substr(i);
  }
  return text;
}

// Innermost frame of `File "x.py", line 26, in forward`: the last one.
void ReadFrame(std::string_view trace, SourceLoc& loc) {
  constexpr std::string_view kFile = "File \"", kLine = ", line ", kIn = ", in ";
  const size_t start = trace.rfind(kFile);
  if (start == std::string_view::npos) return;
  trace.remove_prefix(start + kFile.size());
  trace = trace.substr(0, trace.find('\n'));
  const size_t quote = trace.find('"');
  if (quote == std::string_view::npos) return;
  loc.file = trace.substr(0, quote);
  trace.remove_prefix(quote + 1);
  if (trace.substr(0, kLine.size()) != kLine) return;
  trace.remove_prefix(kLine.size());
  std::from_chars(trace.data(), trace.data() + trace.size(), loc.line);
  const size_t in = trace.find(kIn);
  if (in != std::string_view::npos) loc.function = trace.substr(in + kIn.size());
}

// Last item of `key,path,type;key,path,type`.
void ReadModule(std::string_view stack, SourceLoc& loc) {
  std::string_view item = LastPart(stack, ';');
  const std::string_view type = LastPart(item, ',');
  if (type.size() == item.size()) return;
  item.remove_suffix(type.size() + 1);
  loc.module_type = type;
  const std::string_view path = LastPart(item, ',');
  if (path.size() != item.size()) loc.module_path = path;
}

std::string_view AfterLast(std::string_view text, char c) {
  const size_t at = text.rfind(c);
  return at == std::string_view::npos ? text : text.substr(at + 1);
}

}  // namespace

// What all lineages that grew from one share; thread-safe by itself.
struct Lineage::Shared {
  InternTable<NameTraits, 0> texts;
  InternTable<SourceTraits, 0> sources;
  InternTable<EventTraits, 0> events;
};

struct Lineage::Impl {
  std::shared_ptr<Shared> shared;
  ChunkedArray<std::string_view> names;  // by node
  mutable std::mutex mutex;              // of all below
  // Names of nodes below `indexed`, and reserved ones (no value).
  mutable absl::flat_hash_map<std::string_view, NodeId> index;
  mutable uint32_t indexed = 0;
  absl::flat_hash_map<std::string_view, uint32_t> next_suffix;

  std::string_view Text(std::string_view text) { return shared->texts[shared->texts.Intern(text)]; }
  void Index() const {
    if (indexed == names.size()) return;
    index.reserve(names.size());
    for (; indexed < names.size(); ++indexed) index.try_emplace(names[indexed], NodeId{indexed});
  }
  std::string_view Reserve(std::string_view wanted) {
    if (wanted.empty()) wanted = "value";
    Index();
    if (!index.contains(wanted)) {
      const std::string_view name = Text(wanted);
      index.emplace(name, NodeId{});
      return name;
    }
    uint32_t& suffix = next_suffix[Text(wanted)];
    for (;;) {
      const std::string name = Cat(wanted, "_", ++suffix);
      if (index.contains(name)) continue;
      const std::string_view kept = Text(name);
      index.emplace(kept, NodeId{});
      return kept;
    }
  }
};

Lineage::Lineage() : impl_(std::make_unique<Impl>()) { impl_->shared = std::make_shared<Shared>(); }
Lineage::Lineage(const Lineage& other, uint32_t id_bound) : impl_(std::make_unique<Impl>()) {
  impl_->shared = other.impl_->shared;
  for (uint32_t i = 0; i < id_bound; ++i) impl_->names.Append(other.impl_->names[i]);
}
Lineage::~Lineage() = default;

LocId Lineage::AddSource(std::span<const MetadataEntry> metadata) {
  return LocId{impl_->shared->events.Intern({LocId{}, impl_->shared->sources.Intern(metadata), {}})};
}

LocId Lineage::AddPass(LocId parent, std::string_view pass) {
  auto& events = impl_->shared->events;
  const uint32_t source = parent.has_value() ? events[parent.index].source : UINT32_MAX;
  return LocId{events.Intern({parent, source, pass})};
}

std::span<const MetadataEntry> Lineage::Metadata(LocId id) const {
  if (!id.has_value()) return {};
  const uint32_t source = impl_->shared->events[id.index].source;
  return source == UINT32_MAX ? std::span<const MetadataEntry>() : impl_->shared->sources[source];
}

SourceLoc Lineage::Source(LocId id) const {
  SourceLoc loc;
  for (const auto& [key, value] : Metadata(id)) {
    if (key == "stack_trace") ReadFrame(value, loc);
    if (key == "nn_module_stack") ReadModule(value, loc);
  }
  return loc;
}

std::string_view Lineage::PassOf(LocId id) const {
  return id.has_value() ? impl_->shared->events[id.index].pass : std::string_view();
}

LocId Lineage::Parent(LocId id) const { return id.has_value() ? impl_->shared->events[id.index].parent : LocId{}; }

std::string Lineage::Describe(LocId id) const {
  const SourceLoc loc = Source(id);
  std::string out;
  if (!loc.file.empty()) out = Cat(AfterLast(loc.file, '/'), ":", loc.line);
  const std::string_view type = AfterLast(loc.module_type, '.');
  if (!loc.function.empty() || !type.empty()) {
    const bool both = !loc.function.empty() && !type.empty();
    CatTo(out, out.empty() ? "in " : " in ", type, both ? "." : "", loc.function);
  }
  const std::string_view pass = PassOf(id);
  if (!pass.empty()) {
    const bool created = !Parent(id).has_value();
    CatTo(out, out.empty() ? "" : ", ", created ? "created by " : "redefined by ", pass);
  }
  return out;
}

std::string_view Lineage::UniqueName(std::string_view wanted) {
  std::lock_guard lock(impl_->mutex);
  return impl_->Reserve(wanted);
}

std::string_view Lineage::NameOf(NodeId id) const { return impl_->names[id.index]; }

NodeId Lineage::Find(std::string_view name) const {
  std::lock_guard lock(impl_->mutex);
  impl_->Index();
  const auto found = impl_->index.find(name);
  return found == impl_->index.end() ? NodeId{} : found->second;
}

uint32_t Lineage::id_bound() const { return impl_->names.size(); }

NodeId Lineage::AddNode(std::string_view name) {
  std::lock_guard lock(impl_->mutex);
  impl_->Index();
  auto found = impl_->index.find(name);
  if (found == impl_->index.end() && !name.empty()) {
    found = impl_->index.emplace(impl_->Text(name), NodeId{}).first;
  } else if (found == impl_->index.end() || found->second.has_value()) {
    found = impl_->index.find(impl_->Reserve(name));
  }
  found->second = NodeId{impl_->names.Append(found->first)};
  impl_->indexed = impl_->names.size();
  return found->second;
}

}  // namespace tare
