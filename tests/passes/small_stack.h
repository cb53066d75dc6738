// Runs a function on a thread with 1 MB of stack, where recursion on graph depth shows.
#pragma once

#include <pthread.h>

#include "doctest/doctest.h"

namespace tare {

template <typename Function>
void OnSmallStack(Function function) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1 << 20);
  pthread_t thread;
  REQUIRE_EQ(pthread_create(
                 &thread, &attributes,
                 [](void* f) -> void* {
                   (*static_cast<Function*>(f))();
                   return nullptr;
                 },
                 &function),
             0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace tare
