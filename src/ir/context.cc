#include "ir/context.h"

namespace tare {

Context::Context(std::span<const OpDef> builtin_ops) : ops(builtin_ops, strings) {}
Context::~Context() = default;

}  // namespace tare
