// A real anteroomd in a child process, on a free port and a directory of its own.
#ifndef ANTEROOM_TESTS_SUPPORT_DAEMON_PROCESS_H_
#define ANTEROOM_TESTS_SUPPORT_DAEMON_PROCESS_H_

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace anteroom {

// Invariant: `pid_` is a child of ours that has not been waited for, or 0.
class DaemonProcess {
 public:
  ~DaemonProcess() { Stop(SIGKILL); }

  // Starts it and waits for its first line, "... listening on ADDRESS, data in ...". False when it
  // ends without one; said() has what it said then.
  bool Start(const std::vector<std::string>& arguments) {
    said_.clear();
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    const char* folder = std::getenv("ANTEROOM_BIN");
    std::vector<std::string> words = {std::string(folder != nullptr ? folder : "build/bin") +
                                      "/anteroomd"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], STDERR_FILENO);
      execv(pointers[0], pointers.data());
      _exit(127);
    }
    close(ends[1]);
    output_ = ends[0];
    char byte;
    while (said_.find(" listening on ") == std::string::npos || said_.back() != '\n') {
      if (read(output_, &byte, 1) != 1) return false;
      said_ += byte;
    }
    const size_t begin = said_.find(" listening on ") + std::strlen(" listening on ");
    const std::string address = said_.substr(begin, said_.find_first_of(", ", begin) - begin);
    port_ = std::atoi(address.substr(address.rfind(':') + 1).c_str());
    return true;
  }

  void Signal(int signal) {
    if (pid_ > 0) kill(pid_, signal);
  }
  // Reads what it says until these words were among it, from the beginning on; false when it ends
  // without, or says nothing for twenty seconds.
  bool AwaitWords(const std::string& words) {
    while (said_.find(words) == std::string::npos) {
      pollfd readable{output_, POLLIN, 0};
      char bytes[4096];
      if (poll(&readable, 1, 20'000) != 1) return false;
      const ssize_t got = read(output_, bytes, sizeof bytes);
      if (got <= 0) return false;
      said_.append(bytes, static_cast<size_t>(got));
    }
    return true;
  }
  // Its exit status, or minus the signal that ended it. Reads what it still says.
  int Wait() {
    if (pid_ <= 0) return 0;
    char bytes[4096];
    for (ssize_t n; (n = read(output_, bytes, sizeof bytes)) > 0;) {
      said_.append(bytes, static_cast<size_t>(n));
    }
    close(output_);
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  int Stop(int signal) {
    Signal(signal);
    return Wait();
  }

  int port() const { return port_; }
  pid_t pid() const { return pid_; }
  const std::string& said() const { return said_; }

 private:
  pid_t pid_ = 0;
  int output_ = -1;
  int port_ = 0;
  std::string said_;
};

}  // namespace anteroom

#endif  // ANTEROOM_TESTS_SUPPORT_DAEMON_PROCESS_H_
