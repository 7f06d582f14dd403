// Two people at the door of a shop with one place inside: the first is let in, the second waits and
// is told when it is their turn.
//
//   door [ADDRESS]     default 127.0.0.1:7411

#include <cstdio>
#include <future>
#include <string>
#include <string_view>

#include "client/client.h"

namespace client = anteroom::client;
namespace protocol = anteroom::protocol;

namespace {

constexpr std::string_view kRoom = "door-example";

// Asks the door for one visitor; what a web application does for each request of a page.
std::string AskTheDoor(client::Client& anteroom, std::string_view visitor) {
  const absl::StatusOr<client::EnterReply> door = anteroom.Enter(kRoom, visitor);
  if (!door.ok()) {
    const client::Failure failure = client::FailureOf(door.status()).value();
    return "has to come back later: " + failure.refusal.message;
  }
  if (door->let_pass) return "passes, because the waiting room cannot be asked";
  if (door->may_pass()) return "is inside, with token " + std::string(door->reply->token->view());
  return "waits at position " + std::to_string(door->reply->position.value_or(0));
}

}  // namespace

int main(int argc, char** argv) {
  client::ClientOptions options;
  if (argc > 1) options.addresses = {argv[1]};
  options.when_unreachable = client::UnreachablePolicy::kLetPass;
  client::Client anteroom(options);

  protocol::RoomSettings settings;
  settings.capacity = protocol::Limit{1};
  const absl::StatusOr<protocol::RoomReply> room = anteroom.RoomCreate(kRoom, settings);
  if (!room.ok()) {
    std::fprintf(stderr, "%s\n", std::string(room.status().message()).c_str());
    return 1;
  }

  std::printf("ann %s\n", AskTheDoor(anteroom, "ann").c_str());
  std::printf("bob %s\n", AskTheDoor(anteroom, "bob").c_str());

  // Told on the client's own thread of every change, beginning with the present state.
  std::promise<void> admitted;
  const absl::StatusOr<client::WatchHandle> watch =
      anteroom.Watch(kRoom, "bob", [&](const client::VisitorEvent& event) {
        if (event.reply.has_value() && event.reply->state == protocol::State::kAdmitted) {
          admitted.set_value();
        }
      });
  if (!watch.ok()) return 1;

  // Ann has paid. This neither waits nor fails while the daemon is away: it is retried. The token
  // says which session is meant, whatever Ann has begun by the time it arrives.
  const absl::StatusOr<protocol::VisitorReply> ann = anteroom.Status(kRoom, "ann");
  if (!ann.ok() || !ann->token.has_value()) return 1;
  const absl::Status taken = anteroom.FinishLater(
      kRoom, "ann", {.token = ann->token->view(), .outcome = protocol::Outcome::kCompleted});
  if (!taken.ok()) return 1;

  admitted.get_future().wait();
  anteroom.Unwatch(*watch);
  std::printf("bob %s\n", AskTheDoor(anteroom, "bob").c_str());
  return anteroom.RoomDelete(kRoom, {.force = true}).ok() ? 0 : 1;
}
