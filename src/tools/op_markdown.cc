#include "tools/op_markdown.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "absl/strings/str_replace.h"
#include "ir/status.h"

namespace tare {
namespace {

constexpr std::string_view kMadeBy =
    "<!-- Made by `tare ops --markdown -o docs` (ninja -C build docs); do not edit. -->\n";

// Ops that share a row; the row is named after the first of them.
struct Entry {
  std::vector<const OpView*> ops;
  std::string anchor;  // of its heading within the page
};

// What GitHub makes of a heading: letters, digits, `_` and `-`, in lower case; the k-th alike gets `-k`.
std::string Anchor(std::string_view heading, std::map<std::string, int>& used) {
  std::string out;
  for (const char c : heading) {
    if (c == ' ') out += '-';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-') {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  const int count = used[out]++;
  return count == 0 ? out : Cat(out, "-", count);
}

// Text outside code: characters that Markdown would take for its own.
std::string Escape(std::string_view text) {
  return absl::StrReplaceAll(TextPiece(text), {{"\\", "\\\\"}, {"*", "\\*"}, {"_", "\\_"}, {"<", "\\<"}, {"[", "\\["}});
}

std::string_view FileOf(const OpView& view) { return view.rule.has_value() ? view.rule->file : ""; }
std::string_view FamilyOf(const Entry& entry) {
  return entry.ops[0]->rule.has_value() ? entry.ops[0]->rule->family : "";
}

// "aten_view" of "ops/aten_view.toml".
std::string ThemeOf(std::string_view file) {
  const size_t slash = file.rfind('/');
  std::string_view name = slash == std::string_view::npos ? file : file.substr(slash + 1);
  return std::string(name.substr(0, name.rfind('.')));
}

std::string Body(const Entry& entry) {
  const OpView& view = *entry.ops[0];
  std::string out;
  if (entry.ops.size() > 1) {
    out += "Also ";
    for (size_t i = 1; i < entry.ops.size(); ++i) CatTo(out, i > 1 ? ", " : "", "`", entry.ops[i]->def->name, "`");
    out += ".\n\n";
  }
  if (!view.def->doc.empty()) CatTo(out, Escape(view.def->doc), "\n\n");
  CatTo(out, "```\n", view.def->schema_text, "\n");
  if (view.rule.has_value()) {
    for (const auto& [name, text] : RuleFields(*view.rule)) CatTo(out, name, name == "let" ? " " : " = ", text, "\n");
  }
  out += "```\n\n";
  if (!view.rule.has_value()) out += "- no rule: metadata is what the file states\n";
  if (view.rule.has_value()) {
    for (const RuleText::Check& check : view.rule->checks) {
      CatTo(out, "- `", check.id, "` ", Escape(check.say), " — unless `", check.that, "`\n");
    }
  }
  const std::vector<std::string_view> traits = TraitsOf(*view.def);
  if (!traits.empty()) {
    out += "- traits:";
    for (size_t i = 0; i < traits.size(); ++i) CatTo(out, i > 0 ? ", " : " ", Escape(traits[i]));
    out += "\n";
  }
  if (view.example.has_value()) {
    CatTo(out, "- `", view.example->call, "` gives `", view.example->answer, "`\n");
  }
  if (!view.def->source.empty()) CatTo(out, "- source: ", Escape(view.def->source), "\n");
  return out;
}

// Entries by family, rows of their own last; within a family by name.
std::vector<Entry> EntriesOf(const std::vector<const OpView*>& ops) {
  std::map<std::pair<std::string_view, std::string_view>, Entry> rows;  // family, row
  std::vector<Entry> entries;
  for (const OpView* view : ops) {
    const bool ruled = view->rule.has_value();
    const std::string_view row = ruled ? view->rule->row : view->def->name;
    std::string_view family = ruled ? view->rule->family : "";
    if (family.empty()) family = "\x7f";
    Entry& entry = rows[{family, row}];
    if (view->def->name == row) {
      entry.ops.insert(entry.ops.begin(), view);
    } else {
      entry.ops.push_back(view);
    }
  }
  for (auto& [key, entry] : rows) entries.push_back(std::move(entry));
  return entries;
}

std::string FamilyTitle(std::string_view family) {
  return family.empty() ? "Rows of their own" : Cat("Family ", family);
}

// Fills in the anchors.
std::string PageText(std::vector<Entry>& entries) {
  std::string out;
  std::map<std::string, int> used;
  std::string_view family = "\n";
  for (Entry& entry : entries) {
    if (FamilyOf(entry) != family) {
      family = FamilyOf(entry);
      const std::string title = FamilyTitle(family);
      Anchor(title, used);
      CatTo(out, "\n## ", title, "\n");
    }
    entry.anchor = Anchor(entry.ops[0]->def->name, used);
    CatTo(out, "\n### ", entry.ops[0]->def->name, "\n\n", Body(entry));
  }
  return out;
}

struct Theme {
  std::string name, path;
  std::vector<Entry> entries;
  size_t num_ops = 0;
};

std::string IndexText(const std::map<std::string, Theme>& themes) {
  std::string out = Cat("# The ops\n\n", kMadeBy, R"(
What every op that tare knows gives and refuses, made from the rows of `ops/*.toml`. `tare ops NAME` shows one, `tare ops --json` is
the same for programs. Rules are in the language of [rules.md](rules.md), which also has the functions they call. A check with its id
says when a call is refused; `{…}` in its sentence is replaced by a value. Answers are those of PyTorch's fake tensors on CPU, also where they
are accidents: those are named in the op's text.

## By dialect and family

| dialect | file | ops | families |
|---|---|---|---|
)");
  for (const auto& [key, theme] : themes) {
    std::map<std::string_view, bool> dialects, families;
    for (const Entry& entry : theme.entries) {
      for (const OpView* view : entry.ops) dialects[DialectOf(view->def->name)] = true;
      if (!FamilyOf(entry).empty()) families[FamilyOf(entry)] = true;
    }
    out += "|";
    for (const auto& [name, yes] : dialects) CatTo(out, " ", name.empty() ? "(none)" : Escape(name));
    CatTo(out, " | [", Escape(theme.name), "](", theme.path, ") | ", theme.num_ops, " |");
    for (const auto& [name, yes] : families) {
      CatTo(out, " [", Escape(name), "](", theme.path, "#family-", name, ")");
    }
    out += " |\n";
  }
  std::map<std::string_view, std::string> links;  // by op
  for (const auto& [key, theme] : themes) {
    for (const Entry& entry : theme.entries) {
      for (const OpView* view : entry.ops) links[view->def->name] = Cat(theme.path, "#", entry.anchor);
    }
  }
  CatTo(out, "\n## By name\n");
  std::string_view dialect = "\n";
  for (const auto& [name, link] : links) {
    if (DialectOf(name) != dialect) {
      dialect = DialectOf(name);
      CatTo(out, "\n### ", dialect.empty() ? "without a dialect" : dialect, "\n\n");
    }
    CatTo(out, "- [", Escape(name), "](", link, ")\n");
  }
  return out;
}

}  // namespace

std::string MarkdownPage(const Context&, const std::vector<OpView>& ops) {
  std::vector<const OpView*> list;
  for (const OpView& view : ops) list.push_back(&view);
  std::vector<Entry> entries = EntriesOf(list);
  return Cat("# Ops\n", PageText(entries));
}

std::vector<MarkdownFile> MarkdownPages(const Context&, const std::vector<OpView>& ops) {
  std::map<std::string, std::vector<const OpView*>> by_file;
  for (const OpView& view : ops) by_file[ThemeOf(FileOf(view))].push_back(&view);
  std::map<std::string, Theme> themes;
  std::vector<MarkdownFile> files(1);
  for (const auto& [name, list] : by_file) {
    Theme theme;
    theme.name = name.empty() ? "declared" : name;
    theme.path = Cat("ops/", theme.name, ".md");
    theme.entries = EntriesOf(list);
    theme.num_ops = list.size();
    const std::string text = PageText(theme.entries);
    files.push_back(
        {theme.path, Cat("# ", theme.name, "\n\n", kMadeBy, "\nRows of `", FileOf(*list[0]),
                         "`; the index is [ops.md](../ops.md), the language [rules.md](../rules.md).\n", text)});
    themes.emplace(name, std::move(theme));
  }
  files[0] = {"ops.md", IndexText(themes)};
  return files;
}

}  // namespace tare
