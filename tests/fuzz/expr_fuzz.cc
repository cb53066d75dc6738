#include <cstddef>
#include <cstdint>

#include "expr_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tare::TryExpression({reinterpret_cast<const char*>(data), size});
  return 0;
}
