// Parts of the text form that printing and parsing of programs are made of. Inside src/ir only.
#pragma once

#include <string>
#include <string_view>

#include "ir/notation.h"
#include "ir/program.h"

namespace tare {

// `symbols { s0 in [2,64] % 4 hint 8 }`: those of the program that are not as their names say.
void PrintSymbols(const Context& context, const Program& program, std::string& out);
// After `symbols`.
absl::Status ReadSymbols(Cursor& cursor, TextSymbols& symbols);

// ` quant(i8(scale=[0.5], zero=[3], min=-128, max=127), none -> i8(…))`; nothing when there is none.
void PrintQuant(const Context& context, QuantId quant, std::string& out);
// After `quant`.
absl::StatusOr<QuantId> ReadQuant(Context& context, Cursor& cursor);

// Words of the signature, indexed by kind.
inline constexpr std::string_view kInputKindNames[] = {"user",   "parameter", "buffer", "constant",
                                                       "object", "token",     "literal"};
inline constexpr std::string_view kOutputKindNames[] = {"user",  "loss",           "buffer",     "parameter",
                                                        "input", "grad_parameter", "grad_input", "token"};

// True when the constants follow from the inputs that name them, so that they need no block of
// their own: one input each, in order, same name and metadata, nothing else to say.
bool ConstantsFollowFromInputs(const Program& program);

}  // namespace tare
