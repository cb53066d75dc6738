#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
// Keeps the order of folders: ir <- meta <- {formats, passes, eval} <- backends <- capi <- tools.
// A folder includes itself and folders to its left; the two backends never include each other.
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "../test_files.h"
#include "doctest/doctest.h"

namespace {

namespace fs = std::filesystem;

struct Folder {
  std::string name;
  std::set<std::string> may_include;
};

const std::vector<Folder>& Folders() {
  static const std::vector<Folder> folders = {
      {"ir", {"ir"}},
      {"meta", {"ir", "meta"}},
      {"formats", {"ir", "meta", "formats"}},
      {"passes", {"ir", "meta", "passes"}},
      {"eval", {"ir", "meta", "eval"}},
      {"backends/tosa", {"ir", "meta", "formats", "passes", "eval", "backends/tosa"}},
      {"backends/cortex_m", {"ir", "meta", "formats", "passes", "eval", "backends/cortex_m"}},
      {"tools", {"ir", "meta", "formats", "passes", "eval", "backends/tosa", "backends/cortex_m", "capi", "tools"}},
      {"capi", {"ir", "meta", "formats", "passes", "eval", "backends/tosa", "backends/cortex_m", "capi"}},
  };
  return folders;
}

// The folder of Folders() that `path`, relative to src/, lies in; "" when none.
std::string FolderOf(const std::string& path) {
  for (const Folder& folder : Folders()) {
    if (path.starts_with(folder.name + "/")) return folder.name;
  }
  return "";
}

// Faults of one file, as lines `path: what`.
std::vector<std::string> FaultsOf(const fs::path& src, const fs::path& file) {
  std::vector<std::string> faults;
  const std::string path = fs::relative(file, src).generic_string();
  const std::string folder = FolderOf(path);
  if (folder.empty()) return {path + ": lies in no known folder"};
  std::ifstream in(file);
  std::string line;
  constexpr std::string_view kInclude = "#include \"";
  while (std::getline(in, line)) {
    if (!line.starts_with(kInclude)) continue;
    const std::string target = line.substr(kInclude.size(), line.find('"', kInclude.size()) - kInclude.size());
    if (!fs::exists(src / target)) {  // third party and generated headers
      if (target.find('/') == std::string::npos) faults.push_back(path + ": includes do not start at src/: " + target);
      continue;
    }
    const std::string used = FolderOf(target);
    for (const Folder& f : Folders()) {
      if (f.name == folder && !f.may_include.contains(used)) {
        std::string fault = path;
        fault.append(": ").append(folder).append(" must not include ").append(target);
        faults.push_back(fault);
      }
    }
  }
  return faults;
}

}  // namespace

TEST_CASE("a folder of src/ includes itself and folders to its left") {
  const fs::path src = tare::SourcePath("src");
  int files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(src)) {
    const std::string extension = entry.path().extension();
    if (extension != ".h" && extension != ".cc") continue;
    ++files;
    for (const std::string& fault : FaultsOf(src, entry.path())) FAIL_CHECK(fault);
  }
  CHECK_GT(files, 10);
}
