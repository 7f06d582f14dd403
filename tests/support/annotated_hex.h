// A frame as hexadecimal text with a comment for every field, in the form of the worked examples of
// PROTOCOL.md: up to twelve bytes a line, then `#` and what they say.
#ifndef ANTEROOM_TESTS_SUPPORT_ANNOTATED_HEX_H_
#define ANTEROOM_TESTS_SUPPORT_ANNOTATED_HEX_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "protocol/codec.h"
#include "protocol/frame.h"
#include "protocol/operations.h"
#include "protocol/text.h"
#include "tests/support/wire_messages.h"

namespace anteroom {

template <typename T>
inline constexpr bool kIsText =
    std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>;

inline std::string_view KindName(protocol::FrameKind kind) {
  constexpr std::string_view kNames[] = {"request", "reply", "refusal", "push", "end"};
  return kNames[static_cast<size_t>(kind)];
}

class AnnotatedHex {
 public:
  template <typename Message>
  static std::string OfFrame(const protocol::OperationInfo& info, protocol::FrameKind kind,
                             uint32_t request_id, const Message& message) {
    std::string frame;
    protocol::AppendFrame(static_cast<uint8_t>(info.operation), kind, request_id, message, &frame);
    AnnotatedHex annotated;
    annotated.Line(std::string_view(frame).substr(0, protocol::kHeaderBytes),
                   std::to_string(frame.size() - protocol::kHeaderBytes) + " bytes follow, " +
                       std::string(info.name) + " " + std::string(KindName(kind)) + ", id " +
                       std::to_string(request_id));
    annotated.Value("", message);
    return annotated.text_;
  }

 private:
  void Line(std::string_view bytes, const std::string& comment) {
    constexpr size_t kBytesInLine = 12;
    constexpr char kHex[] = "0123456789abcdef";
    for (size_t i = 0; i < bytes.size(); i += kBytesInLine) {
      std::string line;
      for (const char c : bytes.substr(i, kBytesInLine)) {
        const auto byte = static_cast<unsigned char>(c);
        line += {kHex[byte >> 4], kHex[byte & 15], ' '};
      }
      line.resize(i == 0 ? kBytesInLine * 3 + 1 : line.size() - 1, ' ');
      text_ += line;
      if (i == 0) text_.append("# ").append(comment);
      text_ += '\n';
    }
  }

  template <typename T>
  void Value(const std::string& name, const T& value) {
    using protocol::codec_internal::kIsVector;
    std::string bytes;
    protocol::ByteWriter writer(&bytes);
    if constexpr (kIsVector<T>) {
      writer.Put(static_cast<uint16_t>(value.size()));
      Line(bytes, name + ": " + std::to_string(value.size()));
      for (size_t i = 0; i < value.size(); ++i) {
        Value(name + "[" + std::to_string(i) + "]", value[i]);
      }
    } else if constexpr (IsMessage<T>) {
      MessageOf(name, value);
    } else {
      protocol::codec_internal::EncodeValue(writer, value);
      Line(bytes, name + " " + Describe(value));
    }
  }

  struct PresentNames {
    std::string names;
    template <typename Field>
    void operator()(std::string_view name, const Field& field) {
      if constexpr (protocol::codec_internal::kIsOptional<Field>) {
        if (field.has_value()) names.append(" ").append(name);
      }
    }
  };

  struct FieldLines {
    AnnotatedHex* annotated;
    std::string prefix;
    template <typename Field>
    void operator()(std::string_view name, const Field& field) {
      if constexpr (protocol::codec_internal::kIsOptional<Field>) {
        if (field.has_value()) annotated->Value(prefix + std::string(name), *field);
      } else {
        annotated->Value(prefix + std::string(name), field);
      }
    }
  };

  template <typename T>
  void MessageOf(const std::string& name, const T& value) {
    const std::string prefix = name.empty() ? "" : name + ".";
    protocol::codec_internal::PresenceCollector presence;
    T::Fields(value, presence);
    PresentNames present;
    T::Fields(value, present);
    std::string bytes;
    protocol::ByteWriter writer(&bytes);
    protocol::codec_internal::PutPresence(
        writer, presence.bits, protocol::codec_internal::PresenceBytes<T>(presence.count));
    Line(bytes, prefix + "presence:" + (present.names.empty() ? " nothing" : present.names));
    FieldLines lines{this, prefix};
    T::Fields(value, lines);
  }

  template <typename T>
  static std::string Describe(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      return value ? "true" : "false";
    } else if constexpr (std::is_enum_v<T>) {
      return std::string(NameOf(value));
    } else if constexpr (std::is_integral_v<T>) {
      return std::to_string(value);
    } else if constexpr (kIsText<T>) {
      return '"' + protocol::EscapeId(value) + '"';
    } else if constexpr (std::is_same_v<T, protocol::LongText>) {
      return '"' + protocol::EscapeId(value.text) + '"';
    } else {
      static_assert(std::is_same_v<T, protocol::Token>);
      return std::string(value.view());
    }
  }

  std::string text_;
};

}  // namespace anteroom

#endif  // ANTEROOM_TESTS_SUPPORT_ANNOTATED_HEX_H_
