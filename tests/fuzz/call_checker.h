// What is done with a call made of bytes: shared by the fuzzer, the replay of its seeds and the
// random test.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace tare {

// Asks calls and says what is wrong with the answers. Keeps a Context between calls, a new one from
// time to time. One thread.
class CallChecker {
 public:
  CallChecker();
  ~CallChecker();
  // "" when all promises hold: an answer that the verifier accepts or a refusal with a check id; the
  // memo says what its twin says; an answer with symbols, with numbers put in that satisfy its
  // guards, is the answer to the call with these numbers.
  std::string Check(std::string_view bytes);
  bool accepted() const;  // the last call had an answer

 private:
  struct State;
  std::unique_ptr<State> state_;
  int calls_ = 0;
};

}  // namespace tare
