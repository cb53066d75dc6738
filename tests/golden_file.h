// Golden files of passes: a program with directives above it, and below `# expect` what running it gives.
//
//   # run: remove-noops
//   graph main(…) { … }
//   # expect
//   graph main(…) { … }
//   # stats: 1 redefined, …
//
// TARE_UPDATE_GOLDEN=1 rewrites the part below `# expect`.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "meta/infer.h"
#include "passes/pass_list.h"

namespace tare {

// Text of a directive `# name: value` above the program, or "".
std::string Directive(std::string_view text, std::string_view name);

// Passes of the directive `run`. `# run: fold-constants keep_rescales` sets an option to true.
std::vector<absl::StatusOr<Pass>> PassesOf(Context& context, std::span<const PassRow> rows, std::string_view input);

// The program of a golden file. Its constants have no bytes there: they get small positive values, the same in every
// run, or 0 where the name has "zero".
Program ParseGolden(Context& context, std::string_view input);

// Runs the passes with every check there is. Returns the program and a line for each pass.
struct GoldenAnswer {
  std::string program, stats;
};
GoldenAnswer RunGolden(Context& context, std::span<const PassRow> rows, std::string_view input,
                       const InferrerOptions& options);

// Compares, or updates, every file of a folder. `run` gets the text above `# expect`.
void CheckGoldenFiles(std::string_view folder, const std::function<GoldenAnswer(const std::string& input)>& run);

}  // namespace tare
