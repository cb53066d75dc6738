#include "tools/progress.h"

#include <unistd.h>

#include <cstdio>

namespace tare {
namespace {

using std::chrono::milliseconds;

// Short work shows nothing; long work not more often than the eye can follow.
constexpr milliseconds kFirst(500), kInterval(100);

}  // namespace

Progress::Progress(std::string_view what, int64_t total) : what_(what), total_(total), shown_(isatty(2) == 1) {}

Progress::~Progress() { Clear(); }

void Progress::Step() {
  const std::lock_guard lock(mutex_);
  ++finished_;
  if (!shown_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - start_ < kFirst || now - last_ < kInterval) return;
  last_ = now;
  on_screen_ = true;
  std::fprintf(stderr, "\r%.*s %lld of %lld ", static_cast<int>(what_.size()), what_.data(),
               static_cast<long long>(finished_), static_cast<long long>(total_));
}

void Progress::Clear() {
  const std::lock_guard lock(mutex_);
  if (!on_screen_) return;
  std::fputs("\r\x1b[K", stderr);
  on_screen_ = false;
}

}  // namespace tare
