#include "ir/attrs.h"

#include <algorithm>
#include <bit>

namespace tare {

bool operator==(const AttrValue& a, const AttrValue& b) {
  if (a.kind != b.kind) return false;
  const auto same_bits = [](double x, double y) { return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y); };
  switch (a.kind) {
    case AttrKind::kNone:
      return true;
    case AttrKind::kBool:
      return a.flag == b.flag;
    case AttrKind::kInt:
      return a.integer == b.integer;
    case AttrKind::kFloat:
      return same_bits(a.real, b.real);
    case AttrKind::kComplex:
      return same_bits(a.complex.re, b.complex.re) && same_bits(a.complex.im, b.complex.im);
    case AttrKind::kString:
    case AttrKind::kOperator:
      return a.text() == b.text();
    case AttrKind::kDType:
      return a.dtype == b.dtype;
    case AttrKind::kMemoryFormat:
      return a.memory_format == b.memory_format;
    case AttrKind::kLayout:
      return a.layout == b.layout;
    case AttrKind::kDevice:
      return a.device == b.device;
    case AttrKind::kInts:
      return std::ranges::equal(a.ints(), b.ints());
    case AttrKind::kList:
    case AttrKind::kDict:
      return std::ranges::equal(a.items(), b.items());
    case AttrKind::kOperand:
      return a.operand == b.operand;
    case AttrKind::kGraph:
      return a.graph == b.graph;
  }
  return false;
}

}  // namespace tare
