#include "tools/cli/watch_run.h"

#include <signal.h>

#include <ctime>
#include <utility>
#include <vector>

#include "protocol/text.h"
#include "server/base/check.h"
#include "tools/cli/describe.h"
#include "tools/cli/human.h"

namespace anteroom::cli {
namespace {

std::string LocalTime() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[16];
  std::strftime(text, sizeof(text), "%H:%M:%S", &local);
  return text;
}

template <typename Handle>
uv_handle_t* AsHandle(Handle* handle) {
  return reinterpret_cast<uv_handle_t*>(handle);
}

}  // namespace

WatchRun::WatchRun(Context& context, const Arguments& arguments)
    : context_(context), arguments_(arguments) {
  CHECK_EQ(uv_loop_init(&loop_), 0);
  CHECK_EQ(uv_signal_init(&loop_, &interrupt_), 0);
  CHECK_EQ(uv_signal_init(&loop_, &terminate_), 0);
  CHECK_EQ(uv_timer_init(&loop_, &timer_), 0);
  interrupt_.data = this;
  terminate_.data = this;
  timer_.data = this;
}

WatchRun::~WatchRun() { CHECK_EQ(uv_loop_close(&loop_), 0); }

ExitStatus WatchRun::Run() {
  const auto on_signal = [](uv_signal_t* handle, int) {
    static_cast<WatchRun*>(handle->data)->Stop(ExitStatus::kDone);
  };
  CHECK_EQ(uv_signal_start(&interrupt_, on_signal, SIGINT), 0);
  CHECK_EQ(uv_signal_start(&terminate_, on_signal, SIGTERM), 0);
  if (arguments_.duration_ms) {
    uv_timer_start(
        &timer_,
        [](uv_timer_t* handle) {
          static_cast<WatchRun*>(handle->data)->Stop(ExitStatus::kDone);
        },
        static_cast<uint64_t>(*arguments_.duration_ms), 0);
  }

  client_ = std::make_unique<client::AsyncClient>(&loop_, ClientOptionsFor(context_.server()));
  if (arguments_.visitors.empty()) {
    client_->WatchRoom(arguments_.room, [this](const client::RoomEvent& event) { OnRoom(event); });
  } else {
    const std::vector<std::string_view> visitors(arguments_.visitors.begin(),
                                                 arguments_.visitors.end());
    client_->Watch(arguments_.room, visitors,
                   [this](const client::VisitorEvent& event) { OnVisitor(event); });
  }
  uv_run(&loop_, UV_RUN_DEFAULT);
  check_invariants();
  return status_;
}

void WatchRun::OnVisitor(const client::VisitorEvent& event) {
  if (stopped_) return;
  if (event.reply) {
    Print("visitor", event.visitor, ToJson(*event.reply),
          DescribeVisitor(event.visitor, *event.reply));
  } else if (event.refusal && !event.visitor.empty()) {
    Print("visitor", event.visitor, ToJson(*event.refusal),
          protocol::EscapeId(event.visitor) + ": " + std::string(NameOf(event.refusal->error)) +
              ": " + Printable(event.refusal->message));
  }
  if (event.last) Stop(event.status.ok() ? ExitStatus::kDone : context_.Fail(event.status));
}

void WatchRun::OnRoom(const client::RoomEvent& event) {
  if (stopped_) return;
  if (event.reply) {
    Print("room", event.reply->room, ToJson(*event.reply), DescribeRoomInLine(*event.reply));
  }
  if (event.last) Stop(event.status.ok() ? ExitStatus::kDone : context_.Fail(event.status));
}

void WatchRun::Print(std::string_view key, std::string_view name, Json object,
                     std::string_view text) {
  if (context_.json()) {
    Json line = Json::object();
    line[std::string(key)] = protocol::EscapeId(name);
    line.update(object);
    context_.Print(line);
  } else {
    context_.Print(LocalTime() + "  " + std::string(text));
  }
  // Somebody watches.
  context_.console().out.flush();
  CountEvent();
}

void WatchRun::CountEvent() {
  ++events_;
  const bool enough = arguments_.count && events_ >= *arguments_.count;
  if (enough || !context_.console().out) Stop(ExitStatus::kDone);
}

void WatchRun::Stop(ExitStatus status) {
  if (stopped_) return;
  stopped_ = true;
  status_ = status;
  uv_close(AsHandle(&interrupt_), nullptr);
  uv_close(AsHandle(&terminate_), nullptr);
  uv_close(AsHandle(&timer_), nullptr);
  client_->Close();
}

void WatchRun::check_invariants() const {
  if (!stopped_) return;
  CHECK(uv_is_closing(reinterpret_cast<const uv_handle_t*>(&interrupt_)) != 0);
  CHECK(uv_is_closing(reinterpret_cast<const uv_handle_t*>(&terminate_)) != 0);
  CHECK(uv_is_closing(reinterpret_cast<const uv_handle_t*>(&timer_)) != 0);
}

}  // namespace anteroom::cli
