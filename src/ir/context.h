// What programs share: op table and stores. Thread-safe; outlives programs.
#pragma once

#include <memory>
#include <span>

#include "ir/op_table.h"
#include "ir/stores.h"
#include "ir/sym.h"

namespace tare {

class Context {
 public:
  // Most callers want meta::MakeContext, which passes the generated op table.
  explicit Context(std::span<const OpDef> builtin_ops);
  ~Context();
  Context(const Context&) = delete;

  StringPool strings;
  mutable SymStore syms;  // looking something up may make an expression
  MetaStore metas;
  AttrsStore attrs;
  QuantStore quants;
  OpTable ops;

  // Slot for the shared level of meta's memo; created and owned by meta.
  std::shared_ptr<void> memo;
  // Rules of this context (meta::RuleSet), likewise.
  std::shared_ptr<const void> rules;
};

// Metadata of a constant that a graph takes or returns: a number, a bool, a string, none. Other values have none.
MetaId MetaOf(Context& context, const AttrValue& value);

}  // namespace tare
