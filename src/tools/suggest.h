// Names that are like a mistyped one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tare {

// At most three of `names`, the most alike first; none when none is near. Two names are near when few
// letters have to be changed, added, dropped or swapped, in the whole or in the part between two dots.
// Cost: a table of two rows of the longer name for each.
std::vector<std::string> Nearest(std::string_view wanted, std::span<const std::string> names);

// `; did you mean A, B or C?`, or nothing.
std::string DidYouMean(std::string_view wanted, std::span<const std::string> names);

}  // namespace tare
