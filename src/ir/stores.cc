#include "ir/stores.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <vector>

#include "ir/intern_table.h"

namespace tare {
namespace {

uint64_t HashDims(uint64_t h, std::span<const Dim> dims) {
  h = MixHash(h, dims.size());
  for (const Dim dim : dims) h = MixHash(h, static_cast<uint64_t>(dim.raw()));
  return h;
}

struct TextTraits {
  using Record = std::string_view;
  static uint64_t Hash(std::string_view text) { return MixHash(0, text); }
  static bool Equal(std::string_view a, std::string_view b) { return a == b; }
  static std::string_view Copy(std::string_view text, Arena& arena) { return CopyTo(arena, text); }
};

// Only the fields of a record's kind take part.
struct MetaTraits {
  using Record = Meta;
  static uint64_t Hash(const Meta& m) {
    uint64_t h = static_cast<uint64_t>(m.kind);
    switch (m.kind) {
      case MetaKind::kTensor: {
        const TensorMeta& t = m.tensor;
        h = MixHash(h, static_cast<uint64_t>(t.dtype) | static_cast<uint64_t>(t.layout) << 8 |
                           static_cast<uint64_t>(t.device.type) << 16 |
                           static_cast<uint64_t>(static_cast<uint8_t>(t.device.index)) << 24);
        h = HashDims(HashDims(h, t.shape), t.strides);
        return MixHash(h, static_cast<uint64_t>(t.offset.raw()));
      }
      case MetaKind::kTuple:
      case MetaKind::kList:
        h = MixHash(h, m.items.size());
        for (const MetaId item : m.items) h = MixHash(h, item.index);
        return h;
      case MetaKind::kInt:
        return MixHash(h, static_cast<uint64_t>(m.value.raw()));
      case MetaKind::kFloat:
      case MetaKind::kBool:
        return MixHash(h, m.expr.index);
      case MetaKind::kString:
      case MetaKind::kObject:
        return MixHash(h, m.text);
      case MetaKind::kNone:
      case MetaKind::kToken:
        return MixHash(h, 0);
    }
    return h;
  }
  static bool Equal(const Meta& a, const Meta& b) {
    if (a.kind != b.kind) return false;
    switch (a.kind) {
      case MetaKind::kTensor:
        return a.tensor.dtype == b.tensor.dtype && a.tensor.layout == b.tensor.layout &&
               a.tensor.device == b.tensor.device && a.tensor.offset == b.tensor.offset &&
               std::ranges::equal(a.tensor.shape, b.tensor.shape) &&
               std::ranges::equal(a.tensor.strides, b.tensor.strides);
      case MetaKind::kTuple:
      case MetaKind::kList:
        return std::ranges::equal(a.items, b.items);
      case MetaKind::kInt:
        return a.value == b.value;
      case MetaKind::kFloat:
      case MetaKind::kBool:
        return a.expr == b.expr;
      case MetaKind::kString:
      case MetaKind::kObject:
        return a.text == b.text;
      case MetaKind::kNone:
      case MetaKind::kToken:
        return true;
    }
    return false;
  }
  static Meta Copy(const Meta& m, Arena& arena) {
    Meta copy;
    copy.kind = m.kind;
    switch (m.kind) {
      case MetaKind::kTensor:
        copy.tensor = m.tensor;
        copy.tensor.shape = CopyTo(arena, m.tensor.shape);
        copy.tensor.strides = CopyTo(arena, m.tensor.strides);
        break;
      case MetaKind::kTuple:
      case MetaKind::kList:
        copy.items = CopyTo(arena, m.items);
        break;
      case MetaKind::kInt:
        copy.value = m.value;
        break;
      case MetaKind::kFloat:
      case MetaKind::kBool:
        copy.expr = m.expr;
        break;
      case MetaKind::kString:
      case MetaKind::kObject:
        copy.text = CopyTo(arena, m.text);
        break;
      case MetaKind::kNone:
      case MetaKind::kToken:
        break;
    }
    return copy;
  }
};

uint64_t HashAttr(uint64_t h, const AttrValue& v) {
  h = MixHash(h, static_cast<uint64_t>(v.kind));
  switch (v.kind) {
    case AttrKind::kNone:
      return h;
    case AttrKind::kBool:
      return MixHash(h, v.flag ? 1 : 0);
    case AttrKind::kInt:
      return MixHash(h, static_cast<uint64_t>(v.integer));
    case AttrKind::kFloat:
      return MixHash(h, std::bit_cast<uint64_t>(v.real));
    case AttrKind::kComplex:
      return MixHash(MixHash(h, std::bit_cast<uint64_t>(v.complex.re)), std::bit_cast<uint64_t>(v.complex.im));
    case AttrKind::kString:
    case AttrKind::kOperator:
      return MixHash(h, v.text());
    case AttrKind::kDType:
      return MixHash(h, static_cast<uint64_t>(v.dtype));
    case AttrKind::kMemoryFormat:
      return MixHash(h, static_cast<uint64_t>(v.memory_format));
    case AttrKind::kLayout:
      return MixHash(h, static_cast<uint64_t>(v.layout));
    case AttrKind::kDevice:
      return MixHash(h, static_cast<uint64_t>(v.device.type) | static_cast<uint64_t>(uint8_t(v.device.index)) << 8);
    case AttrKind::kInts:
      h = MixHash(h, v.ints().size());
      for (const int64_t i : v.ints()) h = MixHash(h, static_cast<uint64_t>(i));
      return h;
    case AttrKind::kList:
    case AttrKind::kDict:
      h = MixHash(h, v.items().size());
      for (const AttrValue& item : v.items()) h = HashAttr(h, item);
      return h;
    case AttrKind::kOperand:
      return MixHash(h, v.operand);
    case AttrKind::kGraph:
      return MixHash(h, v.graph.index);
  }
  return h;
}

AttrValue CopyAttr(const AttrValue& v, Arena& arena) {
  AttrValue copy = v;
  switch (v.kind) {
    case AttrKind::kString:
    case AttrKind::kOperator: {
      const std::string_view text = CopyTo(arena, v.text());
      copy.text_ = {text.data(), text.size()};
      break;
    }
    case AttrKind::kInts: {
      const auto ints = CopyTo(arena, v.ints());
      copy.ints_ = {ints.data(), ints.size()};
      break;
    }
    case AttrKind::kList:
    case AttrKind::kDict: {
      if (v.items().empty()) {
        copy.items_ = {nullptr, 0};
        break;
      }
      AttrValue* items = arena.Allocate<AttrValue>(v.items().size());
      for (size_t i = 0; i < v.items().size(); ++i) new (items + i) AttrValue(CopyAttr(v.items()[i], arena));
      copy.items_ = {items, v.items().size()};
      break;
    }
    default:
      break;
  }
  return copy;
}

struct AttrsTraits {
  using Record = std::span<const NamedAttr>;
  static uint64_t Hash(std::span<const NamedAttr> attrs) {
    uint64_t h = attrs.size();
    for (const NamedAttr& a : attrs) h = HashAttr(MixHash(h, a.name) ^ (a.keyword ? 1 : 0), a.value);
    return MixHash(h, 0);
  }
  static bool Equal(std::span<const NamedAttr> a, std::span<const NamedAttr> b) {
    return std::ranges::equal(a, b, [](const NamedAttr& x, const NamedAttr& y) {
      return x.keyword == y.keyword && x.name == y.name && x.value == y.value;
    });
  }
  static std::span<const NamedAttr> Copy(std::span<const NamedAttr> attrs, Arena& arena) {
    if (attrs.empty()) return {};
    NamedAttr* copy = arena.Allocate<NamedAttr>(attrs.size());
    for (size_t i = 0; i < attrs.size(); ++i) {
      new (copy + i) NamedAttr{CopyTo(arena, attrs[i].name), CopyAttr(attrs[i].value, arena), attrs[i].keyword};
    }
    return {copy, attrs.size()};
  }
};

struct QuantTraits {
  using Record = QuantRecord;
  static uint64_t HashParams(uint64_t h, const QuantParams& q) {
    h = MixHash(h, static_cast<uint64_t>(q.storage) | static_cast<uint64_t>(static_cast<uint32_t>(q.axis)) << 32);
    h = MixHash(MixHash(MixHash(h, static_cast<uint64_t>(q.qmin)), static_cast<uint64_t>(q.qmax)), q.scales.size());
    for (const double s : q.scales) h = MixHash(h, std::bit_cast<uint64_t>(s));
    for (const int64_t z : q.zero_points) h = MixHash(h, static_cast<uint64_t>(z));
    return h;
  }
  static bool EqualParams(const QuantParams& a, const QuantParams& b) {
    return a.storage == b.storage && a.axis == b.axis && a.qmin == b.qmin && a.qmax == b.qmax &&
           std::ranges::equal(
               a.scales, b.scales,
               [](double x, double y) { return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y); }) &&
           std::ranges::equal(a.zero_points, b.zero_points);
  }
  static QuantParams CopyParams(const QuantParams& q, Arena& arena) {
    QuantParams copy = q;
    copy.scales = CopyTo(arena, q.scales);
    copy.zero_points = CopyTo(arena, q.zero_points);
    return copy;
  }
  static uint64_t Hash(const QuantRecord& r) {
    uint64_t h = MixHash(r.operands.size(), r.has_result ? 1 : 0);
    for (const QuantParams& q : r.operands) h = HashParams(h, q);
    return r.has_result ? HashParams(h, r.result) : h;
  }
  static bool Equal(const QuantRecord& a, const QuantRecord& b) {
    return a.has_result == b.has_result && std::ranges::equal(a.operands, b.operands, EqualParams) &&
           (!a.has_result || EqualParams(a.result, b.result));
  }
  static QuantRecord Copy(const QuantRecord& r, Arena& arena) {
    QuantRecord copy;
    copy.has_result = r.has_result;
    if (r.has_result) copy.result = CopyParams(r.result, arena);
    if (!r.operands.empty()) {
      QuantParams* operands = arena.Allocate<QuantParams>(r.operands.size());
      for (size_t i = 0; i < r.operands.size(); ++i) new (operands + i) QuantParams(CopyParams(r.operands[i], arena));
      copy.operands = {operands, r.operands.size()};
    }
    return copy;
  }
};

// What the stores of records have in common.
template <typename Traits, typename Id>
struct RecordStore {
  InternTable<Traits> table;
  Id Intern(const typename Traits::Record& record) { return Id{table.Intern(record)}; }
  const typename Traits::Record& Get(Id id) const {
    TARE_DCHECK(id.index < table.size());
    return table[id.index];
  }
};

}  // namespace

struct StringPool::Impl {
  InternTable<TextTraits> texts;
  std::mutex mutex;
  Arena arena;  // of lists
};
StringPool::StringPool() : impl_(std::make_unique<Impl>()) {}
StringPool::~StringPool() = default;
std::string_view StringPool::Intern(std::string_view text) { return impl_->texts[impl_->texts.Intern(text)]; }
std::span<const int64_t> StringPool::Copy(std::span<const int64_t> values) {
  std::lock_guard lock(impl_->mutex);
  return CopyTo(impl_->arena, values);
}
std::span<const AttrValue> StringPool::Copy(std::span<const AttrValue> values) {
  std::lock_guard lock(impl_->mutex);
  return CopyTo(impl_->arena, values);
}

AttrValue MakeList(StringPool& pool, std::span<const AttrValue> items) {
  if (!std::ranges::all_of(items, [](const AttrValue& v) { return v.kind == AttrKind::kInt; })) {
    return AttrValue::List(pool.Copy(items));
  }
  std::vector<int64_t> ints;
  ints.reserve(items.size());
  for (const AttrValue& v : items) ints.push_back(v.integer);
  return AttrValue::Ints(pool.Copy(std::span<const int64_t>(ints)));
}

struct MetaStore::Impl : RecordStore<MetaTraits, MetaId> {};
MetaStore::MetaStore() : impl_(std::make_unique<Impl>()) {
  Meta meta;
  TARE_CHECK(Intern(meta) == None());
  meta.kind = MetaKind::kToken;
  TARE_CHECK(Intern(meta) == Token());
}
MetaStore::~MetaStore() = default;
MetaId MetaStore::Intern(const Meta& meta) { return impl_->Intern(meta); }
const Meta& MetaStore::Get(MetaId id) const { return impl_->Get(id); }
MetaId MetaStore::Tensor(const TensorMeta& tensor) {
  Meta meta;
  meta.kind = MetaKind::kTensor;
  meta.tensor = tensor;
  return Intern(meta);
}
MetaId MetaStore::Tuple(std::span<const MetaId> items) {
  Meta meta;
  meta.kind = MetaKind::kTuple;
  meta.items = items;
  return Intern(meta);
}
MetaId MetaStore::List(std::span<const MetaId> items) {
  Meta meta;
  meta.kind = MetaKind::kList;
  meta.items = items;
  return Intern(meta);
}
MetaId MetaStore::Int(Dim value) {
  Meta meta;
  meta.kind = MetaKind::kInt;
  meta.value = value;
  return Intern(meta);
}
MetaId MetaStore::Float(ExprId expr) {
  Meta meta;
  meta.kind = MetaKind::kFloat;
  meta.expr = expr;
  return Intern(meta);
}
MetaId MetaStore::Bool(ExprId expr) {
  Meta meta;
  meta.kind = MetaKind::kBool;
  meta.expr = expr;
  return Intern(meta);
}
MetaId MetaStore::String(std::string_view text) {
  Meta meta;
  meta.kind = MetaKind::kString;
  meta.text = text;
  return Intern(meta);
}
MetaId MetaStore::None() const { return MetaId{0}; }
MetaId MetaStore::Token() const { return MetaId{1}; }
StoreStats MetaStore::stats() const { return impl_->table.stats<StoreStats>(); }

struct AttrsStore::Impl : RecordStore<AttrsTraits, AttrsId> {};
AttrsStore::AttrsStore() : impl_(std::make_unique<Impl>()) { TARE_CHECK(Intern({}) == Empty()); }
AttrsStore::~AttrsStore() = default;
AttrsId AttrsStore::Intern(std::span<const NamedAttr> attrs) { return impl_->Intern(attrs); }
std::span<const NamedAttr> AttrsStore::Get(AttrsId id) const { return impl_->Get(id); }
AttrsId AttrsStore::Empty() const { return AttrsId{0}; }
StoreStats AttrsStore::stats() const { return impl_->table.stats<StoreStats>(); }

struct QuantStore::Impl : RecordStore<QuantTraits, QuantId> {};
QuantStore::QuantStore() : impl_(std::make_unique<Impl>()) { TARE_CHECK(Intern({}).index == 0); }
QuantStore::~QuantStore() = default;
QuantId QuantStore::Intern(const QuantRecord& record) { return impl_->Intern(record); }
const QuantRecord& QuantStore::Get(QuantId id) const { return impl_->Get(id); }
StoreStats QuantStore::stats() const { return impl_->table.stats<StoreStats>(); }

}  // namespace tare
