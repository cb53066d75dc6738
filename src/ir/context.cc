#include "ir/context.h"

namespace tare {

Context::Context(std::span<const OpDef> builtin_ops) : ops(builtin_ops, strings) {}
Context::~Context() = default;

MetaId MetaOf(Context& context, const AttrValue& value) {
  switch (value.kind) {
    case AttrKind::kNone:
      return context.metas.None();
    case AttrKind::kBool:
      return context.metas.Bool(context.syms.Bool(value.flag));
    case AttrKind::kInt:
      return context.metas.Int(context.syms.Int(value.integer));
    case AttrKind::kFloat:
      return context.metas.Float(context.syms.Float(value.real));
    case AttrKind::kString:
      return context.metas.String(value.text());
    default:
      return MetaId{};
  }
}

}  // namespace tare
