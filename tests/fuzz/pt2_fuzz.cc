#include <cstddef>
#include <cstdint>

#include "pt2_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tare::TryPt2({reinterpret_cast<const char*>(data), size});
  return 0;
}
