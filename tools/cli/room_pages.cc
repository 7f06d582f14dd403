#include "tools/cli/room_pages.h"

#include <string>

#include "protocol/limits.h"

namespace anteroom::cli {

absl::Status ForEachRoom(client::Client& client,
                         const std::function<void(const protocol::RoomReply&)>& take) {
  std::string after;
  bool more = true;
  while (more) {
    const auto page = client.RoomList(after, protocol::kPageItemsMax);
    if (!page.ok()) return page.status();
    for (const protocol::RoomReply& room : page->rooms) take(room);
    more = page->more && !page->rooms.empty();
    if (more) after = page->rooms.back().room;
  }
  return absl::OkStatus();
}

}  // namespace anteroom::cli
