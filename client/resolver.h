// Looks up a host name on libuv's thread pool.
#ifndef ANTEROOM_CLIENT_RESOLVER_H_
#define ANTEROOM_CLIENT_RESOLVER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/address.h"
#include "client/loop_handles.h"

namespace anteroom::client {

// Threads: the loop's. Destroying it calls the lookup off: `done` is not called any more.
class Resolver {
 public:
  // Called once, never from inside the constructor: the addresses found, or none and why.
  using Done = std::function<void(std::vector<SocketAddress> found, const std::string& why)>;

  Resolver(const std::shared_ptr<LoopRef>& ref, const Address& address, Done done);
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

 private:
  struct Lookup;
  Lookup* lookup_;  // frees itself when libuv is done with it
};

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_RESOLVER_H_
