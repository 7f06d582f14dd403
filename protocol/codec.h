// From a message to bytes and back. A message is a struct that lists its fields once:
//
//   struct JoinRequest {
//     std::string_view room;
//     std::optional<uint8_t> lane;
//     template <typename Self, typename Visitor>
//     static void Fields(Self& self, Visitor&& visit) {
//       visit("room", self.room);
//       visit("lane", self.lane);
//     }
//   };
//
// and the encoder, the decoder and the JSON of the tools all follow from that list. On the wire a
// message is: a presence bitmap (one bit for each optional field in order; as many bytes as
// kPresenceBytes says; unsaid, 1 with optional fields and none without), then the fields in order.
//
//   integers, enums, bool   little-endian, as wide as the type
//   string, string_view     1 byte length, bytes
//   LongText                2 bytes length, bytes
//   Token                   22 characters
//   vector                  2 bytes count, items
//   message                 as above, in place
//
// There is one string of bytes for a message and one message for a string of bytes: what decodes
// encodes to the same bytes. So a bool is 0 or 1, an enum a number of its table, a bit of the
// bitmap that stands for no field 0, and what a message says of itself in `bool well_formed()
// const` holds.
#ifndef ANTEROOM_PROTOCOL_CODEC_H_
#define ANTEROOM_PROTOCOL_CODEC_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "protocol/bytes.h"
#include "protocol/limits.h"

namespace anteroom::protocol {

// Text of up to 65,535 bytes.
struct LongText {
  std::string text;
  bool operator==(const LongText&) const = default;
};

// Proof of one admission: 128 bits as 22 base64url characters (RFC 4648 section 5, no padding).
struct Token {
  std::array<char, kTokenChars> chars{};
  std::string_view view() const { return {chars.data(), chars.size()}; }
  bool operator==(const Token&) const = default;
};

namespace codec_internal {

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;

// `optional_fields` is how many the message T has.
template <typename T>
constexpr size_t PresenceBytes(uint32_t optional_fields) {
  if constexpr (requires { T::kPresenceBytes; }) {
    return T::kPresenceBytes;
  } else {
    return optional_fields > 0 ? 1 : 0;
  }
}

// How much of `text` fits into `bytes_max`, not ending within a UTF-8 character.
inline size_t CutBytes(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text.size();
  const auto continues = [&](size_t i) { return (text[i] & 0xc0) == 0x80; };
  size_t size = bytes_max;
  while (size > bytes_max - 3 && continues(size)) --size;
  return continues(size) ? bytes_max : size;
}

struct PresenceCollector {
  uint64_t bits = 0;
  uint32_t count = 0;
  template <typename Field>
  void operator()(std::string_view, const Field& field) {
    if constexpr (kIsOptional<Field>) bits |= uint64_t{field.has_value()} << count++;
  }
};

inline void PutPresence(ByteWriter& out, uint64_t bits, size_t size) {
  for (size_t i = 0; i < size; ++i) out.Put(static_cast<uint8_t>(bits >> (8 * i)));
}

inline uint64_t GetPresence(ByteReader& in, size_t size) {
  uint64_t bits = 0;
  for (size_t i = 0; i < size; ++i) bits |= uint64_t{in.Get<uint8_t>()} << (8 * i);
  return bits;
}

template <typename T>
void EncodeValue(ByteWriter& out, const T& value);
template <typename T>
void DecodeValue(ByteReader& in, T& value);

struct FieldEncoder {
  ByteWriter& out;
  template <typename Field>
  void operator()(std::string_view, const Field& field) {
    if constexpr (kIsOptional<Field>) {
      if (field.has_value()) EncodeValue(out, *field);
    } else {
      EncodeValue(out, field);
    }
  }
};

struct FieldDecoder {
  ByteReader& in;
  uint64_t bits;
  template <typename Field>
  void operator()(std::string_view, Field& field) {
    if constexpr (kIsOptional<Field>) {
      if (bits & 1) {
        DecodeValue(in, field.emplace());
      } else {
        field.reset();
      }
      bits >>= 1;
    } else {
      DecodeValue(in, field);
    }
  }
};

// The fewest bytes a T takes: those of one in which everything is absent or empty.
template <typename T>
size_t BytesLeast() {
  static const size_t bytes_least = [] {
    std::string bytes;
    ByteWriter out(&bytes);
    EncodeValue(out, T{});
    return std::max<size_t>(1, bytes.size());
  }();
  return bytes_least;
}

template <typename T>
void EncodeValue(ByteWriter& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    out.Put(static_cast<uint8_t>(value));
  } else if constexpr (std::is_enum_v<T>) {
    out.Put(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_integral_v<T>) {
    out.Put(value);
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>) {
    // Longer text than the length byte can say is cut; ids and names are checked before.
    const auto length = static_cast<uint8_t>(CutBytes(value, 255));
    out.Put(length);
    out.PutBytes(std::string_view(value).substr(0, length));
  } else if constexpr (std::is_same_v<T, LongText>) {
    const auto length = static_cast<uint16_t>(CutBytes(value.text, 65535));
    out.Put(length);
    out.PutBytes(std::string_view(value.text).substr(0, length));
  } else if constexpr (std::is_same_v<T, Token>) {
    out.PutBytes(value.view());
  } else if constexpr (kIsVector<T>) {
    const auto count = static_cast<uint16_t>(std::min<size_t>(value.size(), 65535));
    out.Put(count);
    for (size_t i = 0; i < count; ++i) EncodeValue(out, value[i]);
  } else {
    PresenceCollector presence;
    T::Fields(value, presence);
    PutPresence(out, presence.bits, PresenceBytes<T>(presence.count));
    T::Fields(value, FieldEncoder{out});
  }
}

template <typename T>
void DecodeValue(ByteReader& in, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    const uint8_t byte = in.Get<uint8_t>();
    if (byte > 1) in.Fail();
    value = byte == 1;
  } else if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(in.Get<std::underlying_type_t<T>>());
    if constexpr (requires { NameOf(value); }) {
      if (NameOf(value).empty()) in.Fail();
    }
  } else if constexpr (std::is_integral_v<T>) {
    value = in.Get<T>();
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>) {
    value = in.GetBytes(in.Get<uint8_t>());
  } else if constexpr (std::is_same_v<T, LongText>) {
    value.text = in.GetBytes(in.Get<uint16_t>());
  } else if constexpr (std::is_same_v<T, Token>) {
    const std::string_view chars = in.GetBytes(kTokenChars);
    if (chars.size() == kTokenChars) std::copy(chars.begin(), chars.end(), value.chars.begin());
  } else if constexpr (kIsVector<T>) {
    const uint16_t count = in.Get<uint16_t>();
    value.clear();
    // Memory is asked for only when as many items can have arrived.
    if (count * BytesLeast<typename T::value_type>() > in.left_bytes()) return in.Fail();
    value.reserve(count);
    for (size_t i = 0; i < count && !in.failed(); ++i) DecodeValue(in, value.emplace_back());
  } else {
    PresenceCollector presence;
    T::Fields(value, presence);
    const uint64_t bits = GetPresence(in, PresenceBytes<T>(presence.count));
    if ((bits >> presence.count) != 0) return in.Fail();
    T::Fields(value, FieldDecoder{in, bits});
    if constexpr (requires { value.well_formed(); }) {
      if (!value.well_formed()) in.Fail();
    }
  }
}

}  // namespace codec_internal

// Appends the bytes of `message`.
template <typename Message>
void Encode(const Message& message, std::string* out) {
  ByteWriter writer(out);
  codec_internal::EncodeValue(writer, message);
}

// Reads a whole message; false when bytes are missing, left over or not of the message's form.
// Views in the message point into `bytes`.
template <typename Message>
bool Decode(std::string_view bytes, Message* message) {
  ByteReader reader(bytes);
  codec_internal::DecodeValue(reader, *message);
  return !reader.failed() && reader.left_bytes() == 0;
}

}  // namespace anteroom::protocol

#endif  // ANTEROOM_PROTOCOL_CODEC_H_
