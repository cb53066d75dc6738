// The ids of the IR: 4 bytes (2 for an op), one type per kind of thing, passed by value.
//
// Equal ids mean equal things within one store or lineage. Ids follow interning order, which
// depends on threads: never sort, print or store them.
#pragma once

#include <cstdint>
#include <utility>

namespace tare {

template <typename Tag>
struct Id {
  uint32_t index = UINT32_MAX;
  constexpr bool has_value() const { return index != UINT32_MAX; }
  friend constexpr bool operator==(Id, Id) = default;
  template <typename H>
  friend H AbslHashValue(H h, Id id) {
    return H::combine(std::move(h), id.index);
  }
};

using NodeId = Id<struct NodeTag>;    // a value of one graph lineage
using MetaId = Id<struct MetaTag>;    // interned metadata: tensor, tuple, list, scalar, none, token
using AttrsId = Id<struct AttrsTag>;  // interned argument list of a node
using QuantId = Id<struct QuantTag>;  // interned quantisation parameters; index 0 = none
using LocId = Id<struct LocTag>;      // provenance event of one lineage
using ConstId = Id<struct ConstTag>;  // a constant of one Program
using GraphId = Id<struct GraphTag>;  // a graph of one Program; 0 is the main graph
using ExprId = Id<struct ExprTag>;    // interned symbolic expression

static_assert(sizeof(MetaId) == 4);  // three fit beside an op in a memo key of 16 bytes

// An operator of the Context's OpTable: an aten overload, a dialect op, a pseudo-op.
struct Op {
  uint16_t index = UINT16_MAX;
  constexpr bool has_value() const { return index != UINT16_MAX; }
  friend constexpr bool operator==(Op, Op) = default;
  template <typename H>
  friend H AbslHashValue(H h, Op op) {
    return H::combine(std::move(h), op.index);
  }
};

}  // namespace tare
