#include <cstddef>
#include <cstdint>

#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tare::TryInput({reinterpret_cast<const char*>(data), size});
  return 0;
}
