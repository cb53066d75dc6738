// The text form: print and parse, round trip.
//
//   graph main(%x: f32[s0,3], %w: f32[3,3]) {
//     %a = aten.mm.default(%x, %w) : f32[s0,3]
//     %b = aten.permute.default(%a, dims=[1,0]) : f32[3,s0]{1,3}
//     return %b
//   }
//
// Metadata and arguments are in the notation of golden lines; see docs/text.md.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/context.h"
#include "ir/inferrer.h"
#include "ir/program.h"

namespace tare {

std::string PrintMeta(const Context& context, MetaId meta);
std::string PrintMeta(const Context& context, const Meta& meta);
std::string PrintAttr(const Context& context, const AttrValue& value);
// One node as `%name = op(args) : meta`.
std::string PrintNode(const Context& context, const Program& program, GraphId graph, NodeId node);
std::string PrintGraph(const Context& context, const Program& program, GraphId graph);
std::string PrintProgram(const Context& context, const Program& program);

// Symbols met for the first time are made backed with range [2, inf) for names in s…, unbacked with
// [0, inf) for names in u…, unless `symbols { s0 in [2, 64] % 4 }` lines state otherwise. Where a
// node has no `: meta`, `inferrer` is asked. Nothing is verified beyond what reading needs.
// Errors: InvalidArgument [text_c1] with line and column.
absl::StatusOr<Program> ParseProgram(Context& context, std::string_view text, Inferrer* inferrer = nullptr);
absl::StatusOr<MetaId> ParseMeta(Context& context, std::string_view text, SymbolScope& scope);

// Equal dtype, layout, shape, strides, offset; strides of size-1 dims and of tensors without
// elements carry no meaning and are not compared. Tuples and lists elementwise.
bool SameMeta(const Context& context, MetaId a, MetaId b);
// True when strides are the contiguous ones, modulo dims that carry no meaning.
bool IsContiguous(const Context& context, const TensorMeta& tensor);

}  // namespace tare
