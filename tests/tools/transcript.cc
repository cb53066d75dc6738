#include "transcript.h"

#include <cstdlib>

namespace tare::transcript {
namespace {

constexpr std::string_view kDots = "…";

// Text with `…` for any run of characters.
bool LineMatches(std::string_view want, std::string_view got) {
  const size_t dots = want.find(kDots);
  if (dots == std::string_view::npos) return want == got;
  if (!got.starts_with(want.substr(0, dots))) return false;
  const std::string_view rest = want.substr(dots + kDots.size());
  for (size_t i = dots; i <= got.size(); ++i) {
    if (LineMatches(rest, got.substr(i))) return true;
  }
  return false;
}

bool MatchesFrom(const std::vector<std::string>& want, size_t i, const std::vector<std::string>& got, size_t j) {
  for (; i < want.size(); ++i, ++j) {
    if (want[i] == kDots) {
      for (size_t k = j; k <= got.size(); ++k) {
        if (MatchesFrom(want, i + 1, got, k)) return true;
      }
      return false;
    }
    if (j >= got.size() || !LineMatches(want[i], got[j])) return false;
  }
  return j == got.size();
}

// `value` of `<!-- key: value -->`; "" when the line is something else.
std::string Directive(std::string_view line, std::string_view key) {
  const std::string open = "<!-- " + std::string(key) + ": ";
  if (!line.starts_with(open) || !line.ends_with(" -->")) return "";
  return std::string(line.substr(open.size(), line.size() - open.size() - 4));
}

void ParseConsole(const std::vector<std::string>& block, int first_line, std::vector<Step>& steps) {
  for (size_t i = 0; i < block.size();) {
    Step step;
    step.line = first_line + static_cast<int>(i);
    if (!block[i].starts_with("$ ")) {  // output without a command: kept as a step that cannot pass
      step.text = "echo 'a console block starts with a command'; exit 99";
      steps.push_back(step);
      return;
    }
    step.text = block[i++].substr(2);
    while (step.text.ends_with("\\") && i < block.size()) step.text += "\n" + block[i++];
    for (; i < block.size() && !block[i].starts_with("$ "); ++i) {
      if (block[i].starts_with("[exit ")) {
        step.want_exit = std::atoi(block[i].c_str() + 6);
      } else {
        step.want.push_back(block[i]);
      }
    }
    steps.push_back(step);
  }
}

std::string Join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text.append(line).append("\n");
  return text;
}

}  // namespace

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

bool Matches(const std::vector<std::string>& want, const std::vector<std::string>& got) {
  return MatchesFrom(want, 0, got, 0);
}

std::vector<Step> Parse(std::string_view markdown) {
  std::vector<Step> steps;
  const std::vector<std::string> lines = SplitLines(markdown);
  std::string file, part_of, not_run;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (const std::string value = Directive(lines[i], "file"); !value.empty()) file = value;
    if (const std::string value = Directive(lines[i], "part of"); !value.empty()) part_of = value;
    if (const std::string value = Directive(lines[i], "not run"); !value.empty()) not_run = value;
    if (!lines[i].starts_with("```")) continue;
    const std::string language = lines[i].substr(3);
    const int first_line = static_cast<int>(i) + 2;
    std::vector<std::string> block;
    for (++i; i < lines.size() && !lines[i].starts_with("```"); ++i) block.push_back(lines[i]);
    Step step;
    step.line = first_line;
    step.text = Join(block);
    if (!file.empty()) {
      step.kind = StepKind::kFile;
      step.path = file;
      steps.push_back(step);
    } else if (!part_of.empty()) {
      step.kind = StepKind::kPartOf;
      step.path = part_of;
      steps.push_back(step);
    } else if (not_run.empty() && language == "console") {
      ParseConsole(block, first_line, steps);
    } else if (not_run.empty() && language == "sh") {
      step.kind = StepKind::kScript;
      steps.push_back(step);
    }
    file = part_of = not_run = "";
  }
  return steps;
}

}  // namespace tare::transcript
