#include <limits>

#include "ir/status.h"
#include "ir/text_parts.h"

namespace tare {
namespace {

void PrintParams(const QuantParams& params, std::string& out) {
  if (params.storage == DType::kBool) {
    out += "none";
    return;
  }
  CatTo(out, Name(params.storage), "(scale=[");
  for (size_t i = 0; i < params.scales.size(); ++i) CatTo(out, i > 0 ? "," : "", PrintDouble(params.scales[i]));
  out += "], zero=[";
  for (size_t i = 0; i < params.zero_points.size(); ++i) CatTo(out, i > 0 ? "," : "", params.zero_points[i]);
  out += "]";
  if (params.axis >= 0) CatTo(out, ", axis=", params.axis);
  CatTo(out, ", min=", params.qmin, ", max=", params.qmax, ")");
}

// Parameters with the lists they point to.
struct OwnedParams {
  QuantParams params;
  std::vector<double> scales;
  std::vector<int64_t> zero_points;
  QuantParams View() const {
    QuantParams view = params;
    view.scales = scales;
    view.zero_points = zero_points;
    return view;
  }
};

absl::StatusOr<OwnedParams> ReadParams(Cursor& cursor) {
  OwnedParams owned;
  QuantParams& params = owned.params;
  const size_t start = cursor.offset();
  const std::string_view word = cursor.Word();
  params.storage = DType::kBool;
  if (word == "none") return owned;
  const std::optional<DType> dtype = DTypeByName(word);
  if (!dtype || *dtype == DType::kBool) return cursor.ErrorAt(start, "expected quantisation parameters or none");
  params.storage = *dtype;
  TARE_RETURN_IF_ERROR(cursor.Expect("(scale=["));
  while (!cursor.Take("]")) {
    if (!owned.scales.empty()) TARE_RETURN_IF_ERROR(cursor.Expect(","));
    const std::optional<double> scale = ParseDouble(cursor.Until(",]"));
    if (!scale) return cursor.Error("expected a scale");
    owned.scales.push_back(*scale);
  }
  TARE_RETURN_IF_ERROR(cursor.Expect(","));
  TARE_RETURN_IF_ERROR(cursor.Expect("zero=["));
  while (!cursor.Take("]")) {
    if (!owned.zero_points.empty()) TARE_RETURN_IF_ERROR(cursor.Expect(","));
    TARE_ASSIGN_OR_RETURN(owned.zero_points.emplace_back(), cursor.Integer());
  }
  if (owned.scales.size() != owned.zero_points.size()) return cursor.Error("as many zero points as scales are needed");
  TARE_RETURN_IF_ERROR(cursor.Expect(","));
  if (cursor.Take("axis=")) {
    TARE_ASSIGN_OR_RETURN(const int64_t axis, cursor.Integer());
    if (axis < 0 || axis >= kMaxRank) return cursor.Error("the axis is out of range");
    params.axis = static_cast<int32_t>(axis);
    TARE_RETURN_IF_ERROR(cursor.Expect(","));
  }
  TARE_RETURN_IF_ERROR(cursor.Expect("min="));
  TARE_ASSIGN_OR_RETURN(params.qmin, cursor.Integer());
  TARE_RETURN_IF_ERROR(cursor.Expect(","));
  TARE_RETURN_IF_ERROR(cursor.Expect("max="));
  TARE_ASSIGN_OR_RETURN(params.qmax, cursor.Integer());
  TARE_RETURN_IF_ERROR(cursor.Expect(")"));
  return owned;
}

}  // namespace

void PrintQuant(const Context& context, QuantId quant, std::string& out) {
  if (!quant.has_value() || quant.index == 0) return;
  const QuantRecord& record = context.quants.Get(quant);
  out += " quant(";
  for (size_t i = 0; i < record.operands.size(); ++i) {
    if (i > 0) out += ", ";
    PrintParams(record.operands[i], out);
  }
  if (record.has_result) {
    out += record.operands.empty() ? "-> " : " -> ";
    PrintParams(record.result, out);
  }
  out += ')';
}

absl::StatusOr<QuantId> ReadQuant(Context& context, Cursor& cursor) {
  TARE_RETURN_IF_ERROR(cursor.Expect("("));
  std::vector<OwnedParams> operands;
  OwnedParams result;
  QuantRecord record;
  while (cursor.Peek() != '-' && cursor.Peek() != ')') {
    if (!operands.empty()) TARE_RETURN_IF_ERROR(cursor.Expect(","));
    if (operands.size() == static_cast<size_t>(kMaxOperands)) return cursor.Error("too many operands");
    TARE_ASSIGN_OR_RETURN(operands.emplace_back(), ReadParams(cursor));
  }
  if (cursor.Take("->")) {
    record.has_result = true;
    TARE_ASSIGN_OR_RETURN(result, ReadParams(cursor));
    record.result = result.View();
  }
  TARE_RETURN_IF_ERROR(cursor.Expect(")"));
  std::vector<QuantParams> views;
  for (const OwnedParams& params : operands) views.push_back(params.View());
  record.operands = views;
  return context.quants.Intern(record);
}

}  // namespace tare
