#include <cstddef>
#include <cstdint>

#include "rules_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tare::TryRules({reinterpret_cast<const char*>(data), size});
  return 0;
}
