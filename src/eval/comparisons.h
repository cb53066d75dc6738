// Comparisons of two elements, as kernels of both dialects take them.
#pragma once

namespace tare {

struct Equal {
  template <typename T>
  static bool Of(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <typename T>
  static bool Of(T a, T b) {
    return a != b;
  }
};
struct Less {
  template <typename T>
  static bool Of(T a, T b) {
    return a < b;
  }
};
struct LessEqual {
  template <typename T>
  static bool Of(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <typename T>
  static bool Of(T a, T b) {
    return a > b;
  }
};
struct GreaterEqual {
  template <typename T>
  static bool Of(T a, T b) {
    return a >= b;
  }
};

}  // namespace tare
