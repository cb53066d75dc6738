// Values as messages show them.
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ir/status.h"
#include "meta/rule_context.h"

namespace tare {
namespace {

constexpr size_t kMaxShown = 64;  // items of a list

std::string_view FormatName(MemoryFormat format) {
  switch (format) {
    case MemoryFormat::kContiguous:
      return "contiguous";
    case MemoryFormat::kChannelsLast:
      return "channels_last";
    case MemoryFormat::kChannelsLast3d:
      return "channels_last_3d";
    case MemoryFormat::kPreserve:
      return "preserve";
  }
  return "";
}

// Shortest text that reads back as the same number.
std::string PrintReal(double value) {
  for (int digits = 6; digits < 17; ++digits) {
    const std::string text = absl::StrFormat("%.*g", digits, value);
    double back = 0;
    if (absl::SimpleAtod(text, &back) && back == value) return text;
  }
  return absl::StrFormat("%.17g", value);
}

// Adds the items until the list is long enough to be cut.
template <typename List, typename PrintItem>
std::string PrintList(const List& list, std::string_view open, std::string_view close, const PrintItem& print) {
  std::string out(open);
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ", ";
    if (i == kMaxShown) {
      out += "…";
      break;
    }
    out += print(list[i]);
  }
  return absl::StrCat(out, TextPiece(close));
}

}  // namespace

std::string RuleContext::Print(const Value& value) const {
  switch (value.kind) {
    case ValueKind::kNone:
      return "none";
    case ValueKind::kBool:
      return value.flag ? "true" : "false";
    case ValueKind::kSymBool:
    case ValueKind::kSymFloat:
      return syms().Print(value.expr);
    case ValueKind::kInt:
      return syms().Print(value.dim);
    case ValueKind::kFloat:
      return PrintReal(value.real);
    case ValueKind::kComplex:
      return "a complex number";
    case ValueKind::kString:
      return std::string(value.text());
    case ValueKind::kDType:
      return std::string(Name(value.dtype));
    case ValueKind::kMemoryFormat:
      return std::string(FormatName(value.memory_format));
    case ValueKind::kLayout:
      return value.layout == Layout::kStrided ? "strided" : "a sparse layout";
    case ValueKind::kDevice:
      return "a device";
    case ValueKind::kTensor: {
      std::string out(Name(value.tensor->dtype));
      for (size_t i = 0; i < value.tensor->shape.size(); ++i) {
        absl::StrAppend(&out, i == 0 ? "[" : ",", syms().Print(value.tensor->shape[i]));
      }
      return absl::StrCat(out, value.tensor->shape.empty() ? "[]" : "]");
    }
    case ValueKind::kInts:
      return PrintList(value.dims(), "[", "]", [&](Dim dim) { return syms().Print(dim); });
    case ValueKind::kList:
      return PrintList(value.items(), "[", "]", [&](const Value& item) { return Print(item); });
    case ValueKind::kTuple:
      return PrintList(value.items(), "(", ")", [&](const Value& item) { return Print(item); });
    case ValueKind::kGraph:
      return "a graph";
  }
  return "";
}

}  // namespace tare
