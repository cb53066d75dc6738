// What is done with bytes that may be a .pt2 archive or the JSON of a program: shared by the fuzzer and
// the replay of its seeds. Aborts when what was written does not read back.
#pragma once

#include <string_view>

namespace tare {

// A text that starts like JSON is a program's JSON; anything else is an archive.
void TryPt2(std::string_view bytes);

}  // namespace tare
