// Bitwise operations on symbolic integers.
#pragma once

#include "ir/sym.h"

namespace tare {

enum class BitOperation : uint8_t { kAnd, kOr, kXor };

// `a` and `b`, which are integers of at most 64 bits in two's complement, combined bit by bit. One of them must be a
// number: each run of ones in it takes a remainder of the other, as x & 6 = 2*(x//2 % 4). Without value where both
// depend on symbols or a number overflows. Source: https://docs.python.org/3/reference/expressions.html, 6.9
ExprId MakeBits(SymStore& store, BitOperation operation, ExprId a, ExprId b);

}  // namespace tare
