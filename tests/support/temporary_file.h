#ifndef ANTEROOM_TESTS_SUPPORT_TEMPORARY_FILE_H_
#define ANTEROOM_TESTS_SUPPORT_TEMPORARY_FILE_H_

// A file of its own for a test, gone at the end of its scope.

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "server/base/check.h"

namespace anteroom {

class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view contents) {
    const char* const folder = std::getenv("TMPDIR");
    path_ = std::string(folder != nullptr ? folder : "/tmp") + "/anteroom-test.XXXXXX";
    const int fd = mkstemp(path_.data());
    CHECK(fd >= 0);
    CHECK_EQ(close(fd), 0);
    std::ofstream file(path_, std::ios::binary);
    file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
    file.close();
    CHECK(file.good());
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The path of a file of the repository, given from its root.
inline std::string SourcePath(std::string_view path) {
  const char* const root = std::getenv("ANTEROOM_SOURCE_DIR");
  return std::string(root != nullptr ? root : ".") + "/" + std::string(path);
}

}  // namespace anteroom

#endif  // ANTEROOM_TESTS_SUPPORT_TEMPORARY_FILE_H_
