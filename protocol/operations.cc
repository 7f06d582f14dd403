#include "protocol/operations.h"

namespace anteroom::protocol {

std::optional<OperationInfo> FindOperation(uint8_t number) {
  switch (static_cast<Operation>(number)) {
#define ANTEROOM_X(number, Name, name, Request, Reply, access, summary) \
  case Operation::k##Name:                                              \
    return OperationInfo{Operation::k##Name, name, Access::access, summary};
    ANTEROOM_OPERATIONS(ANTEROOM_X)
#undef ANTEROOM_X
  }
  return std::nullopt;
}

RequestStatus DecodeRequest(uint8_t operation, std::string_view payload, Request* request) {
  switch (static_cast<Operation>(operation)) {
#define ANTEROOM_X(number, Name, ...)                                    \
  case Operation::k##Name:                                               \
    return Decode(payload, &request->emplace<Name##Operation>().message) \
               ? RequestStatus::kRight                                   \
               : RequestStatus::kMalformed;
    ANTEROOM_OPERATIONS(ANTEROOM_X)
#undef ANTEROOM_X
  }
  return RequestStatus::kUnknownOperation;
}

}  // namespace anteroom::protocol
