// Symbols of data-dependent results stay themselves when their node is inferred again.
#pragma once

#include <span>

#include "ir/context.h"

namespace tare {

// `derived` with the unbacked symbols a rule minted replaced by those that `old` has in their place.
// Symbols of `operands` stand for themselves. Where `old` has another shape, `derived` is kept.
MetaId KeepMintedSymbols(Context& context, MetaId old, MetaId derived, std::span<const MetaId> operands);

}  // namespace tare
