// Interning of expression nodes: sharded locks to write, none to read.
#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/hash/hash.h"
#include "ir/status.h"
#include "ir/sym_impl.h"

namespace tare {
namespace {

bool SameRow(const SymbolRow& a, const SymbolRow& b) {
  return a.name == b.name && a.kind == b.kind && a.min == b.min && a.max == b.max && a.divisor == b.divisor &&
         a.hint == b.hint;
}

size_t HashOf(const ExprKey& key) {
  size_t h = absl::HashOf(static_cast<int>(key.kind), static_cast<int>(key.type), key.integer, key.args.size());
  for (const ExprId arg : key.args) h = absl::HashOf(h, arg.index);
  if (key.symbol != nullptr) {
    const SymbolRow& row = *key.symbol;
    h = absl::HashOf(h, std::string_view(row.name), row.min, row.max, row.divisor, row.hint.value_or(INT64_MIN));
  }
  return key.name.empty() ? h : absl::HashOf(h, key.name);
}

std::string_view CopyText(llvm::BumpPtrAllocator& arena, std::string_view text) {
  char* data = arena.Allocate<char>(text.size());
  std::copy(text.begin(), text.end(), data);
  return {data, text.size()};
}

// Names compare by letters, then by number, so that s2 comes before s10.
int CompareNames(std::string_view a, std::string_view b) {
  const auto digits = [](std::string_view name) {
    size_t at = name.size();
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
    return at;
  };
  const size_t da = digits(a), db = digits(b);
  if (const int c = a.substr(0, da).compare(b.substr(0, db)); c != 0) return c;
  if (const auto sa = a.size() - da, sb = b.size() - db; sa != sb) return sa < sb ? -1 : 1;
  return a.compare(b);
}

template <typename T>
int Order(T a, T b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

int CompareRows(const SymbolRow& a, const SymbolRow& b) {
  if (const int c = CompareNames(a.name, b.name); c != 0) return c;
  if (a.kind != b.kind) return Order(a.kind, b.kind);
  if (a.min != b.min) return Order(a.min, b.min);
  if (a.max != b.max) return Order(a.max, b.max);
  if (a.divisor != b.divisor) return Order(a.divisor, b.divisor);
  return Order(a.hint, b.hint);
}

}  // namespace

SymStore::Impl::Impl() {
  for (auto& shard : shards) {
    shard = std::make_unique<Shard>();
    shard->ids = absl::flat_hash_set<uint32_t, Hash, Same>(0, Hash{this}, Same{this});
  }
  false_id = Intern({ExprKind::kBoolConst, ExprType::kBool, {}, 0});
  true_id = Intern({ExprKind::kBoolConst, ExprType::kBool, {}, 1});
  zero_id = Int(0);
  one_id = Int(1);
}

SymStore::Impl::~Impl() {
  for (auto& chunk : chunks) delete[] chunk.load();
}

bool SymStore::Impl::Same::operator()(uint32_t a, const std::pair<size_t, const ExprKey*>& entry) const {
  const Expr& e = impl->at(ExprId{a});
  const ExprKey& key = *entry.second;
  if (e.hash != entry.first || e.kind != key.kind || e.type != key.type) return false;
  if (!std::equal(key.args.begin(), key.args.end(), e.args, e.args + e.num_args)) return false;
  switch (e.kind) {
    case ExprKind::kIntConst:
    case ExprKind::kBoolConst:
      return e.integer == key.integer;
    case ExprKind::kFloatConst:
      return std::bit_cast<int64_t>(e.real) == key.integer;
    case ExprKind::kSymbol:
      return SameRow(*e.symbol, *key.symbol);
    case ExprKind::kFloatCall:
      return *e.name == key.name;
    default:
      return true;
  }
}

ExprId SymStore::Impl::Intern(const ExprKey& key) {
  int size = 1, depth = 0;
  for (const ExprId arg : key.args) {
    if (!arg.has_value()) return {};
    size += at(arg).size;
    depth = std::max<int>(depth, at(arg).depth + 1);
    if (size > kMaxExprNodes || depth > kMaxExprDepth) return {};
  }
  const std::pair<size_t, const ExprKey*> entry(HashOf(key), &key);
  Shard& shard = *shards[(entry.first >> 40) % kNumShards];
  {
    std::lock_guard lock(shard.mutex);
    if (const auto it = shard.ids.find(entry); it != shard.ids.end()) return ExprId{*it};
  }
  // What the node is worth is computed outside the lock: it reads other nodes, and may make some.
  Expr e = {};
  e.kind = key.kind;
  e.type = key.type;
  e.size = static_cast<uint16_t>(size);
  e.depth = static_cast<uint8_t>(depth);
  e.hash = entry.first;
  e.num_args = static_cast<uint32_t>(key.args.size());
  e.range = RangeOfKey(key);
  e.divisor = DivisorOfKey(key);
  if (key.kind == ExprKind::kMul && key.type == ExprType::kInt && IsConst(key.args[0])) {
    e.base = key.args.size() == 2 ? key.args[1] : Intern({key.kind, key.type, key.args.subspan(1)});
    if (!e.base.has_value()) return {};
  }
  e.exact = key.kind == ExprKind::kSymbol && key.symbol->divisor > 1;
  if (key.kind == ExprKind::kFloorDiv) {
    const Expr& num = at(key.args[0]);
    e.exact = num.kind == ExprKind::kSymbol && num.symbol->divisor > 1 && IsConst(key.args[1]);
  }
  if (key.kind == ExprKind::kMul || key.kind == ExprKind::kPow) {
    for (const ExprId arg : key.args) e.exact |= at(arg).exact;
  }

  std::lock_guard lock(shard.mutex);
  if (const auto it = shard.ids.find(entry); it != shard.ids.end()) return ExprId{*it};
  const uint32_t index = next_index.fetch_add(1, std::memory_order_relaxed);
  const uint32_t shifted = index + kFirstChunk;
  const int chunk = 31 - __builtin_clz(shifted) - kFirstChunkLog;
  if (chunk >= kNumChunks) {
    next_index.fetch_sub(1, std::memory_order_relaxed);
    return {};
  }
  if (chunks[chunk].load(std::memory_order_acquire) == nullptr) {
    std::lock_guard chunk_lock(chunk_mutex);
    if (chunks[chunk].load() == nullptr) {
      chunks[chunk].store(new Expr[size_t{kFirstChunk} << chunk], std::memory_order_release);
    }
  }
  ExprId* args = shard.arena.Allocate<ExprId>(key.args.size());
  std::copy(key.args.begin(), key.args.end(), args);
  e.args = args;
  switch (key.kind) {
    case ExprKind::kFloatConst:
      e.real = std::bit_cast<double>(key.integer);
      break;
    case ExprKind::kSymbol: {
      SymbolRow* row = new (shard.arena.Allocate<SymbolRow>()) SymbolRow(*key.symbol);
      row->name = CopyText(shard.arena, row->name);
      e.symbol = row;
      break;
    }
    case ExprKind::kFloatCall:
      e.name = new (shard.arena.Allocate<std::string_view>()) std::string_view(CopyText(shard.arena, key.name));
      break;
    default:
      e.integer = key.integer;
      break;
  }
  chunks[chunk].load(std::memory_order_relaxed)[shifted - (kFirstChunk << chunk)] = e;
  shard.ids.insert(index);
  return ExprId{index};
}

ExprId SymStore::Impl::Float(double value) {
  if (value != value) value = std::bit_cast<double>(0x7ff8000000000000);  // one NaN
  return Intern({ExprKind::kFloatConst, ExprType::kFloat, {}, std::bit_cast<int64_t>(value)});
}

ExprId SymStore::Impl::Symbol(const SymbolRow& given) {
  SymbolRow row = given;
  const bool is_float = row.kind == SymbolKind::kFloat || row.kind == SymbolKind::kUnbackedFloat;
  if (is_float || row.divisor < 1) row.divisor = 1;
  ExprKey key{ExprKind::kSymbol, is_float ? ExprType::kFloat : ExprType::kInt};
  key.symbol = &row;
  return Intern(key);
}

int SymStore::Impl::Compare(ExprId a, ExprId b) const {
  if (a == b) return 0;
  const Expr& x = at(a);
  const Expr& y = at(b);
  if (x.kind == ExprKind::kMul || y.kind == ExprKind::kMul) {
    const std::span<const ExprId> fx = Factors(a), fy = Factors(b);
    for (size_t i = 0; i < std::min(fx.size(), fy.size()); ++i) {
      if (const int c = Compare(fx[i], fy[i]); c != 0) return c;
    }
    if (fx.size() != fy.size()) return Order(fx.size(), fy.size());
    return Order(x.type, y.type);
  }
  if (x.kind == ExprKind::kPow || y.kind == ExprKind::kPow) {  // a power stands beside its base
    const ExprId base_a = x.kind == ExprKind::kPow ? x.args[0] : a;
    const ExprId base_b = y.kind == ExprKind::kPow ? y.args[0] : b;
    if (const int c = Compare(base_a, base_b); c != 0) return c;
    if (x.kind != y.kind) return x.kind == ExprKind::kPow ? 1 : -1;
    if (const int c = Compare(x.args[1], y.args[1]); c != 0) return c;
    return Order(x.type, y.type);
  }
  if (x.kind != y.kind) return Order(x.kind, y.kind);
  switch (x.kind) {
    case ExprKind::kIntConst:
    case ExprKind::kBoolConst:
      return Order(x.integer, y.integer);
    case ExprKind::kFloatConst:
      return Order(std::bit_cast<int64_t>(x.real), std::bit_cast<int64_t>(y.real));
    case ExprKind::kSymbol:
      return CompareRows(*x.symbol, *y.symbol);
    case ExprKind::kFloatCall:
      if (const int c = x.name->compare(*y.name); c != 0) return c;
      break;
    default:
      break;
  }
  if (x.type != y.type) return Order(x.type, y.type);
  for (uint32_t i = 0; i < std::min(x.num_args, y.num_args); ++i) {
    if (const int c = Compare(x.args[i], y.args[i]); c != 0) return c;
  }
  return Order(x.num_args, y.num_args);
}

void SymStore::Impl::SortUnique(ExprList& list) const {
  std::sort(list.begin(), list.end(), [this](ExprId a, ExprId b) { return Compare(a, b) < 0; });
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace tare
