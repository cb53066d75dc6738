#include "tools/pass_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tare {

std::string PassLine(const PassStats& stats, bool timing) {
  std::string line = absl::StrCat(stats.name, ": ");
  if (timing) absl::StrAppendFormat(&line, "%.3f ms, ", static_cast<double>(stats.ns) * 1e-6);
  absl::StrAppend(&line, stats.skipped ? "skipped, none of its ops occurs" : StatsLine(stats.counters));
  if (timing && !stats.skipped)
    absl::StrAppend(&line, ", memo ", stats.memo_hits, " of ", stats.memo_hits + stats.memo_misses);
  return line + "\n";
}

void WritePassFields(JsonWriter& json, const PassStats& stats) {
  json.Field("name", stats.name);
  json.Field("ns", stats.ns);
  json.Field("skipped", stats.skipped);
  json.Field("changed", stats.changed);
  json.Field("redefined", stats.counters.redefined);
  json.Field("inserted", stats.counters.inserted);
  json.Field("erased", stats.counters.erased);
  json.Field("reinferred", stats.counters.reinferred);
  json.Field("cold", stats.counters.cold);
  json.Field("memo_hits", stats.memo_hits);
  json.Field("memo_misses", stats.memo_misses);
}

}  // namespace tare
