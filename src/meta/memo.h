// What rules answered before, in two levels: a map of one session without locks, and shards with a
// mutex that all sessions of a Context share.
//
// Key: rule set and target spec, op, argument list, operand metadata; facts where an operand is
// symbolic; quantisation where the op reads it; elements of constant operands where it reads those. Value: metadata or
// refusal, alias, guards. Entries are immutable and live as long as the Context, so a hit hands out their guards.
// Bound: the number of distinct keys; the twin without it is InferrerOptions::use_memo = false.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "ir/ids.h"
#include "ir/inferrer.h"
#include "llvm/Support/Allocator.h"

namespace tare {

struct MemoKey {
  uint64_t rules = 0;     // RuleSet::id
  std::string_view spec;  // interned in the Context
  uint64_t facts = 0;     // IdOf(facts), 0 where no operand is symbolic
  Op op;
  AttrsId attrs;
  QuantId quant{0};  // index 0 unless the op reads it
  std::span<const MetaId> operands;
  // Of ops that read values: the elements of constant operands, interned in the Context. Their content
  // and not their ids, which mean something else in each program.
  std::string_view values = {};
};

struct MemoEntry {
  MemoKey key;
  uint64_t session_hash = 0;
  InferResult result;
  absl::Status status;  // when not OK, the refusal
};

// Of op, attrs, quant and operands: what varies within a session.
inline uint64_t SessionHash(Op op, AttrsId attrs, QuantId quant, std::span<const MetaId> operands) {
  uint64_t hash = (uint64_t{op.index} << 48) ^ (uint64_t{quant.index} << 32) ^ attrs.index;
  hash *= 0x9e3779b97f4a7c15u;
  for (MetaId operand : operands) {
    hash ^= hash >> 29;
    hash = (hash + operand.index) * 0xbf58476d1ce4e5b9u;
  }
  return hash ^ (hash >> 32);
}

class SharedMemo {
 public:
  SharedMemo();
  ~SharedMemo();
  const MemoEntry* Find(const MemoKey& key, uint64_t session_hash);
  // Keeps the first answer for a key and returns it.
  const MemoEntry* Insert(const MemoKey& key, uint64_t session_hash, const InferResult& result, absl::Status status);
  int64_t size() const;

 private:
  static constexpr int kShards = 16;
  struct Shard;
  std::unique_ptr<Shard[]> shards_;
};

// Open addressing over entries of the SharedMemo. One thread.
class SessionMemo {
 public:
  SessionMemo() : slots_(1024) {}
  const MemoEntry* Find(uint64_t hash, Op op, AttrsId attrs, QuantId quant, std::span<const MetaId> operands) const {
    const uint64_t mask = slots_.size() - 1;
    for (uint64_t at = hash & mask;; at = (at + 1) & mask) {
      const Slot& slot = slots_[at];
      if (slot.entry == nullptr) return nullptr;
      if (slot.hash != hash) continue;
      const MemoKey& key = slot.entry->key;
      if (key.op != op || key.attrs != attrs || key.quant != quant || key.operands.size() != operands.size()) continue;
      bool same = true;
      for (size_t i = 0; i < operands.size(); ++i) same &= key.operands[i] == operands[i];
      if (same) return slot.entry;
    }
  }
  void Insert(const MemoEntry* entry);
  void Clear();

 private:
  struct Slot {
    uint64_t hash = 0;
    const MemoEntry* entry = nullptr;
  };
  std::vector<Slot> slots_;
  size_t used_ = 0;
};

std::shared_ptr<void> MakeMemo();

}  // namespace tare
