#include "client/link.h"

#include <algorithm>
#include <random>
#include <utility>

#include "client/check.h"
#include "client/failure.h"
#include "client/limits.h"
#include "protocol/messages.h"
#include "protocol/operations.h"
#include "protocol/proof.h"

namespace anteroom::client {

namespace {

constexpr uint32_t kConnectionId = 0;  // the daemon's word about the connection as a whole
constexpr uint32_t kHelloId = 1;
constexpr uint32_t kPingId = 2;
constexpr uint32_t kAuthenticateId = 3;

ClientOptions WithinLimits(ClientOptions options) {
  options.connect_timeout_ms = std::clamp<int64_t>(options.connect_timeout_ms, 1, kDelayMsMax);
  options.silence_max_ms = std::clamp<int64_t>(options.silence_max_ms, 1, kDelayMsMax);
  options.reconnect_delay_min_ms =
      std::clamp<int64_t>(options.reconnect_delay_min_ms, 1, kDelayMsMax);
  options.reconnect_delay_max_ms = std::clamp<int64_t>(options.reconnect_delay_max_ms,
                                                       options.reconnect_delay_min_ms, kDelayMsMax);
  if (options.addresses.size() > kAddressesMax) options.addresses.resize(kAddressesMax);
  return options;
}

}  // namespace

int64_t NowMs() {
  return static_cast<int64_t>(uv_hrtime() / 1'000'000);
}

Link::Link(const std::shared_ptr<LoopRef>& ref, const ClientOptions& options, Owner* owner)
    : ref_(ref),
      options_(WithinLimits(options)),
      owner_(owner),
      backoff_(options_.reconnect_delay_min_ms, options_.reconnect_delay_max_ms,
               std::random_device()()),
      timer_(ref, [this] { OnTimer(); }) {
  // Not from inside the constructor: the owner is not ready to be called.
  Pause(0);
}

absl::Status Link::AwayStatus() const {
  if (unauthorized()) return LocalStatus(FailureCause::kUnauthorized, unauthorized_why_);
  std::optional<uint64_t> retry_after_ms;
  if (state_ == State::kPausing) {
    retry_after_ms = static_cast<uint64_t>(std::max<int64_t>(0, next_attempt_ms_ - NowMs()));
  }
  return LocalStatus(FailureCause::kUnreachable, why_, false, retry_after_ms);
}

void Link::Flush() {
  if (transport_ != nullptr) transport_->Flush();
}

void Link::ReadNow() {
  if (up()) transport_->ReadNow();
}

void Link::Break(std::string why) {
  if (!up() || broken_.has_value()) return;
  broken_ = std::move(why);
  timer_.Start(0);
}

void Link::Shutdown() {
  state_ = State::kDown;
  credential_.reset();
  nonce_.clear();
  timer_.Stop();
  resolver_.reset();
  transport_.reset();
}

// ---- attempts ----

void Link::Pause(int64_t delay_ms) {
  state_ = State::kPausing;
  next_attempt_ms_ = NowMs() + delay_ms;
  timer_.Start(delay_ms);
}

void Link::BeginRound() {
  round_unauthorized_why_.clear();
  if (options_.addresses.empty()) {
    addresses_left_ = 0;
    return AttemptFailed("no address was given");
  }
  addresses_left_ = options_.addresses.size() - 1;
  TryAddress();
}

void Link::TryAddress() {
  timer_.Start(options_.connect_timeout_ms);
  absl::StatusOr<Address> address = ParseAddress(options_.addresses[address_]);
  if (!address.ok()) return AttemptFailed(RefusalOf(address.status())->message);
  resolved_.clear();
  if (const std::optional<SocketAddress> known = ToSocketAddress(*address); known.has_value()) {
    resolved_.push_back(*known);
    return TrySocketAddress();
  }
  state_ = State::kResolving;
  resolver_ = std::make_unique<Resolver>(
      ref_, *address, [this](std::vector<SocketAddress> found, const std::string& why) {
        if (found.empty()) return AttemptFailed("the name cannot be looked up: " + why);
        resolved_.assign(found.rbegin(), found.rend());
        TrySocketAddress();
      });
}

void Link::TrySocketAddress() {
  state_ = State::kConnecting;
  ++transport_number_;
  const SocketAddress address = resolved_.back();
  resolved_.pop_back();
  absl::StatusOr<std::unique_ptr<Transport>> transport = Transport::Connect(ref_, address, this);
  if (!transport.ok()) return AttemptFailed(RefusalOf(transport.status())->message);
  transport_ = *std::move(transport);
}

void Link::AttemptFailed(const std::string& why) {
  transport_.reset();
  credential_.reset();
  nonce_.clear();
  resolver_.reset();
  why_ = why;
  if (!options_.addresses.empty()) why_ = options_.addresses[address_] + ": " + why;
  if (!resolved_.empty()) return TrySocketAddress();
  if (!options_.addresses.empty()) address_ = (address_ + 1) % options_.addresses.size();
  if (addresses_left_ > 0) {
    --addresses_left_;
    return TryAddress();
  }
  away_ = true;
  unauthorized_why_ = round_unauthorized_why_;
  if (options_.reconnect) {
    Pause(backoff_.Next());
  } else {
    Shutdown();
  }
  owner_->OnAway();
}

void Link::AttemptUnauthorized(const std::string& why) {
  round_unauthorized_why_ = options_.addresses[address_] + ": " + why;
  AttemptFailed(why);
}

void Link::OnTimer() {
  if (fork_guard_.forked()) return owner_->OnForked();
  switch (state_) {
    case State::kPausing:
      return BeginRound();
    case State::kResolving:
    case State::kConnecting:
      resolved_.clear();  // the time was for all of them
      return AttemptFailed("no greeting within " + std::to_string(options_.connect_timeout_ms) +
                           " ms");
    case State::kUp:
      return broken_.has_value() ? OnBroken(*broken_) : OnSilence();
    case State::kDown:
      return;
  }
}

// ---- a connection ----

void Link::OnConnected() {
  credential_ = options_.credential;
  if (!credential_ && !options_.credentials_path.empty()) {
    absl::StatusOr<protocol::Credential> own =
        protocol::ReadOwnCredential(options_.credentials_path);
    if (!own.ok()) return AttemptUnauthorized(std::string(own.status().message()));
    credential_ = *std::move(own);
  }
  protocol::HelloRequest hello;
  if (credential_) hello.key_id = credential_->name;
  protocol::AppendFrame(static_cast<uint8_t>(protocol::Operation::kHello),
                        protocol::FrameKind::kRequest, kHelloId, hello, transport_->output());
  transport_->Flush();
}

void Link::OnBroken(const std::string& why) {
  // The reason may be this connection's own text.
  const std::string reason = why;  // NOLINT(performance-unnecessary-copy-initialization)
  if (state_ != State::kUp) return AttemptFailed(reason);
  transport_.reset();
  broken_.reset();
  why_ = options_.addresses[address_] + ": " + reason;
  if (options_.reconnect) {
    // A daemon that greets and hangs up at once is not to be called in a tight loop.
    Pause(answered_ ? backoff_.Short() : backoff_.Next());
  } else {
    away_ = true;
    Shutdown();
  }
  const bool final = down();
  owner_->OnLost(why_);
  if (final) owner_->OnAway();
}

size_t Link::OnBytes(std::string_view bytes) {
  heard_ms_ = NowMs();
  asked_for_life_ = false;
  const uint64_t number = transport_number_;
  size_t used = 0;
  while (true) {
    protocol::FrameHeader header;
    std::string_view payload;
    size_t frame_bytes = 0;
    switch (protocol::TakeFrame(bytes.substr(used), &header, &payload, &frame_bytes)) {
      case protocol::FrameStatus::kPartial:
        return used;
      case protocol::FrameStatus::kTooLarge:
      case protocol::FrameStatus::kInvalid:
        OnBroken("the daemon sent what is not a frame");
        return used;
      case protocol::FrameStatus::kComplete:
        break;
    }
    used += frame_bytes;
    if (header.request_id < kFirstRequestId) {
      OnOwnFrame(header, payload);
    } else if (up()) {
      if (!answered_) backoff_.Reset();
      answered_ = true;
      owner_->OnFrame(header, payload);
    }
    if (transport_ == nullptr || transport_number_ != number || broken_.has_value()) return used;
  }
}

void Link::OnOwnFrame(const protocol::FrameHeader& header, std::string_view payload) {
  if (header.request_id == kHelloId && state_ == State::kConnecting) {
    return OnHello(header, payload);
  }
  if (header.request_id == kAuthenticateId && state_ == State::kConnecting) {
    return OnAuthenticated(header, payload);
  }
  protocol::Refusal refusal;
  if (header.request_id == kConnectionId && header.kind == protocol::FrameKind::kRefusal &&
      protocol::Decode(payload, &refusal)) {
    // Said before it hangs up.
    OnBroken(std::string(protocol::NameOf(refusal.error)) + ": " + refusal.message);
  }
}

void Link::OnHello(const protocol::FrameHeader& header, std::string_view payload) {
  protocol::HelloReply reply;
  protocol::Refusal refusal;
  if (header.kind == protocol::FrameKind::kRefusal && protocol::Decode(payload, &refusal)) {
    return AttemptFailed(std::string(protocol::NameOf(refusal.error)) + ": " + refusal.message);
  }
  if (header.kind != protocol::FrameKind::kReply || !protocol::Decode(payload, &reply)) {
    return AttemptFailed("not greeted as a daemon greets");
  }
  if (reply.version < protocol::kVersionMin || reply.version > protocol::kVersionMax) {
    return AttemptFailed("the daemon speaks version " + std::to_string(reply.version) +
                         ", this client " + std::to_string(protocol::kVersionMin) + " to " +
                         std::to_string(protocol::kVersionMax));
  }
  if (credential_.has_value() != reply.challenge.has_value()) {
    if (!credential_) return AttemptFailed("not greeted as a daemon greets");
    return AttemptUnauthorized(
        "the daemon asks for no credentials, so it cannot be told whether it is the right one");
  }
  if (!credential_) return GoUp();
  if (reply.challenge->size() != protocol::kNonceBytes) {
    return AttemptFailed("not greeted as a daemon greets");
  }
  version_ = reply.version;
  challenge_ = *std::move(reply.challenge);
  nonce_ = protocol::NewNonce();
  const protocol::Proof proof =
      protocol::MakeProof(credential_->secret, protocol::Prover::kClient,
                          {version_, credential_->name, challenge_, nonce_});
  const protocol::AuthenticateRequest request{nonce_, {proof.data(), proof.size()}};
  protocol::AppendFrame(static_cast<uint8_t>(protocol::Operation::kAuthenticate),
                        protocol::FrameKind::kRequest, kAuthenticateId, request,
                        transport_->output());
  transport_->Flush();
}

void Link::OnAuthenticated(const protocol::FrameHeader& header, std::string_view payload) {
  protocol::AuthenticateReply reply;
  protocol::Refusal refusal;
  if (header.kind == protocol::FrameKind::kRefusal && protocol::Decode(payload, &refusal)) {
    if (refusal.error == protocol::ErrorCode::kUnauthorized) {
      return AttemptUnauthorized(refusal.message);
    }
    return AttemptFailed(std::string(protocol::NameOf(refusal.error)) + ": " + refusal.message);
  }
  // Only after its own proof can the daemon be known, and nothing is asked of it before.
  if (!credential_ || nonce_.empty() || header.kind != protocol::FrameKind::kReply ||
      !protocol::Decode(payload, &reply)) {
    return AttemptFailed("not greeted as a daemon greets");
  }
  const protocol::Proof expected =
      protocol::MakeProof(credential_->secret, protocol::Prover::kDaemon,
                          {version_, credential_->name, challenge_, nonce_});
  if (!protocol::SameProof(expected, reply.proof)) {
    return AttemptUnauthorized("the daemon does not prove that it knows the secret: not ours");
  }
  GoUp();
}

void Link::GoUp() {
  state_ = State::kUp;
  credential_.reset();
  nonce_.clear();
  away_ = false;
  unauthorized_why_.clear();
  answered_ = false;
  resolved_.clear();
  timer_.Start(options_.silence_max_ms);
  owner_->OnUp();
}

void Link::OnSilence() {
  const int64_t silent_ms = NowMs() - heard_ms_;
  if (silent_ms < options_.silence_max_ms) {
    return timer_.Start(options_.silence_max_ms - silent_ms);
  }
  if (asked_for_life_) {
    // It may have come while this loop was busy elsewhere.
    const uint64_t number = transport_number_;
    transport_->ReadNow();
    if (!up() || transport_number_ != number || broken_.has_value()) return;
    if (asked_for_life_) return OnBroken("the daemon has fallen silent");
    return timer_.Start(options_.silence_max_ms);
  }
  asked_for_life_ = true;
  protocol::AppendFrame(static_cast<uint8_t>(protocol::Operation::kPing),
                        protocol::FrameKind::kRequest, kPingId, protocol::Empty{}, output());
  Flush();
  timer_.Start(options_.silence_max_ms);
}

void Link::check_invariants() const {
  CLIENT_CHECK((state_ == State::kConnecting || state_ == State::kUp) == (transport_ != nullptr));
  CLIENT_CHECK((state_ == State::kDown) == !timer_.started());
  CLIENT_CHECK(state_ != State::kDown || resolver_ == nullptr);
  CLIENT_CHECK(!broken_.has_value() || state_ == State::kUp);
  CLIENT_CHECK(options_.addresses.empty() || address_ < options_.addresses.size());
  CLIENT_CHECK(state_ == State::kConnecting || (!credential_ && nonce_.empty()));
  if (transport_ != nullptr) transport_->check_invariants();
}

}  // namespace anteroom::client
