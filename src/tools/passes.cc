// `tare passes`: the passes there are.
#include <cstdio>

#include "absl/strings/str_format.h"
#include "passes/pass_list.h"
#include "tools/exit_code.h"
#include "tools/json_writer.h"
#include "tools/verbs.h"

namespace tare {

int RunListPasses(const PassesOptions& options) {
  if (!options.json) {
    for (const PassRow& row : BuiltinPasses()) {
      std::printf("%-20s %s\n", std::string(row.name).c_str(), std::string(row.doc).c_str());
    }
    return kExitOk;
  }
  JsonWriter json;
  json.Array([&] {
    for (const PassRow& row : BuiltinPasses()) {
      json.Object([&] {
        json.Field("name", row.name);
        json.Field("doc", row.doc);
      });
    }
  });
  json.Print();
  return kExitOk;
}

}  // namespace tare
