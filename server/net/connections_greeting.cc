// How a connection begins: HELLO, and the proof of credentials where the daemon asks for them.

#include <algorithm>
#include <string>
#include <utility>

#include "protocol/proof.h"
#include "protocol/version.h"
#include "server/base/limits.h"
#include "server/net/connections.h"
#include "server/net/refusals.h"

namespace anteroom::net {

using protocol::ErrorCode;
using protocol::FrameHeader;
using protocol::FrameKind;
using protocol::Reason;
using protocol::Refuse;
using protocol::Role;

namespace {

std::string VersionRange(uint16_t low, uint16_t high) {
  return low == high ? std::to_string(low) : std::to_string(low) + " to " + std::to_string(high);
}

}  // namespace

// Both: false when the connection cannot go on.

bool Connections::Greet(Connection* connection, const FrameHeader& header,
                        std::string_view payload) {
  protocol::HelloRequest hello;
  const auto refuse = [&](std::string message) {
    connection->Refuse(header.operation, header.request_id,
                       Refuse(ErrorCode::kInvalid, std::move(message)));
    return false;
  };
  if (!protocol::Decode(payload, &hello)) return refuse("malformed: not the fields of hello");
  if (hello.magic != protocol::kHelloMagic) return refuse("hello without the magic number");
  if (hello.version_min > protocol::kVersionMax || hello.version_max < protocol::kVersionMin ||
      hello.version_min > hello.version_max) {
    return refuse("no version of the protocol in common: the client speaks " +
                  VersionRange(hello.version_min, hello.version_max) + ", the daemon " +
                  VersionRange(protocol::kVersionMin, protocol::kVersionMax));
  }
  if (stopping_) {
    connection->Refuse(header.operation, header.request_id,
                       Unavailable(Reason::kStopping, "the daemon is stopping"));
    return false;
  }
  protocol::HelloReply reply;
  reply.version = std::min(hello.version_max, protocol::kVersionMax);
  reply.server = "anteroomd " + std::string(protocol::kVersion);
  if (gatekeeper_ == nullptr) {
    connection->Greeted(Role::kOperator);
  } else {
    // For whatever name: which there are, is nobody's business.
    if (hello.key_id) reply.challenge = protocol::NewNonce();
    connection->Challenged(reply.version, hello.key_id, reply.challenge.value_or(""));
  }
  protocol::AppendFrame(header.operation, FrameKind::kReply, header.request_id, reply,
                        connection->Immediate());
  return true;
}

bool Connections::Authenticate(Connection* connection, const FrameHeader& header,
                               std::string_view payload) {
  const auto refuse = [&](ErrorCode error, std::string message) {
    connection->Refuse(header.operation, header.request_id, Refuse(error, std::move(message)));
  };
  Connection::Proving* const proving = connection->proving();
  if (proving == nullptr) {
    refuse(ErrorCode::kConflict, gatekeeper_ == nullptr ? "no credentials are in use here"
                                                        : "the credentials are proven already");
    return true;
  }
  if (proving->challenge.empty()) {
    refuse(ErrorCode::kUnauthorized, "hello named no credentials: key_id was not said");
    return true;
  }
  protocol::AuthenticateRequest request;
  if (!protocol::Decode(payload, &request)) {
    refuse(ErrorCode::kInvalid, "malformed: not the fields of authenticate");
    return true;
  }
  const auto known = gatekeeper_->Judge(
      {proving->version, proving->key_id, proving->challenge, request.nonce}, request.proof);
  if (!known) {
    // The same words whether the name or the secret is wrong.
    refuse(ErrorCode::kUnauthorized, "the proof does not fit: the name or the secret is wrong");
    return ++proving->wrong_proofs < limits::kWrongProofsMax;
  }
  connection->Proven(known->name, known->role);
  protocol::AuthenticateReply reply;
  reply.proof.assign(known->proof.data(), known->proof.size());
  protocol::AppendFrame(header.operation, FrameKind::kReply, header.request_id, reply,
                        connection->Immediate());
  return true;
}

}  // namespace anteroom::net
