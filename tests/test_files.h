// Where tests find their files: those of the repo, and those of ../shared where TARE_SHARED says that it is there.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tare {

inline std::filesystem::path SourcePath(std::string_view relative) {
  const char* root = std::getenv("TARE_SOURCE_ROOT");
  return std::filesystem::path(root == nullptr ? "." : root) / std::string(relative);
}

// A path that need not exist; empty without TARE_SHARED.
inline std::filesystem::path SharedPath(std::string_view relative) {
  const char* shared = std::getenv("TARE_SHARED");
  return shared == nullptr ? std::filesystem::path() : std::filesystem::path(shared) / std::string(relative);
}

inline std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE_MESSAGE(in.good(), path.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// All below the folder whose names end in `extension`, ".pt2" say, sorted; none when there is no such folder.
inline std::vector<std::filesystem::path> FilesBelow(const std::filesystem::path& folder, std::string_view extension) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::exists(folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == extension) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace tare
