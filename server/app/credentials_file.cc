#include "server/app/credentials_file.h"

#include <cstdio>
#include <utility>

#include "server/base/check.h"

namespace anteroom::app {

absl::StatusOr<std::unique_ptr<CredentialsFile>> CredentialsFile::Read(std::string path) {
  absl::StatusOr<Book> book = auth::CredentialBook::Read(path);
  if (!book.ok()) return book.status();
  return std::unique_ptr<CredentialsFile>(new CredentialsFile(std::move(path), *std::move(book)));
}

CredentialsFile::CredentialsFile(std::string path, Book book)
    : path_(std::move(path)), book_(std::move(book)) {
  work_.data = this;
}

CredentialsFile::~CredentialsFile() {
  CHECK(!reading_);
}

void CredentialsFile::ReadAgain(uv_loop_t* loop) {
  if (reading_) {
    once_more_ = true;
    return;
  }
  reading_ = true;
  const int error = uv_queue_work(
      loop, &work_,
      [](uv_work_t* work) {
        auto* self = static_cast<CredentialsFile*>(work->data);
        self->read_ = auth::CredentialBook::Read(self->path_);
      },
      [](uv_work_t* work, int) { static_cast<CredentialsFile*>(work->data)->TakeRead(); });
  CHECK_EQ(error, 0);
}

void CredentialsFile::TakeRead() {
  reading_ = false;
  if (read_.ok()) {
    book_ = *std::move(read_);
    std::fprintf(stderr, "anteroomd: credentials are read anew, %zu of them\n", book_->size());
  } else {
    std::fprintf(stderr, "anteroomd: credentials stay what they were: %s\n",
                 std::string(read_.status().message()).c_str());
  }
  read_ = Book();
  if (std::exchange(once_more_, false)) ReadAgain(work_.loop);
}

void CredentialsFile::check_invariants() const {
  CHECK(book_ != nullptr);
  book_->check_invariants();
  CHECK(reading_ || !once_more_);
}

}  // namespace anteroom::app
