// Contexts with the op table the build made from ops/*.toml.
#pragma once

#include <memory>

#include "ir/context.h"
#include "meta/rule_set.h"

namespace tare {

std::unique_ptr<Context> MakeContext();

// The generated tables (op_rows_data.cc).
const BuiltinRows& GeneratedRows();

}  // namespace tare
