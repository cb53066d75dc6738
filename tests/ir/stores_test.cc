#include "ir/stores.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <thread>
#include <vector>

namespace tare {
namespace {

TEST_CASE("equal records have one id, other records another") {
  MetaStore store;
  std::vector<Dim> shape = {Dim::Static(2), Dim::Static(3)}, strides = {Dim::Static(3), Dim::Static(1)};
  const auto tensor = [&](DType dtype) {
    TensorMeta meta;
    meta.dtype = dtype;
    meta.shape = shape;
    meta.strides = strides;
    return store.Tensor(meta);
  };
  const MetaId f32 = tensor(DType::kF32);
  CHECK(tensor(DType::kF32) == f32);
  CHECK(tensor(DType::kI8) != f32);
  strides[0] = Dim::Static(1);
  CHECK(tensor(DType::kF32) != f32);
  CHECK(store.Get(f32).tensor.strides[0] == 3);  // the store has its own copy
  CHECK(store.Int(Dim::Static(1)) == store.Int(Dim::Static(1)));
  CHECK(store.Int(Dim::Static(1)) != store.Int(Dim::Static(2)));
  const MetaId pair[] = {f32, f32};
  CHECK(store.Tuple(pair) != store.List(pair));
  CHECK(store.Tuple(pair) == store.Tuple(pair));
  CHECK(store.Tuple({}) != store.None());
  CHECK(store.String("a") != store.String("b"));
  Meta none;
  none.text = "ignored";
  CHECK(store.Intern(none) == store.None());
  CHECK(store.stats().entries == store.stats().misses);
  CHECK(store.stats().hits >= 4);
}

TEST_CASE("argument lists are compared by value, floats by bits") {
  AttrsStore store;
  StringPool pool;
  const auto intern = [&](std::string name, const AttrValue& value, bool keyword = false) {
    const NamedAttr attr{name, value, keyword};
    return store.Intern({&attr, 1});
  };
  CHECK(intern("a", AttrValue::Float(0.0)) != intern("a", AttrValue::Float(-0.0)));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(intern("a", AttrValue::Float(nan)) == intern("a", AttrValue::Float(nan)));
  CHECK(intern("a", AttrValue::Int(1)) != intern("b", AttrValue::Int(1)));
  CHECK(intern("a", AttrValue::Int(1)) != intern("a", AttrValue::Bool(true)));
  CHECK(intern("a", AttrValue::Int(1)) != intern("a", AttrValue::Int(1), true));
  const std::vector<AttrValue> ints = {AttrValue::Int(1), AttrValue::Int(2)};
  const AttrValue list = MakeList(pool, ints);
  CHECK(list.kind == AttrKind::kInts);
  CHECK(MakeList(pool, {}).kind == AttrKind::kInts);
  const std::vector<AttrValue> mixed = {list, AttrValue::String(pool.Intern("x"))};
  CHECK(intern("a", MakeList(pool, mixed)) == intern("a", MakeList(pool, mixed)));
  CHECK(store.Get(intern("a", MakeList(pool, mixed)))[0].value.items()[1].text() == "x");
  CHECK(store.Get(store.Empty()).empty());
  CHECK(QuantStore().Intern({}).index == 0);
}

TEST_CASE("two threads agree on ids while the tables grow") {
  MetaStore store;
  constexpr int kCount = 20000;
  std::vector<MetaId> ids[2] = {std::vector<MetaId>(kCount), std::vector<MetaId>(kCount)};
  const auto work = [&](int thread) {
    std::mt19937 random(thread);
    for (int i = 0; i < kCount; ++i) {
      const int value = thread == 0 ? i : kCount - 1 - i;
      ids[thread][value] = store.Int(Dim::Static(value));
      const int other = static_cast<int>(random() % kCount);
      if (ids[thread][other].has_value() && !(store.Get(ids[thread][other]).value == other)) ids[thread][value] = {};
    }
  };
  std::thread a(work, 0), b(work, 1);
  a.join();
  b.join();
  CHECK(ids[0] == ids[1]);
  CHECK(store.stats().entries == kCount + 2);
  StringPool pool;
  std::thread c([&] {
    for (int i = 0; i < kCount; ++i) pool.Intern(std::to_string(i));
  });
  for (int i = kCount; i-- > 0;) pool.Intern(std::to_string(i));
  c.join();
  CHECK(pool.Intern("17").data() == pool.Intern("17").data());
}

}  // namespace
}  // namespace tare
