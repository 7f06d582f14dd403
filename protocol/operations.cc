#include "protocol/operations.h"

#include <type_traits>

namespace anteroom::protocol {

std::optional<OperationInfo> FindOperation(uint8_t number) {
  switch (static_cast<Operation>(number)) {
#define ANTEROOM_X(number, Name, name, Request, Reply, least_role, summary) \
  case Operation::k##Name:                                                  \
    return OperationInfo{Operation::k##Name, name, Role::least_role, summary};
    ANTEROOM_OPERATIONS(ANTEROOM_X)
#undef ANTEROOM_X
  }
  return std::nullopt;
}

Role LeastRole(const Request& request) {
  return std::visit(
      [](const auto& one) {
        using One = std::remove_cvref_t<decltype(one)>;
        if constexpr (std::is_same_v<One, std::monostate>) {
          return Role::kAnyone;
        } else {
          if constexpr (std::is_same_v<One, FinishOperation>) {
            if (!one.message.token) return Role::kOperator;
          }
          return FindOperation(static_cast<uint8_t>(One::kOperation))->least_role;
        }
      },
      request);
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
