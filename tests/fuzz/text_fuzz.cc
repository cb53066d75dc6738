#include <cstddef>
#include <cstdint>

#include "text_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tare::TryText({reinterpret_cast<const char*>(data), size});
  return 0;
}
