// The normal form of argument lists (attrs.h).
#pragma once

#include <span>

#include "absl/status/statusor.h"
#include "ir/context.h"

namespace tare {

// Brings one value to the kind its schema says: ints to floats, a bare value to a list of
// `list_size`, lists of constant ints to kInts. What does not fit is left for rules to refuse.
AttrValue NormalizeArg(const SchemaArg& arg, const AttrValue& value, StringPool& pool);

// Arguments by schema name, in any order; those with the name "" are the tensor-like arguments, in
// schema order. An optional argument without a default that is not given becomes none. An op without
// a schema keeps what it is given.
// Errors: InvalidArgument [args_c1] unknown argument, [args_c2] given twice, [args_c3] too many,
// [args_c4] a required one is missing.
absl::StatusOr<AttrsId> NormalizeArgs(Context& context, Op op, std::span<const NamedAttr> args);

}  // namespace tare
