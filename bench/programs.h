// What benchmarks work on: files of the repository and of the corpus beside it, and made-up programs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/context.h"
#include "ir/program.h"

namespace tare::bench {

// `name` below tests/data, where the source tree is TARE_SOURCE_ROOT or the working folder.
std::string DataFile(std::string_view name);
// `name` below the shared folder (TARE_SHARED, or ../shared from the source tree), if it is there.
std::optional<std::string> SharedFile(std::string_view name);
// The files below `folder` with one of `suffixes`, sorted.
std::vector<std::string> FilesBelow(const std::string& folder, std::string_view suffix);

// A chain of `nodes` calls: one in `rare` is aten.add.Tensor(%prev, %prev, alpha=1), the others take
// turns among elementwise ops and permutations. Every value is f32[8,16] or its transpose.
Program MakeChain(Context& context, int nodes, int rare);

// Ends the program with a message when `text` is no program.
Program ParseOrDie(Context& context, std::string_view text);
// Ends the program with a message when a file of the repository cannot be read.
Program ReadOrDie(Context& context, const std::string& path);

}  // namespace tare::bench
