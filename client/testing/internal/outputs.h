// Where what is said to the clients goes.
#ifndef ANTEROOM_CLIENT_TESTING_INTERNAL_OUTPUTS_H_
#define ANTEROOM_CLIENT_TESTING_INTERNAL_OUTPUTS_H_

#include <cstdint>
#include <string>

namespace anteroom::testing {

// Connections have numbers, which are never used again.
class Outputs {
 public:
  // Where to append whole frames; nullptr when the connection is gone.
  virtual std::string* OutputOf(uint64_t connection) = 0;
  // Sends what there is and closes it. Not told back.
  virtual void HangUp(uint64_t connection) = 0;

 protected:
  ~Outputs() = default;
};

}  // namespace anteroom::testing

#endif  // ANTEROOM_CLIENT_TESTING_INTERNAL_OUTPUTS_H_
