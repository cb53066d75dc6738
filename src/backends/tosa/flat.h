// Small readings of verified flatbuffer tables: absent vectors are empty, absent fields 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backends/tosa/tosa_generated.h"

namespace tare::tosa {

template <typename Vector>
size_t SizeOf(const Vector* vector) {
  return vector == nullptr ? 0 : vector->size();
}

inline const flatbuffers::String* At(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* names,
                                     size_t i) {
  return names->Get(static_cast<flatbuffers::uoffset_t>(i));
}

inline std::string_view TextOf(const flatbuffers::String* name) {
  return name == nullptr ? std::string_view() : std::string_view(name->c_str(), name->size());
}

// Table of the operator's attribute fields, numbered in schema order.
inline const flatbuffers::Table* FieldsOf(const tosafile::Operator& op) {
  return static_cast<const flatbuffers::Table*>(op.attribute());
}
inline flatbuffers::voffset_t SlotOf(size_t index) { return static_cast<flatbuffers::voffset_t>(4 + 2 * index); }
inline uint32_t EnumField(const tosafile::Operator& op, size_t index) {
  return FieldsOf(op)->GetField<uint32_t>(SlotOf(index), 0);
}
inline bool BoolField(const tosafile::Operator& op, size_t index) {
  return FieldsOf(op)->GetField<uint8_t>(SlotOf(index), 0) != 0;
}

}  // namespace tare::tosa
