// What is done with bytes that may be a program's text: shared by the fuzzer and the replay of its
// seeds. Aborts when what was printed does not read back as the same text.
#pragma once

#include <string_view>

namespace tare {

void TryText(std::string_view bytes);

}  // namespace tare
