// Argument lists a session made lately, by what was asked for.
//
// Key: op, argument list of the amended node, and for each change its name and value; nodes count as
// "a node", since the answer only says where operands come from. Owner: one session. Bound: 16
// entries, the last one asked for stays. Slow twin: Define without it, as each visit of ReplayDense is.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "ir/attrs.h"
#include "ir/ids.h"
#include "passes/node.h"

namespace tare {

class DefinitionCache {
 public:
  static constexpr size_t kMaxChanges = 2, kMaxInts = 6, kMaxOperands = 6;

  // `operands[i]` >= 0: operand of the amended node; else the node of change ~operands[i].
  struct Entry {
    Op op;
    AttrsId base;
    AttrsId attrs;
    uint8_t num_changes = 0, num_operands = 0;
    std::array<int8_t, kMaxOperands> operands{};
    struct Change {
      std::string_view name;  // the schema's
      ArgInit::Kind kind = ArgInit::kValue;
      AttrKind value_kind = AttrKind::kNone;
      int64_t bits = 0;  // of a value; 1 for a node that is there; count of integers
      std::array<int64_t, kMaxInts> ints{};
    };
    std::array<Change, kMaxChanges> changes;
  };

  const Entry* Find(Op op, AttrsId base, std::span<const ArgInit> args) const {
    if (entries_ == nullptr || args.size() > kMaxChanges) return nullptr;
    const Entry& entry = (*entries_)[Slot(op, base, args)];
    if (entry.op != op || entry.base != base || entry.num_changes != args.size()) return nullptr;
    for (size_t i = 0; i < args.size(); ++i)
      if (!Same(entry.changes[i], args[i])) return nullptr;
    return &entry;
  }

  // The entry to fill for these arguments, its key is set; null when they are too many or lists of nodes.
  Entry* Make(Op op, AttrsId base, std::span<const ArgInit> args) {
    if (args.size() > kMaxChanges) return nullptr;
    for (const ArgInit& arg : args)
      if (!Fits(arg)) return nullptr;
    if (entries_ == nullptr) entries_ = std::make_unique<std::array<Entry, kEntries>>();
    Entry& entry = (*entries_)[Slot(op, base, args)];
    entry = {};
    entry.op = op;
    entry.base = base;
    entry.num_changes = static_cast<uint8_t>(args.size());
    for (size_t i = 0; i < args.size(); ++i) {
      Entry::Change& change = entry.changes[i];
      change.kind = args[i].kind;
      change.value_kind = args[i].value.kind;
      change.bits = Bits(args[i]);
      for (size_t k = 0; k < args[i].values.size(); ++k) change.ints[k] = args[i].values[k];
    }
    return &entry;
  }
  int64_t MemoryBytes() const { return entries_ == nullptr ? 0 : static_cast<int64_t>(sizeof(*entries_)); }

 private:
  static constexpr size_t kEntries = 16;

  static bool Fits(const ArgInit& arg) {
    switch (arg.kind) {
      case ArgInit::kNode:
        return true;
      case ArgInit::kValues:
        return arg.values.size() <= kMaxInts;
      case ArgInit::kValue:
        return arg.value.kind == AttrKind::kNone || arg.value.kind == AttrKind::kBool ||
               arg.value.kind == AttrKind::kInt || arg.value.kind == AttrKind::kFloat ||
               arg.value.kind == AttrKind::kDType || arg.value.kind == AttrKind::kMemoryFormat;
      default:
        return false;
    }
  }
  static int64_t Bits(const ArgInit& arg) {
    if (arg.kind == ArgInit::kNode) return arg.node.has_value() ? 1 : 0;
    if (arg.kind == ArgInit::kValues) return static_cast<int64_t>(arg.values.size());
    switch (arg.value.kind) {
      case AttrKind::kBool:
        return arg.value.flag ? 1 : 0;
      case AttrKind::kInt:
        return arg.value.integer;
      case AttrKind::kFloat:
        return std::bit_cast<int64_t>(arg.value.real);
      case AttrKind::kDType:
        return static_cast<int64_t>(arg.value.dtype);
      case AttrKind::kMemoryFormat:
        return static_cast<int64_t>(arg.value.memory_format);
      default:
        return 0;
    }
  }
  static bool Same(const Entry::Change& change, const ArgInit& arg) {
    if (change.kind != arg.kind || change.value_kind != arg.value.kind || !Fits(arg) || change.bits != Bits(arg))
      return false;
    if (change.name != arg.name) return false;
    for (size_t k = 0; k < arg.values.size(); ++k)
      if (change.ints[k] != arg.values[k]) return false;
    return true;
  }
  static size_t Slot(Op op, AttrsId base, std::span<const ArgInit> args) {
    uint64_t hash = uint64_t{op.index} << 32 | base.index;
    for (const ArgInit& arg : args) {
      hash = (hash ^ static_cast<uint64_t>(Bits(arg))) * 0x9e3779b97f4a7c15u;
      for (const int64_t value : arg.values) hash = (hash ^ static_cast<uint64_t>(value)) * 0xbf58476d1ce4e5b9u;
    }
    return (hash * 0x94d049bb133111ebu) >> 60;
  }

  std::unique_ptr<std::array<Entry, kEntries>> entries_;
};

}  // namespace tare
