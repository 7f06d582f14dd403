// Every message of the protocol by name, and any of them filled at random.
#ifndef ANTEROOM_TESTS_SUPPORT_WIRE_MESSAGES_H_
#define ANTEROOM_TESTS_SUPPORT_WIRE_MESSAGES_H_

#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>

#include "protocol/codec.h"
#include "protocol/operations.h"

namespace anteroom {

// X(Message). A message of the table of operations that is missing here does not compile in the
// tests (MessageName).
#define ANTEROOM_WIRE_MESSAGES(X) \
  X(Empty)                        \
  X(HelloRequest)                 \
  X(HelloReply)                   \
  X(AuthenticateRequest)          \
  X(AuthenticateReply)            \
  X(PingReply)                    \
  X(HealthReply)                  \
  X(Latencies)                    \
  X(LatencyBucket)                \
  X(StatsRequest)                 \
  X(StatsReply)                   \
  X(JoinRequest)                  \
  X(VisitorRequest)               \
  X(TokenRequest)                 \
  X(FinishRequest)                \
  X(VisitorReply)                 \
  X(JoinManyRequest)              \
  X(StatusManyRequest)            \
  X(VisitorResults)               \
  X(VisitorResult)                \
  X(WatchRequest)                 \
  X(VisitorPush)                  \
  X(RoomPush)                     \
  X(RoomEvent)                    \
  X(UnwatchRequest)               \
  X(AdmitRequest)                 \
  X(AdmitReply)                   \
  X(AdmittedVisitor)              \
  X(AdmitVisitorRequest)          \
  X(RevokeRequest)                \
  X(RoomRequest)                  \
  X(RoomCreateRequest)            \
  X(RoomSetRequest)               \
  X(RoomListRequest)              \
  X(RoomDeleteRequest)            \
  X(RoomReply)                    \
  X(RoomListReply)                \
  X(RoomSettings)                 \
  X(Rate)                         \
  X(Limit)                        \
  X(Duration)                     \
  X(Stock)                        \
  X(Factor)                       \
  X(Counts)                       \
  X(RefusedCount)                 \
  X(PageRequest)                  \
  X(PageReply)                    \
  X(VisitorEntry)                 \
  X(ClockAdvanceRequest)          \
  X(ClockReply)                   \
  X(TokenKeyReply)                \
  X(Refusal)

template <typename Message>
std::string_view MessageName();
#define ANTEROOM_X(Message)                                  \
  template <>                                                \
  inline std::string_view MessageName<protocol::Message>() { \
    return #Message;                                         \
  }
ANTEROOM_WIRE_MESSAGES(ANTEROOM_X)
#undef ANTEROOM_X

namespace wire_messages_internal {
struct AnyVisitor {
  template <typename Field>
  void operator()(std::string_view, Field&&);
};
}  // namespace wire_messages_internal

template <typename T>
concept IsMessage = requires(T& value, wire_messages_internal::AnyVisitor& visitor) {
  T::Fields(value, visitor);
};

// Fills values at random: small and extreme numbers, empty and longest text, absent and present.
// What it fills with text borrows from it.
class RandomMessages {
 public:
  explicit RandomMessages(uint64_t seed) : random_(seed) {}

  template <typename Message>
  Message Make() {
    Message message;
    Fill(message);
    return message;
  }

  uint64_t Below(uint64_t bound) { return random_() % bound; }
  std::string Bytes(size_t size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random_());
    return bytes;
  }
  // Forgets all text that was borrowed.
  void Clear() { texts_.clear(); }

 private:
  struct Filler {
    RandomMessages* random;
    template <typename Field>
    void operator()(std::string_view, Field& field) {
      random->Fill(field);
    }
  };

  template <typename T>
  void Fill(T& value) {
    using namespace protocol;  // NOLINT(google-build-using-namespace)
    if constexpr (codec_internal::kIsOptional<T>) {
      value.reset();
      if (Below(2) == 0) Fill(value.emplace());
    } else if constexpr (codec_internal::kIsVector<T>) {
      value.clear();
      for (size_t left = Below(4); left > 0; --left) Fill(value.emplace_back());
    } else if constexpr (std::is_same_v<T, bool>) {
      value = Below(2) == 0;
    } else if constexpr (std::is_enum_v<T>) {
      do {
        value = static_cast<T>(Below(256));
      } while (NameOf(value).empty());
    } else if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(random_() >> Below(64));
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = Text();
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      value = texts_.emplace_back(Text());
    } else if constexpr (std::is_same_v<T, LongText>) {
      value.text = Bytes(Below(8) == 0 ? Below(65536) : Below(300));
    } else if constexpr (std::is_same_v<T, Token>) {
      for (char& c : value.chars) c = static_cast<char>(random_());
    } else {
      Filler filler{this};
      T::Fields(value, filler);
      if constexpr (requires { value.well_formed(); }) {
        while (!value.well_formed()) T::Fields(value, filler);
      }
    }
  }

  std::string Text() {
    const uint64_t kind = Below(8);
    return Bytes(kind == 0 ? 0 : kind == 1 ? 255 : 1 + Below(24));
  }

  std::mt19937_64 random_;
  std::deque<std::string> texts_;
};

}  // namespace anteroom

#endif  // ANTEROOM_TESTS_SUPPORT_WIRE_MESSAGES_H_
