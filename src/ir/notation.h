// The notation of golden lines and of the text form: words, numbers, metadata, arguments, calls.
//
//   f32[s0,3]{1,s0}@4   (f32[2], i64[2])   [f32[2]]   int(s0)   none      metadata
//   2  -0.5  true  "text"  [1,2]  i8  channels_last  {"k": 1}  @body      arguments
//   aten.add.Tensor(f32[2,3], f32[3], alpha=2)                            a call
//
// docs/text.md has the grammar. Reading bounds nesting (kMaxAttrDepth) and never trusts its input.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/context.h"

namespace tare {

// --- words and numbers
std::string_view Name(MemoryFormat format);
std::string_view Name(Layout layout);
std::optional<MemoryFormat> MemoryFormatByName(std::string_view name);
std::optional<Layout> LayoutByName(std::string_view name);
std::string PrintDevice(Device device);  // "cpu", "cuda:1"
std::optional<Device> DeviceByName(std::string_view name);

// Shortest text that reads back as the same double, always with `.`, exponent, `inf` or `nan`.
std::string PrintDouble(double value);
std::optional<double> ParseDouble(std::string_view text);

// In double quotes; control characters and what is not UTF-8 escaped.
std::string Quote(std::string_view text);
// As it is when it is made of letters, digits, `_` and `.`; else quoted.
std::string QuoteUnlessWord(std::string_view text);

// --- reading
// A position in a text. Errors carry line and column: InvalidArgument [text_c1].
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}
  bool AtEnd();                          // skips blanks and `#` comments, as all below do
  char Peek();                           // '\0' at the end
  bool Take(std::string_view token);     // exactly these characters
  bool TakeWord(std::string_view word);  // and no letter, digit, `_` or `.` after them
  absl::Status Expect(std::string_view token);
  std::string_view Word();  // letters, digits, `_`, `.`; may be empty
  std::string_view PeekWord();
  absl::StatusOr<std::string> QuotedText();  // at `"`
  absl::StatusOr<std::string> WordOrQuoted(std::string_view what);
  absl::StatusOr<int64_t> Integer();
  std::optional<int64_t> TakeInteger();  // leaves the place when there is none
  // Text up to, not including, the first of `stops` (or a line's end) outside parentheses and brackets.
  std::string_view Until(std::string_view stops);
  absl::Status Error(std::string_view what) const;  // here
  absl::Status ErrorAt(size_t offset, std::string_view what) const;
  size_t offset() const { return at_; }
  void Rewind(size_t offset) { at_ = offset; }
  std::string_view text() const { return text_; }

 private:
  void Blanks();
  std::string_view text_;
  size_t at_ = 0;
};

// Symbols of one text: the first sight of a name makes the symbol, unless it was declared.
// s… and other names are backed, [2, inf); u… unbacked, [0, inf); zf… floats; zuf… unbacked floats.
class TextSymbols final : public SymbolScope {
 public:
  explicit TextSymbols(SymStore& syms) : syms_(syms) {}
  absl::StatusOr<ExprId> Resolve(std::string_view name) override;
  static SymbolRow DefaultRow(std::string_view name);
  absl::Status Declare(const SymbolRow& row);  // InvalidArgument when `name` is known already

 private:
  SymStore& syms_;
  absl::flat_hash_map<std::string, ExprId> known_;
};

absl::StatusOr<MetaId> ReadMeta(Context& context, Cursor& cursor, SymbolScope& scope);
// Text up to one of `stops`.
absl::StatusOr<ExprId> ReadExpr(Context& context, Cursor& cursor, SymbolScope& scope, std::string_view stops);
absl::StatusOr<Dim> ReadDim(Context& context, Cursor& cursor, SymbolScope& scope, std::string_view stops);

// What the arguments of a call refer to: nodes of a graph by name, or metadata written in place.
class OperandScope {
 public:
  virtual ~OperandScope() = default;
  // Index of the next operand. Defaults refuse.
  virtual absl::StatusOr<uint32_t> Node(std::string_view name);  // %name
  virtual absl::StatusOr<uint32_t> Value(MetaId meta);           // f32[2], s0 + 1, int(s0)
  virtual absl::StatusOr<GraphId> Graph(std::string_view name);  // @name
};

// One value. Symbolic integers become operands by OperandScope::Value(int(expr)).
absl::StatusOr<AttrValue> ReadAttr(Context& context, Cursor& cursor, SymbolScope& scope, OperandScope& operands);

// `(a, b, name=value)` of `op`, in normal form (normalize.h).
absl::StatusOr<AttrsId> ReadArgs(Context& context, Cursor& cursor, Op op, SymbolScope& scope, OperandScope& operands);

// A call with metadata in place of operands, as golden lines have it.
struct Call {
  Op op;
  AttrsId attrs;
  std::vector<MetaId> operands;
};
// Reads `op(args)`. NotFound [text_c2] when the op is unknown.
absl::StatusOr<Call> ReadCall(Context& context, Cursor& cursor, SymbolScope& scope);

// --- writing
// How an operand is written; default `$k`.
class OperandNames {
 public:
  virtual ~OperandNames() = default;
  virtual std::string Operand(uint32_t index) const;
  virtual std::string Graph(GraphId id) const;
};
// Metadata is written by PrintMeta (text.h).
std::string PrintAttr(const Context& context, const AttrValue& value, const OperandNames& names);
// `(a, b, name=value)`.
std::string PrintArgs(const Context& context, Op op, AttrsId attrs, const OperandNames& names);
// A call with metadata in place of operands.
std::string PrintCall(const Context& context, Op op, AttrsId attrs, std::span<const MetaId> operands);

}  // namespace tare
