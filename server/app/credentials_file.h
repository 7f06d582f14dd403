// The file of credentials while the daemon runs: read at the start, and again when the operator
// asks for it (SIGHUP), by a thread of the pool, so that a disk that hangs holds up nobody. What is
// there then is who may connect from then on; a file that is wrong changes nothing and is said on
// standard error. Connections that are open keep their name and role until they end.
//
// Threads: the loop's; the pool's sees `path_` and `read_` alone, while `reading_`.
#ifndef ANTEROOM_SERVER_APP_CREDENTIALS_FILE_H_
#define ANTEROOM_SERVER_APP_CREDENTIALS_FILE_H_

#include <uv.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/auth/credential_book.h"
#include "server/base/gatekeeper.h"

namespace anteroom::app {

// Invariant: `book_` is there, from a file that was right as a whole.
class CredentialsFile final : public Gatekeeper {
 public:
  // Blocks.
  static absl::StatusOr<std::unique_ptr<CredentialsFile>> Read(std::string path);
  // Nothing is being read by then.
  ~CredentialsFile() override;

  // `loop` runs until it is done. Asked while it is being read, it is read once more after that.
  void ReadAgain(uv_loop_t* loop);
  bool reading() const { return reading_; }

  std::optional<Known> Judge(const protocol::Handshake& handshake,
                             std::string_view proof) const override {
    return book_->Judge(handshake, proof);
  }

  void check_invariants() const;

 private:
  using Book = std::unique_ptr<auth::CredentialBook>;

  CredentialsFile(std::string path, Book book);
  void TakeRead();

  const std::string path_;
  Book book_;

  bool reading_ = false;
  bool once_more_ = false;
  absl::StatusOr<Book> read_;
  uv_work_t work_;
};

}  // namespace anteroom::app

#endif  // ANTEROOM_SERVER_APP_CREDENTIALS_FILE_H_
