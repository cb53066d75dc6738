// The table behind the interning stores: records by content, ids dense from 0.
//
// Finding a record that is there takes no lock; adding one takes the lock of its shard. A table
// that grew is kept until the end, since readers may still walk it: at most as much memory again.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ir/status.h"
#include "llvm/Support/Allocator.h"

namespace tare {

// Grows without moving its elements. Chunk k holds 64 << k of them. Any thread may read an element
// it learnt the index of; Append needs no lock either.
template <typename T>
class ChunkedArray {
 public:
  static_assert(std::is_trivially_destructible_v<T>);
  ChunkedArray() = default;
  ChunkedArray(const ChunkedArray&) = delete;
  ~ChunkedArray() {
    for (auto& chunk : chunks_) ::operator delete(chunk.load(), std::align_val_t(kAlign));
  }

  uint32_t size() const { return size_.load(std::memory_order_acquire); }
  const T& operator[](uint32_t i) const { return chunks_[ChunkOf(i)].load(std::memory_order_acquire)[OffsetOf(i)]; }
  T& Mutable(uint32_t i) { return chunks_[ChunkOf(i)].load(std::memory_order_acquire)[OffsetOf(i)]; }
  uint32_t Append(const T& value) {
    const uint32_t i = size_.fetch_add(1, std::memory_order_acq_rel);
    TARE_CHECK(i < (1u << 31));
    new (Chunk(ChunkOf(i)) + OffsetOf(i)) T(value);
    return i;
  }
  int64_t bytes() const {
    int64_t total = 0;
    for (int k = 0; k < kChunks; ++k) {
      if (chunks_[k].load(std::memory_order_relaxed) != nullptr) total += static_cast<int64_t>(sizeof(T)) * (64ll << k);
    }
    return total;
  }

 private:
  static constexpr int kChunks = 26;
  static constexpr size_t kAlign = 64;
  static int ChunkOf(uint32_t i) { return std::bit_width(i + 64) - 7; }
  static uint32_t OffsetOf(uint32_t i) { return i + 64 - (64u << ChunkOf(i)); }
  T* Chunk(int k) {
    T* chunk = chunks_[k].load(std::memory_order_acquire);
    if (chunk != nullptr) return chunk;
    T* fresh = static_cast<T*>(::operator new(sizeof(T) * (size_t{64} << k), std::align_val_t(kAlign)));
    if (chunks_[k].compare_exchange_strong(chunk, fresh, std::memory_order_acq_rel)) return fresh;
    ::operator delete(fresh, std::align_val_t(kAlign));
    return chunk;
  }

  std::atomic<uint32_t> size_{0};
  std::atomic<T*> chunks_[kChunks] = {};
};

// One step of a multiply-and-fold hash.
inline uint64_t MixHash(uint64_t seed, uint64_t value) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(seed ^ 0x9e3779b97f4a7c15u) * (value ^ 0xd6e8feb86659fd93u);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}
inline uint64_t MixHash(uint64_t seed, std::string_view text) {
  uint64_t h = MixHash(seed, text.size());
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    h = MixHash(h, word);
  }
  uint64_t word = 0;
  if (i < text.size()) std::memcpy(&word, text.data() + i, text.size() - i);
  return MixHash(h, word);
}

using Arena = llvm::BumpPtrAllocator;

template <typename T>
std::span<const T> CopyTo(Arena& arena, std::span<const T> values) {
  static_assert(std::is_trivially_destructible_v<T>);
  if (values.empty()) return {};
  T* copy = arena.Allocate<T>(values.size());
  std::uninitialized_copy(values.begin(), values.end(), copy);
  return {copy, values.size()};
}
inline std::string_view CopyTo(Arena& arena, std::string_view text) {
  const std::span<const char> copy = CopyTo(arena, std::span<const char>(text.data(), text.size()));
  return {copy.data(), copy.size()};
}

// Traits: `Record`; `Hash(record)`; `Equal(record, record)`; `Copy(record, arena)` with everything
// the record points to.
template <typename Traits, int kShardBits = 4>
class InternTable {
 public:
  using Record = typename Traits::Record;
  InternTable() = default;
  ~InternTable() {
    for (Shard& shard : shards_) {
      for (Slots* slots = shard.slots.load(); slots != nullptr;) {
        Slots* older = slots->older;
        delete slots;
        slots = older;
      }
    }
  }

  uint32_t Intern(const Record& key) {
    const uint64_t hash = Traits::Hash(key);
    Shard& shard = shards_[kShardBits == 0 ? 0 : hash >> (64 - std::max(kShardBits, 1))];
    uint32_t id = Find(shard.slots.load(std::memory_order_acquire), hash, key);
    if (id != kAbsent) {
      // Counted without a locked instruction: exact with one thread, close with more.
      shard.hits.store(shard.hits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return id;
    }
    std::lock_guard lock(shard.mutex);
    id = Find(shard.slots.load(std::memory_order_relaxed), hash, key);
    if (id != kAbsent) return id;
    id = records_.Append(Traits::Copy(key, shard.arena));
    Slots* slots = RoomFor(shard);
    Put(*slots, SlotOf(hash, id), hash);
    ++shard.count;
    return id;
  }

  const Record& operator[](uint32_t id) const { return records_[id]; }
  uint32_t size() const { return records_.size(); }

  template <typename Stats>
  Stats stats() const {
    Stats stats;
    stats.entries = stats.misses = records_.size();
    stats.bytes = records_.bytes();
    for (const Shard& shard : shards_) {
      std::lock_guard lock(shard.mutex);
      stats.hits += shard.hits.load(std::memory_order_relaxed);
      stats.bytes += static_cast<int64_t>(shard.arena.getTotalMemory());
      for (const Slots* s = shard.slots.load(); s != nullptr; s = s->older) stats.bytes += (s->mask + 1) * int64_t{8};
    }
    return stats;
  }

 private:
  static constexpr uint32_t kAbsent = UINT32_MAX;
  // A slot is the upper half of the hash beside id + 1; 0 is empty. Linear probing, at most half full.
  struct Slots {
    explicit Slots(uint32_t size) : mask(size - 1), slot(new std::atomic<uint64_t>[size]) {
      for (uint32_t i = 0; i < size; ++i) slot[i].store(0, std::memory_order_relaxed);
    }
    uint32_t mask;
    std::unique_ptr<std::atomic<uint64_t>[]> slot;
    Slots* older = nullptr;
  };
  struct alignas(64) Shard {
    std::atomic<Slots*> slots{nullptr};
    std::atomic<int64_t> hits{0};
    mutable std::mutex mutex;
    uint32_t count = 0;
    Arena arena;
  };

  static uint64_t SlotOf(uint64_t hash, uint32_t id) { return (hash & 0xffffffff00000000u) | (id + 1); }
  uint32_t Find(const Slots* slots, uint64_t hash, const Record& key) const {
    if (slots == nullptr) return kAbsent;
    for (uint32_t i = static_cast<uint32_t>(hash) & slots->mask;; i = (i + 1) & slots->mask) {
      const uint64_t slot = slots->slot[i].load(std::memory_order_acquire);
      if (slot == 0) return kAbsent;
      if ((slot >> 32) != (hash >> 32)) continue;
      const uint32_t id = static_cast<uint32_t>(slot) - 1;
      if (Traits::Equal(records_[id], key)) return id;
    }
  }
  static void Put(Slots& slots, uint64_t slot, uint64_t hash) {
    uint32_t i = static_cast<uint32_t>(hash) & slots.mask;
    while (slots.slot[i].load(std::memory_order_relaxed) != 0) i = (i + 1) & slots.mask;
    slots.slot[i].store(slot, std::memory_order_release);
  }
  Slots* RoomFor(Shard& shard) {
    Slots* slots = shard.slots.load(std::memory_order_relaxed);
    if (slots != nullptr && 2 * (shard.count + 1) <= slots->mask) return slots;
    auto* grown = new Slots(slots == nullptr ? 16 : 4 * (slots->mask + 1));
    if (slots != nullptr) {
      for (uint32_t i = 0; i <= slots->mask; ++i) {
        const uint64_t slot = slots->slot[i].load(std::memory_order_relaxed);
        if (slot != 0) Put(*grown, slot, Traits::Hash(records_[static_cast<uint32_t>(slot) - 1]));
      }
    }
    grown->older = slots;
    shard.slots.store(grown, std::memory_order_release);
    return grown;
  }

  ChunkedArray<Record> records_;
  Shard shards_[1 << kShardBits];
};

}  // namespace tare
