// Commands written in Markdown, run and compared: the tests of the command and of the documents.
//
//   ```console            each `$ command` is run by bash; the lines below it are its whole output,
//   $ tare --version      stdout and stderr together. `…` alone on a line stands for any lines, within a
//   tare …                line for any text. `[exit 2]` as the last line is the exit code, else 0.
//   ```
//   ```sh                 every line is run, nothing is compared, and the exit code is 0.
//   <!-- file: NAME -->   the next block is written to NAME.
//   <!-- part of: PATH -->  the next block stands in PATH, word for word.
//   <!-- not run: WHY -->   the next block is skipped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tare::transcript {

enum class StepKind { kCommand, kScript, kFile, kPartOf };

struct Step {
  StepKind kind = StepKind::kCommand;
  int line = 0;                   // of the command or the block, from 1
  std::string text;               // the command, script or content
  std::string path;               // kFile, kPartOf
  std::vector<std::string> want;  // kCommand: expected output
  int want_exit = 0;
};

std::vector<Step> Parse(std::string_view markdown);
// `want` lines with `…` against the output.
bool Matches(const std::vector<std::string>& want, const std::vector<std::string>& got);
std::vector<std::string> SplitLines(std::string_view text);

}  // namespace tare::transcript
