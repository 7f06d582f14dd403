#include "client/resolver.h"

#include <uv.h>

#include <cstring>
#include <utility>

#include "client/limits.h"

namespace anteroom::client {

struct Resolver::Lookup {
  uv_getaddrinfo_t request{};
  std::shared_ptr<LoopRef> ref;
  Resolver* resolver;  // null when called off
  Done done;

  static void Finished(uv_getaddrinfo_t* request, int status, addrinfo* found) {
    const std::unique_ptr<Lookup> lookup(static_cast<Lookup*>(request->data));
    std::vector<SocketAddress> addresses;
    if (status == 0) {
      for (const addrinfo* one = found; one != nullptr && addresses.size() < kResolvedAddressesMax;
           one = one->ai_next) {
        SocketAddress& address = addresses.emplace_back();
        std::memcpy(&address.storage, one->ai_addr, one->ai_addrlen);
        address.length = one->ai_addrlen;
      }
    }
    uv_freeaddrinfo(found);
    if (lookup->resolver == nullptr) return;
    lookup->resolver->lookup_ = nullptr;
    lookup->done(std::move(addresses), status == 0 ? std::string() : uv_strerror(status));
  }
};

Resolver::Resolver(const std::shared_ptr<LoopRef>& ref, const Address& address, Done done)
    : lookup_(new Lookup{{}, ref, this, std::move(done)}) {
  lookup_->request.data = lookup_;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  const int status = uv_getaddrinfo(ref->loop, &lookup_->request, Lookup::Finished,
                                    address.host.c_str(), address.port.c_str(), &hints);
  if (status != 0) {
    // Out of memory, or a name that cannot be a name. The caller's time-out tells of it.
    delete std::exchange(lookup_, nullptr);
  }
}

Resolver::~Resolver() {
  if (lookup_ == nullptr) return;
  lookup_->resolver = nullptr;
  uv_cancel(reinterpret_cast<uv_req_t*>(&lookup_->request));
}

}  // namespace anteroom::client
