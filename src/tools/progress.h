// A counter on stderr for long work, only when that is a terminal. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string_view>

namespace tare {

class Progress {
 public:
  Progress(std::string_view what, int64_t total);
  ~Progress();  // wipes the line
  void Step();
  // Wipes the line, so that something else can be printed.
  void Clear();

 private:
  const std::string_view what_;
  const int64_t total_;
  const bool shown_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_;
  std::mutex mutex_;
  int64_t finished_ = 0;
  bool on_screen_ = false;
};

}  // namespace tare
