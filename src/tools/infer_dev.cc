// `tare infer` without the rest of the command, for authors of rows:
//
//   tare-infer-dev CALL…
//   tare-infer-dev [--json] [--summary-by-op] [--ops FILE]… --file FILE…
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string_view>

#include "meta/context_factory.h"
#include "tools/infer_lines.h"

int main(int argc, char** argv) {
  tare::InferOptions options;
  bool files = false;
  const auto context = tare::MakeContext();
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--json") {
      options.json = true;
    } else if (word == "--summary-by-op") {
      options.summary_by_op = true;
    } else if (word == "--file") {
      files = true;
    } else if (word == "--ops" && i + 1 < argc) {
      std::ifstream in(argv[++i]);
      std::ostringstream text;
      text << in.rdbuf();
      if (const auto status = tare::AddOpsFile(*context, argv[i], text.str()); !status.ok()) {
        return tare::Complain(argv[i], status);
      }
    } else {
      (files ? options.files : options.calls).emplace_back(word);
    }
  }
  return tare::AnswerLines(*context, options);
}
