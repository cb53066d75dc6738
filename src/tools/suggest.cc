#include "tools/suggest.h"

#include <algorithm>
#include <cctype>

namespace tare {
namespace {

constexpr size_t kMaxSuggestions = 3;
constexpr size_t kMaxLength = 128;  // longer names are compared by their beginning

char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Letters to change, add, drop or swap with their neighbour until `a` is `b`; case does not count.
size_t Distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kMaxLength);
  b = b.substr(0, kMaxLength);
  std::vector<size_t> before, last(b.size() + 1), now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = Lower(a[i - 1]) == Lower(b[j - 1]);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) && Lower(a[i - 2]) == Lower(b[j - 1]);
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = last;
    std::swap(last, now);
  }
  return last[b.size()];
}

// `aten.add.Tensor`, `aten.add` and `add`: what a person may have meant to write of a dotted name.
std::vector<std::string_view> Parts(std::string_view name) {
  std::vector<std::string_view> parts = {name};
  const size_t first = name.find('.'), last = name.rfind('.');
  if (first == std::string_view::npos) return parts;
  if (last != first) parts.push_back(name.substr(0, last));
  if (last != first) parts.push_back(name.substr(first + 1, last - first - 1));
  parts.push_back(name.substr(first + 1));
  return parts;
}

}  // namespace

std::vector<std::string> Nearest(std::string_view wanted, std::span<const std::string> names) {
  const size_t most = std::max<size_t>(1, wanted.size() / 4);
  std::vector<std::pair<size_t, std::string_view>> near;
  for (const std::string& name : names) {
    size_t best = most + 1;
    for (const std::string_view part : Parts(name)) {
      const size_t length = part.size() > wanted.size() ? part.size() - wanted.size() : wanted.size() - part.size();
      if (length < best) best = std::min(best, Distance(wanted, part));
    }
    if (best <= most) near.emplace_back(best, name);
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (const auto& [distance, name] : near) {
    if (out.size() == kMaxSuggestions) break;
    out.emplace_back(name);
  }
  return out;
}

std::string DidYouMean(std::string_view wanted, std::span<const std::string> names) {
  const std::vector<std::string> near = Nearest(wanted, names);
  std::string text;
  for (size_t i = 0; i < near.size(); ++i) {
    text += i == 0 ? "; did you mean " : i + 1 < near.size() ? ", " : " or ";
    text += near[i];
  }
  return near.empty() ? text : text + "?";
}

}  // namespace tare
