// What is done with bytes that may be an expression: shared by the fuzzer and the replay of its
// seeds. Aborts when a promise of the expression store is broken.
#pragma once

#include <cstdint>
#include <string_view>

namespace tare {

// Reads, prints, reads again, bounds, proves and simplifies. A line of facts may follow: `expr | facts`.
void TryExpression(std::string_view bytes);

}  // namespace tare
