// Rotations of the tokens' key (rotate_token_key), one after another. The file `secrets` with a new
// key in it is on disk before the record is that has admissions use the key; a crash between the
// two leaves a key that nobody uses. The file is written by a thread of the pool, so that a disk
// that hangs holds up nobody else; in the record's turn the loop takes what came of it.
//
//   refusal = rotations.Add(arrival, name);         // nothing: it will be done
//   while (auto written = rotations.TakeWritten())  // once a turn, until the stop begins
//     ... written->status.ok() ? desk.UseTokenKey(written->key_id) : ...
//
// Each one asked for makes a key of its own: said twice, it rotates twice.
//
// Threads: the loop's; the pool's sees `text_` and `status_` alone, while `writing_`.
#ifndef ANTEROOM_SERVER_APP_TOKEN_KEY_ROTATIONS_H_
#define ANTEROOM_SERVER_APP_TOKEN_KEY_ROTATIONS_H_

#include <uv.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "protocol/refusal.h"
#include "server/auth/secrets.h"
#include "server/auth/token_authority.h"
#include "server/net/connections.h"
#include "server/storage/data_directory.h"

namespace anteroom::app {

// Invariants: `tokens` knows the keys of `secrets_`, all of which are on disk; while `writing_`,
// the first one waiting is the one being written (unless the stop has taken all), and `next_` is
// `secrets_` and its key.
class TokenKeyRotations {
 public:
  // All outlive it. `secrets` are those of the directory and of `tokens`.
  TokenKeyRotations(uv_loop_t* loop, storage::DataDirectory* directory, auth::Secrets secrets,
                    auth::TokenAuthority* tokens);
  // Nothing is being written by then.
  ~TokenKeyRotations();

  // Nothing when it is taken up. `by` is the asker's name.
  std::optional<protocol::Refusal> Add(const net::Arrival& arrival, std::string_view by);

  struct Written {
    net::Arrival arrival;  // its connection is nullptr when that is gone
    std::string by;
    absl::Status status;  // not OK: all is as it was
    uint32_t key_id = 0;  // on disk, and known to the token maker
  };
  // What a thread is done with, if anything, and begins the next.
  std::optional<Written> TakeWritten();
  // Whether a thread has one.
  bool busy() const { return writing_ && !written_; }

  // What has not been begun is not, and nobody hears of the one that has been.
  void OnGone(const net::Connection* connection);
  // Gives up on all; whose they were. What is being written will be of no use to anybody.
  std::vector<net::Arrival> TakeAll();

  void check_invariants() const;

 private:
  struct Rotation {
    net::Arrival arrival;
    std::string by;
  };

  void StartNext();

  uv_loop_t* const loop_;
  storage::DataDirectory& directory_;
  auth::Secrets secrets_;
  auth::TokenAuthority& tokens_;

  std::deque<Rotation> waiting_;
  bool writing_ = false;
  bool written_ = false;  // and not taken yet
  std::optional<auth::Secrets> next_;
  std::string text_;
  absl::Status status_;
  uv_work_t work_;
};

}  // namespace anteroom::app

#endif  // ANTEROOM_SERVER_APP_TOKEN_KEY_ROTATIONS_H_
