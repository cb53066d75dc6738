// Ops as Markdown: docs/ops.md and the pages below docs/ops.
#pragma once

#include <string>
#include <vector>

#include "ir/context.h"
#include "tools/op_view.h"

namespace tare {

struct MarkdownFile {
  std::string path;  // "ops.md", "ops/aten_view.md"
  std::string text;
};

// One page for each file of rows, families together, and first an index by dialect, family and name.
std::vector<MarkdownFile> MarkdownPages(const Context& context, const std::vector<OpView>& ops);

// The ops on one page, without an index.
std::string MarkdownPage(const Context& context, const std::vector<OpView>& ops);

}  // namespace tare
