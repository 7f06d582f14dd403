#include "tools/cli/watch_run.h"

#include <signal.h>

#include <ctime>
#include <utility>
#include <vector>

#include "client/failure.h"
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

WatchRun::~WatchRun() {
  CHECK_EQ(uv_loop_close(&loop_), 0);
}

ExitStatus WatchRun::Run() {
  const auto on_signal = [](uv_signal_t* handle, int) {
    static_cast<WatchRun*>(handle->data)->Stop(ExitStatus::kDone);
  };
  CHECK_EQ(uv_signal_start(&interrupt_, on_signal, SIGINT), 0);
  CHECK_EQ(uv_signal_start(&terminate_, on_signal, SIGTERM), 0);
  if (arguments_.duration_ms) {
    uv_timer_start(
        &timer_,
        [](uv_timer_t* handle) { static_cast<WatchRun*>(handle->data)->Stop(ExitStatus::kDone); },
        static_cast<uint64_t>(*arguments_.duration_ms), 0);
  }

  client_ = std::make_unique<client::AsyncClient>(&loop_, context_.client_options());
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
    refused_ = true;
    const std::string why =
        std::string(NameOf(event.refusal->error)) + ": " + Printable(event.refusal->message);
    const std::string who = protocol::EscapeId(event.visitor);
    context_.Note(who + ": " + why);
    Print("visitor", event.visitor, ToJson(*event.refusal), who + ": " + why);
  }
  if (event.last) OnLast(event.status, event.visitor.empty());
}

void WatchRun::OnRoom(const client::RoomEvent& event) {
  if (event.missed > 0 && !stopped_) {
    Print("room", arguments_.room, Json{{"missed", event.missed}},
          std::to_string(event.missed) + (event.missed == 1 ? " event was" : " events were") +
              " missed, read too slowly");
  }
  for (const protocol::RoomEvent& one : event.events) {
    if (stopped_) return;
    Print("room", arguments_.room, ToJson(one), DescribeEvent(one));
  }
  if (stopped_) return;
  if (event.reply) {
    Print("room", event.reply->room, ToJson(*event.reply), DescribeRoomInLine(*event.reply));
  }
  if (event.last && !stopped_) OnLast(event.status, true);
}

void WatchRun::OnLast(const absl::Status& status, bool untold) {
  const auto refusal = client::RefusalOf(status);
  // A watch ends by itself when everybody has ended, or was refused, and that has been told.
  const bool followed_to_the_end = !arguments_.visitors.empty() && events_ > 0 && refusal &&
                                   refusal->error == protocol::ErrorCode::kNotFound;
  if (untold && !followed_to_the_end && !status.ok()) return Stop(context_.Fail(status));
  Stop(refused_ ? ExitStatus::kRefused : ExitStatus::kDone);
}

void WatchRun::Print(std::string_view key, std::string_view name, const Json& object,
                     std::string_view text) {
  if (context_.json()) {
    Json line = Json::object();
    line[std::string(key)] = protocol::EscapeId(name);
    line.update(object);
    context_.PrintJson(line);
  } else {
    context_.PrintText(LocalTime() + "  " + std::string(text));
  }
  // Somebody watches.
  context_.console().out.flush();
  ++events_;
  const bool enough = arguments_.count && events_ >= *arguments_.count;
  if (enough || !context_.console().out) {
    Stop(refused_ ? ExitStatus::kRefused : ExitStatus::kDone);
  }
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
