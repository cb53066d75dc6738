// What a node holds as numbers and a file as constants and attribute fields.
#include <limits>

#include "backends/tosa/flat.h"
#include "backends/tosa/region_reader.h"
#include "eval/requantize.h"

namespace tare::tosa {
namespace {

constexpr size_t kMaxInts = 64;  // of an attribute

absl::Status BadField(std::string_view name, std::string_view what) {
  return InvalidError("tosa_read_c11", "attribute ", name, " ", what);
}

}  // namespace

absl::StatusOr<RegionReader::Numbers> RegionReader::NumbersOf(const flatbuffers::String* name, size_t max_count) {
  TARE_ASSIGN_OR_RETURN(const Value* value, Find(name));
  if (value->tensor == nullptr || value->maker == nullptr || value->maker->op() != kConst) {
    return UnimplementedError("tosa_read_c10", "operand ", Shown(name), " must be a constant");
  }
  Numbers numbers;
  TARE_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, FileElements(*value, numbers.count));
  TARE_ASSIGN_OR_RETURN(numbers.dtype, TypeOf(name));
  if (numbers.count > max_count) {
    return InvalidError("tosa_read_c9", "operand ", Shown(name), " has ", numbers.count, " elements");
  }
  TARE_RETURN_IF_ERROR(FileReader::Charge(file_.numbers, numbers.count));
  numbers.bytes = UnpackElements(numbers.dtype, numbers.count, bytes);
  return numbers;
}

// One element that the node holds as a number.
absl::Status RegionReader::ReadNumber(Draft& draft, const OperandRow& operand, const flatbuffers::String* name) {
  TARE_ASSIGN_OR_RETURN(const Numbers numbers, NumbersOf(name, 1));
  const auto expect = [&](DType dtype) {
    return numbers.dtype == dtype ? absl::OkStatus()
                                  : InvalidError("tosa_read_c9", "operand ", Shown(name), " is ", Name(numbers.dtype),
                                                 ", not ", Name(dtype));
  };
  switch (operand.kind) {
    case OperandKind::kByte:
      TARE_RETURN_IF_ERROR(expect(DType::kI8));
      draft.args.push_back({operand.arg, AttrValue::Int(DecodeInt(numbers.dtype, numbers.At(0)))});
      return absl::OkStatus();
    case OperandKind::kFill:
      TARE_RETURN_IF_ERROR(expect(draft.input));
      draft.args.push_back({operand.arg, DecodeElement(numbers.dtype, numbers.At(0))});
      return absl::OkStatus();
    case OperandKind::kInputZero:
    case OperandKind::kOutputZero: {
      const bool input = operand.kind == OperandKind::kInputZero;
      TARE_RETURN_IF_ERROR(expect(input ? draft.input : draft.result));
      int64_t value = DecodeInt(numbers.dtype, numbers.At(0));
      const bool is_unsigned = BoolField(draft.op, input ? 3 : 4);
      if (is_unsigned && value < 0 && BitsOf(numbers.dtype) <= 16) value += int64_t{1} << BitsOf(numbers.dtype);
      draft.args.push_back({operand.arg, AttrValue::Int(value)});
      return absl::OkStatus();
    }
    case OperandKind::kZeroPoint:
    case OperandKind::kResultZero: {
      DType of = draft.result;
      if (operand.kind == OperandKind::kZeroPoint) {
        size_t index = 0;
        while (draft.row.operands[index].arg != operand.arg) ++index;
        TARE_ASSIGN_OR_RETURN(of, TypeOf(At(draft.op.inputs(), index)));
      }
      TARE_RETURN_IF_ERROR(expect(of));
      const AttrValue value = DecodeElement(numbers.dtype, numbers.At(0));
      const bool zero = value.kind == AttrKind::kFloat ? value.real == 0 : DecodeInt(numbers.dtype, numbers.At(0)) == 0;
      if (value.kind == AttrKind::kFloat && !zero) {
        return InvalidError("tosa_read_c11", "zero point ", value.real, " of a float");
      }
      if (!zero) draft.zero_points.push_back({operand.arg, DecodeInt(numbers.dtype, numbers.At(0))});
      return absl::OkStatus();
    }
    default:
      return absl::InternalError("an operand kind without a reader");
  }
}

// Multipliers and shifts as real scales: exact, and the writer finds the same scaling of every value.
absl::Status RegionReader::ReadScales(Draft& draft) {
  constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();
  const bool wide = BoolField(draft.op, 0);
  const bool per_channel = BoolField(draft.op, 2);
  TARE_ASSIGN_OR_RETURN(const Numbers multipliers, NumbersOf(At(draft.op.inputs(), 1), kNoLimit));
  TARE_ASSIGN_OR_RETURN(const Numbers shifts, NumbersOf(At(draft.op.inputs(), 2), kNoLimit));
  if (multipliers.dtype != (wide ? DType::kI32 : DType::kI16) || shifts.dtype != DType::kI8 ||
      multipliers.count != shifts.count || (!per_channel && multipliers.count != 1)) {
    return InvalidError("tosa_read_c14", multipliers.count, " multipliers of ", Name(multipliers.dtype), " and ",
                        shifts.count, " shifts of ", Name(shifts.dtype), " do not go together");
  }
  const ScaleWidth width = wide ? ScaleWidth::k32 : ScaleWidth::k16;
  const bool doubled = EnumField(draft.op, 1) == static_cast<uint32_t>(tosafile::RoundingMode::DOUBLE_ROUND);
  std::vector<AttrValue>& scales = draft.lists.emplace_back();
  for (size_t i = 0; i < multipliers.count; ++i) {
    const FixedScale scale{static_cast<int32_t>(DecodeInt(multipliers.dtype, multipliers.At(i))),
                           static_cast<int32_t>(DecodeInt(DType::kI8, shifts.At(i)))};
    if (scale.multiplier < 0 || scale.shift < kMinShift || scale.shift > kMaxShift) {
      return InvalidError("tosa_read_c14", "multiplier ", scale.multiplier, " and shift ", scale.shift,
                          ": they must be at least 0 and within ", kMinShift, " ... ", kMaxShift);
    }
    const double real = RealScaleOf(scale);
    const absl::StatusOr<FixedScale> again = FixedScaleOf(real, width);
    if (!again.ok() || (doubled && !(*again == scale) && scale.multiplier != 0)) {
      return UnimplementedError("tosa_read_c14", "multiplier ", scale.multiplier, " with shift ", scale.shift,
                                " under DOUBLE_ROUND: only multipliers in their largest form can be read");
    }
    scales.push_back(AttrValue::Float(real));
  }
  draft.args.push_back({"scale", AttrValue::List(scales)});
  return absl::OkStatus();
}

absl::Status RegionReader::ReadField(Draft& draft, const FieldRow& field, size_t index) {
  const tosafile::Operator& op = draft.op;
  const auto add = [&](const AttrValue& value) {
    if (!field.arg.empty()) draft.args.push_back({field.arg, value});
    return absl::OkStatus();
  };
  switch (field.kind) {
    case FieldKind::kEnd:
    case FieldKind::kPerChannel:
    case FieldKind::kGraph:
      return absl::OkStatus();
    case FieldKind::kInt:
      return add(AttrValue::Int(FieldsOf(op)->GetField<int32_t>(SlotOf(index), 0)));
    case FieldKind::kInts: {
      const auto* vector = FieldsOf(op)->GetPointer<const flatbuffers::Vector<int32_t>*>(SlotOf(index));
      if (vector == nullptr || vector->size() > kMaxInts) return BadField(field.arg, "is missing or too long");
      std::vector<int64_t>& ints = draft.ints.emplace_back();
      for (flatbuffers::uoffset_t i = 0; i < vector->size(); ++i) ints.push_back(vector->Get(i));
      return add(AttrValue::Ints(ints));
    }
    case FieldKind::kBool:
      return add(AttrValue::Bool(BoolField(op, index)));
    case FieldKind::kNanMode: {
      // Left at 0 by writers where the type makes it moot.
      const uint32_t mode = EnumField(op, index);
      if (mode > static_cast<uint32_t>(tosafile::NanPropagationMode::IGNORE)) {
        return BadField("nan_mode", "is unknown");
      }
      return add(AttrValue::String(mode == static_cast<uint32_t>(tosafile::NanPropagationMode::IGNORE) ? "IGNORE"
                                                                                                       : "PROPAGATE"));
    }
    case FieldKind::kAccType:
    case FieldKind::kInputAccType: {
      const std::optional<DType> dtype = DTypeOfFile(static_cast<tosafile::DType>(EnumField(op, index)));
      if (!dtype) return BadField("acc_type", "is no element type");
      if (field.kind == FieldKind::kAccType && *dtype == DefaultAccType(draft.input, draft.result)) {
        return absl::OkStatus();
      }
      return add(AttrValue::OfDType(*dtype));
    }
    case FieldKind::kMinValue:
    case FieldKind::kMaxValue: {
      const auto* bytes = FieldsOf(op)->GetPointer<const flatbuffers::Vector<uint8_t>*>(SlotOf(index));
      const size_t needed = FileBytes(draft.input, 1);
      if (bytes == nullptr || bytes->size() < needed) return BadField(field.arg, "has too few bytes");
      const std::vector<std::byte> element =
          UnpackElements(draft.input, 1, std::as_bytes(std::span(bytes->data(), bytes->size())));
      return add(DecodeElement(draft.input, element));
    }
    case FieldKind::kResizeMode: {
      const uint32_t mode = EnumField(op, index);
      if (mode == static_cast<uint32_t>(tosafile::ResizeMode::NEAREST)) return add(AttrValue::String("nearest"));
      if (mode == static_cast<uint32_t>(tosafile::ResizeMode::BILINEAR)) return add(AttrValue::String("bilinear"));
      return BadField("mode", "is unknown");
    }
    case FieldKind::kScale32: {
      const bool wide = BoolField(op, index);
      return wide == (draft.input != DType::kI48) ? absl::OkStatus() : add(AttrValue::Bool(wide));
    }
    case FieldKind::kRounding:
      switch (static_cast<tosafile::RoundingMode>(EnumField(op, index))) {
        case tosafile::RoundingMode::SINGLE_ROUND:
          return add(AttrValue::String("SINGLE_ROUND"));
        case tosafile::RoundingMode::INEXACT_ROUND:
          return add(AttrValue::String("INEXACT_ROUND"));
        case tosafile::RoundingMode::DOUBLE_ROUND:
          return add(AttrValue::String("DOUBLE_ROUND"));
        default:
          return BadField("rounding_mode", "is unknown");
      }
    case FieldKind::kBlockSize:
      return UnimplementedError("tosa_read_c8", "block-scaled operators");
  }
  return absl::OkStatus();
}

}  // namespace tare::tosa
