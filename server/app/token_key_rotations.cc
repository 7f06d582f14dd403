#include "server/app/token_key_rotations.h"

#include <utility>

#include "protocol/secret.h"
#include "server/base/check.h"
#include "server/base/limits.h"

namespace anteroom::app {

using protocol::ErrorCode;
using protocol::Refuse;

TokenKeyRotations::TokenKeyRotations(uv_loop_t* loop, storage::DataDirectory* directory,
                                     auth::Secrets secrets, auth::TokenAuthority* tokens)
    : loop_(loop), directory_(*directory), secrets_(std::move(secrets)), tokens_(*tokens) {
  work_.data = this;
}

TokenKeyRotations::~TokenKeyRotations() {
  CHECK(!busy());
}

std::optional<protocol::Refusal> TokenKeyRotations::Add(const net::Arrival& arrival,
                                                        std::string_view by) {
  // Those that crashes have left unused count too.
  if (secrets_.token_keys.size() + waiting_.size() >= limits::kTokenKeysMax) {
    return Refuse(ErrorCode::kConflict, "the file 'secrets' holds " +
                                            std::to_string(secrets_.token_keys.size()) +
                                            " keys of tokens, and takes no more");
  }
  if (waiting_.size() >= limits::kTokenKeyRotationsWaitingMax) {
    return Refuse(ErrorCode::kUnavailable, "too many rotations are waiting for the disk");
  }
  waiting_.push_back({arrival, std::string(by)});
  StartNext();
  return std::nullopt;
}

void TokenKeyRotations::StartNext() {
  if (writing_ || waiting_.empty()) return;
  next_ = secrets_;
  auth::AddNewTokenKey(&*next_);
  text_ = auth::FormatSecrets(*next_);
  writing_ = true;
  const int error = uv_queue_work(
      loop_, &work_,
      [](uv_work_t* work) {
        auto* self = static_cast<TokenKeyRotations*>(work->data);
        self->status_ = self->directory_.WriteSecrets(self->text_);
        protocol::Wipe(self->text_.data(), self->text_.size());
      },
      [](uv_work_t* work, int) { static_cast<TokenKeyRotations*>(work->data)->written_ = true; });
  CHECK_EQ(error, 0);
}

std::optional<TokenKeyRotations::Written> TokenKeyRotations::TakeWritten() {
  if (!written_) return std::nullopt;
  Written written;
  written.arrival = waiting_.front().arrival;
  written.by = std::move(waiting_.front().by);
  written.status = std::move(status_);
  waiting_.pop_front();
  written_ = false;
  writing_ = false;
  // When it failed the key may be in the file or not. No record will name it, and the next rotation
  // writes the file without it.
  if (written.status.ok()) {
    tokens_.Add(next_->token_keys.back());
    written.key_id = next_->token_keys.back().id;
    secrets_ = *std::move(next_);
  }
  next_.reset();
  StartNext();
  return written;
}

void TokenKeyRotations::OnGone(const net::Connection* connection) {
  if (writing_ && waiting_.front().arrival.connection == connection) {
    waiting_.front().arrival.connection = nullptr;
  }
  std::erase_if(waiting_, [connection](const Rotation& rotation) {
    return rotation.arrival.connection == connection;
  });
}

std::vector<net::Arrival> TokenKeyRotations::TakeAll() {
  std::vector<net::Arrival> arrivals;
  for (const Rotation& rotation : waiting_) {
    if (rotation.arrival.connection != nullptr) arrivals.push_back(rotation.arrival);
  }
  waiting_.clear();
  return arrivals;
}

void TokenKeyRotations::check_invariants() const {
  secrets_.check_invariants();
  tokens_.check_invariants();
  CHECK(writing_ || !written_);
  CHECK_EQ(writing_, next_.has_value());
  if (next_) CHECK_EQ(next_->token_keys.size(), secrets_.token_keys.size() + 1);
}

}  // namespace anteroom::app
