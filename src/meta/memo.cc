#include "meta/memo.h"

#include <algorithm>

namespace tare {
namespace {

bool SameKey(const MemoKey& a, const MemoKey& b) {
  return a.rules == b.rules && a.facts == b.facts && a.op == b.op && a.attrs == b.attrs && a.quant == b.quant &&
         a.spec == b.spec && a.values == b.values &&
         std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(), b.operands.end());
}

struct KeyAndHash {
  const MemoKey& key;
  uint64_t hash;
};
uint64_t FullHash(const MemoKey& key, uint64_t session_hash) {
  return (session_hash ^ key.rules ^ (key.facts * 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;
}

struct EntryHash {
  using is_transparent = void;
  size_t operator()(const MemoEntry* entry) const { return FullHash(entry->key, entry->session_hash); }
  size_t operator()(const KeyAndHash& key) const { return FullHash(key.key, key.hash); }
};
struct EntryEqual {
  using is_transparent = void;
  bool operator()(const MemoEntry* a, const MemoEntry* b) const { return a == b || SameKey(a->key, b->key); }
  bool operator()(const MemoEntry* a, const KeyAndHash& b) const { return SameKey(a->key, b.key); }
  bool operator()(const KeyAndHash& a, const MemoEntry* b) const { return SameKey(a.key, b->key); }
};

template <typename T>
std::span<const T> Keep(llvm::BumpPtrAllocator& arena, std::span<const T> values) {
  T* copy = arena.Allocate<T>(values.size());
  std::uninitialized_copy(values.begin(), values.end(), copy);
  return {copy, values.size()};
}

}  // namespace

struct alignas(64) SharedMemo::Shard {
  mutable std::mutex mutex;
  absl::flat_hash_set<MemoEntry*, EntryHash, EntryEqual> entries;
  llvm::BumpPtrAllocator arena;
};

SharedMemo::SharedMemo() : shards_(new Shard[kShards]) {}
SharedMemo::~SharedMemo() {
  for (int i = 0; i < kShards; ++i) {
    for (MemoEntry* entry : shards_[i].entries) entry->~MemoEntry();
  }
}

const MemoEntry* SharedMemo::Find(const MemoKey& key, uint64_t session_hash) {
  Shard& shard = shards_[(session_hash >> 20) % kShards];
  const std::lock_guard<std::mutex> lock(shard.mutex);
  const auto found = shard.entries.find(KeyAndHash{key, session_hash});
  return found == shard.entries.end() ? nullptr : *found;
}

const MemoEntry* SharedMemo::Insert(const MemoKey& key, uint64_t session_hash, const InferResult& result,
                                    absl::Status status) {
  Shard& shard = shards_[(session_hash >> 20) % kShards];
  const std::lock_guard<std::mutex> lock(shard.mutex);
  const auto found = shard.entries.find(KeyAndHash{key, session_hash});
  if (found != shard.entries.end()) return *found;
  auto* entry = new (shard.arena.Allocate<MemoEntry>()) MemoEntry{key, session_hash, result, std::move(status)};
  entry->key.operands = Keep(shard.arena, key.operands);
  entry->result.guards = Keep(shard.arena, result.guards);
  shard.entries.insert(entry);
  return entry;
}

int64_t SharedMemo::size() const {
  int64_t total = 0;
  for (int i = 0; i < kShards; ++i) {
    const std::lock_guard<std::mutex> lock(shards_[i].mutex);
    total += static_cast<int64_t>(shards_[i].entries.size());
  }
  return total;
}

void SessionMemo::Insert(const MemoEntry* entry) {
  if (2 * (used_ + 1) > slots_.size()) {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.entry == nullptr) continue;
      uint64_t at = slot.hash & (slots_.size() - 1);
      while (slots_[at].entry != nullptr) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }
  uint64_t at = entry->session_hash & (slots_.size() - 1);
  while (slots_[at].entry != nullptr) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {entry->session_hash, entry};
  ++used_;
}

void SessionMemo::Clear() {
  std::fill(slots_.begin(), slots_.end(), Slot{});
  used_ = 0;
}

std::shared_ptr<void> MakeMemo() { return std::make_shared<SharedMemo>(); }

}  // namespace tare
