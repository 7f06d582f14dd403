#include "client/testing/test_daemon.h"

#include <signal.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "client/testing/internal/fault_list.h"
#include "client/testing/internal/frame_desk.h"
#include "client/testing/internal/socket_server.h"
#include "client/waiter.h"
#include "server/base/check.h"

namespace anteroom::testing {

namespace {

constexpr std::string_view kFolderPattern = "/anteroom-testing-XXXXXX";
constexpr std::string_view kSocketName = "/daemon";

// A new folder, for this user alone.
std::string MakeFolder() {
  const char* const wanted = std::getenv("TMPDIR");
  std::string folder = wanted != nullptr && *wanted != '\0' ? wanted : "/tmp";
  // The path of a socket is short.
  const size_t bytes = folder.size() + kFolderPattern.size() + kSocketName.size();
  if (bytes >= sizeof(sockaddr_un::sun_path)) folder = "/tmp";
  folder += kFolderPattern;
  CHECK(mkdtemp(folder.data()) != nullptr);
  return folder;
}

}  // namespace

// Invariant: everything behind `mutex_` apart, all is touched by the daemon's thread alone, from
// its start to its end.
class TestDaemon::Impl final : private SocketServer::Owner {
 public:
  Impl() {
    CHECK_EQ(uv_loop_init(&loop_), 0);
    CHECK_EQ(uv_async_init(&loop_, &wake_,
                           [](uv_async_t* wake) { static_cast<Impl*>(wake->data)->RunActions(); }),
             0);
    wake_.data = this;
    sockets_.Open();
    // The program's signals are for the program's threads.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { uv_run(&loop_, UV_RUN_DEFAULT); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~Impl() {
    Run([this] {
      sockets_.Close();
      uv_close(reinterpret_cast<uv_handle_t*>(&wake_), nullptr);
    });
    thread_.join();
    CHECK_EQ(uv_loop_close(&loop_), 0);
    rmdir(folder_.c_str());
  }

  // Runs it on the daemon's thread, sends what comes of it, and waits for that.
  void Run(const std::function<void()>& action) {
    client::Waiter done;
    {
      const std::lock_guard lock(mutex_);
      actions_.emplace_back([&] {
        action();
        sockets_.Flush();
        done.Notify();
      });
      // Under the lock: after the last action the handle is gone.
      uv_async_send(&wake_);
    }
    done.Wait();
  }
  template <typename Result>
  Result Ask(const std::function<Result()>& question) {
    std::optional<Result> answer;
    Run([&] { answer.emplace(question()); });
    return *std::move(answer);
  }

  void AddFault(protocol::Operation operation, Fault fault, size_t times) {
    Run([&] { desk_.faults().Add(operation, std::move(fault), times); });
  }

  const std::string& path() const { return path_; }
  FrameDesk& desk() { return desk_; }
  SocketServer& sockets() { return sockets_; }

 private:
  void OnFrame(uint64_t connection, const protocol::FrameHeader& header,
               std::string_view payload) override {
    desk_.OnFrame(connection, header, payload);
  }
  void OnGone(uint64_t connection) override { desk_.OnGone(connection); }

  void RunActions() {
    std::vector<std::function<void()>> actions;
    {
      const std::lock_guard lock(mutex_);
      actions.swap(actions_);
    }
    for (const auto& action : actions) action();
  }

  const std::string folder_ = MakeFolder();
  const std::string path_ = folder_ + std::string(kSocketName);
  uv_loop_t loop_;
  uv_async_t wake_;
  SocketServer sockets_{&loop_, path_, this};
  FrameDesk desk_{&sockets_};
  std::thread thread_;

  std::mutex mutex_;  // of what follows
  std::vector<std::function<void()>> actions_;
};

TestDaemon::TestDaemon() : impl_(std::make_unique<Impl>()) {}
TestDaemon::~TestDaemon() = default;

std::string TestDaemon::address() const {
  return "unix:" + impl_->path();
}

// ---- time ----

int64_t TestDaemon::now_ms() const {
  return impl_->Ask<int64_t>([this] { return impl_->desk().now_ms(); });
}

void TestDaemon::Advance(absl::Duration duration) {
  AdvanceMs(absl::ToInt64Milliseconds(duration));
}

void TestDaemon::AdvanceMs(int64_t duration_ms) {
  impl_->Run([&] { impl_->desk().Advance(duration_ms); });
}

// ---- faults ----

void TestDaemon::RefuseNext(protocol::Operation operation, const protocol::Refusal& refusal,
                            size_t times) {
  impl_->AddFault(operation, {Fault::Kind::kRefuse, false, refusal}, times);
}

void TestDaemon::LoseRequestNext(protocol::Operation operation, Loss loss) {
  impl_->AddFault(operation, {Fault::Kind::kLoseRequest, loss == Loss::kHangUp, {}}, 1);
}

void TestDaemon::LoseReplyNext(protocol::Operation operation, Loss loss) {
  impl_->AddFault(operation, {Fault::Kind::kLoseReply, loss == Loss::kHangUp, {}}, 1);
}

size_t TestDaemon::faults_left() const {
  return impl_->Ask<size_t>([this] { return impl_->desk().faults().size(); });
}

void TestDaemon::ClearFaults() {
  impl_->Run([this] { impl_->desk().faults().Clear(); });
}

// ---- outages ----

void TestDaemon::Disconnect() {
  impl_->Run([this] { impl_->sockets().HangUpAll(); });
}

void TestDaemon::GoAway() {
  impl_->Run([this] { impl_->sockets().Close(); });
}

void TestDaemon::ComeBack() {
  impl_->Run([this] {
    if (!impl_->sockets().is_open()) impl_->sockets().Open();
  });
}

// ---- a look inside ----

std::optional<protocol::Counts> TestDaemon::Counts(std::string_view room) const {
  return impl_->Ask<std::optional<protocol::Counts>>([&] { return impl_->desk().Counts(room); });
}

uint64_t TestDaemon::requests(protocol::Operation operation) const {
  return impl_->Ask<uint64_t>([&] { return impl_->desk().requests(operation); });
}

size_t TestDaemon::connections() const {
  return impl_->Ask<size_t>([this] { return impl_->desk().connections(); });
}

void TestDaemon::check_invariants() const {
  impl_->Run([this] { impl_->desk().check_invariants(); });
}

}  // namespace anteroom::testing
