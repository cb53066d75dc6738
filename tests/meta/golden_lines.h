// Lines of the text files below tests/data.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "../test_files.h"
#include "meta/golden.h"

namespace tare {

inline std::vector<std::string> GoldenLinesOf(std::string_view folder) {
  const std::filesystem::path path = SourcePath("tests/data") / folder;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> lines;
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      if (!line.empty() && line[0] != '#') lines.push_back(line);
    }
  }
  return lines;
}

}  // namespace tare
