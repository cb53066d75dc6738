#include "ir/op_table.h"

#include <atomic>
#include <mutex>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/intern_table.h"
#include "ir/status.h"

namespace tare {
namespace {

constexpr OpDef kPseudoOps[kNumPseudoOps] = {
    {"placeholder", "() -> Any", kPseudo, -1, "An input of the graph; its metadata is given.", ""},
    {"output", "(Any args) -> ()", kPseudo | kEffect, -1, "What the graph returns, in `args`.", ""},
    {"getitem", "(Tensor self, int index) -> Any", kPseudo | kPure | kView, -1, "Element of a tuple or list.", ""},
    {"constant", "(int const) -> Tensor", kPseudo | kPure, -1, "Value of a constant of the program.", ""},
};

struct OpRow {
  OpDef def;
  // Parsed on first use; null until then, `no_schema` when there is none.
  std::atomic<const Schema*>* schema = nullptr;
};

}  // namespace

std::span<const OpDef> PseudoOps() { return kPseudoOps; }

struct OpTable::Impl {
  explicit Impl(std::span<const OpDef> rows, StringPool& strings) : builtin(rows), pool(strings) {
    schemas = std::make_unique<std::atomic<const Schema*>[]>(builtin.size());
    builtin_index.reserve(builtin.size());
    for (size_t i = 0; i < builtin.size(); ++i) builtin_index.emplace(builtin[i].name, static_cast<uint16_t>(i));
  }
  ~Impl() {
    for (size_t i = 0; i < builtin.size(); ++i) Release(schemas[i].load());
    for (uint32_t i = 0; i < added.size(); ++i) {
      Release(added[i].schema->load());
      delete added[i].schema;
    }
  }
  void Release(const Schema* schema) const {
    if (schema != &no_schema) delete schema;
  }
  Op FindAdded(std::string_view name) const {  // with the lock
    const auto found = added_index.find(name);
    return found == added_index.end() ? Op{} : Op{found->second};
  }
  Op Append(const OpDef& def) {  // with the lock
    OpDef copy = def;
    copy.name = pool.Intern(def.name);
    copy.schema_text = pool.Intern(def.schema_text);
    copy.doc = pool.Intern(def.doc);
    copy.source = pool.Intern(def.source);
    const auto index = static_cast<uint16_t>(builtin.size() + added.size());
    added.Append({copy, new std::atomic<const Schema*>(nullptr)});
    added_index.emplace(copy.name, index);
    return Op{index};
  }
  bool Full() const { return builtin.size() + added.size() >= kMaxOps; }

  std::span<const OpDef> builtin;
  StringPool& pool;
  const Schema no_schema;
  std::unique_ptr<std::atomic<const Schema*>[]> schemas;  // of builtin ops
  absl::flat_hash_map<std::string_view, uint16_t> builtin_index;
  ChunkedArray<OpRow> added;
  mutable std::mutex mutex;  // of added_index, and to append
  absl::flat_hash_map<std::string_view, uint16_t> added_index;
};

OpTable::OpTable(std::span<const OpDef> builtin, StringPool& pool) {
  TARE_CHECK(builtin.size() >= static_cast<size_t>(kNumPseudoOps) && builtin.size() < kMaxOps / 2);
  for (int i = 0; i < kNumPseudoOps; ++i) TARE_CHECK(builtin[i].name == kPseudoOps[i].name);
  impl_ = std::make_unique<Impl>(builtin, pool);
}
OpTable::~OpTable() = default;

Op OpTable::Find(std::string_view name) const {
  const auto found = impl_->builtin_index.find(name);
  if (found != impl_->builtin_index.end()) return Op{found->second};
  std::lock_guard lock(impl_->mutex);
  return impl_->FindAdded(name);
}

absl::StatusOr<Op> OpTable::Add(const OpDef& def) {
  const auto same = [&](Op op) -> absl::StatusOr<Op> {
    if (Get(op).schema_text == def.schema_text) return op;
    return CheckError(absl::StatusCode::kAlreadyExists, "op_c1",
                      Cat(def.name, " is there with another schema: ", Get(op).schema_text));
  };
  const auto found = impl_->builtin_index.find(def.name);
  if (found != impl_->builtin_index.end()) return same(Op{found->second});
  std::lock_guard lock(impl_->mutex);
  if (const Op op = impl_->FindAdded(def.name); op.has_value()) return same(op);
  if (impl_->Full()) return CheckError(absl::StatusCode::kResourceExhausted, "op_c2", "too many operators");
  return impl_->Append(def);
}

Op OpTable::FindOrDeclare(std::string_view name) {
  const auto found = impl_->builtin_index.find(name);
  if (found != impl_->builtin_index.end()) return Op{found->second};
  std::lock_guard lock(impl_->mutex);
  if (const Op op = impl_->FindAdded(name); op.has_value()) return op;
  if (impl_->Full()) return Op{};
  return impl_->Append({.name = name, .traits = kDeclared});
}

const OpDef& OpTable::Get(Op op) const {
  const size_t count = impl_->builtin.size();
  return op.index < count ? impl_->builtin[op.index] : impl_->added[op.index - static_cast<uint32_t>(count)].def;
}

const Schema* OpTable::schema(Op op) const {
  const size_t count = impl_->builtin.size();
  std::atomic<const Schema*>& slot =
      op.index < count ? impl_->schemas[op.index] : *impl_->added[op.index - static_cast<uint32_t>(count)].schema;
  const Schema* schema = slot.load(std::memory_order_acquire);
  if (schema == nullptr) {
    const std::string_view text = Get(op).schema_text;
    const Schema* fresh = &impl_->no_schema;
    if (!text.empty()) {
      absl::StatusOr<Schema> parsed = ParseSchema(text, impl_->pool);
      if (parsed.ok()) fresh = new Schema(*std::move(parsed));
    }
    if (slot.compare_exchange_strong(schema, fresh, std::memory_order_acq_rel)) {
      schema = fresh;
    } else {
      impl_->Release(fresh);
    }
  }
  return schema == &impl_->no_schema ? nullptr : schema;
}

int OpTable::size() const { return static_cast<int>(impl_->builtin.size() + impl_->added.size()); }
int OpTable::builtin_count() const { return static_cast<int>(impl_->builtin.size()); }

}  // namespace tare
