// apply and export against a daemon in this process: what is asked, what is done, and what happens
// when somebody else changes a room between the question and the answer.
#include <doctest/doctest.h>

#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "client/testing/test_daemon.h"
#include "tests/support/temporary_file.h"
#include "tools/cli/cli.h"
#include "tools/cli/json.h"

namespace anteroom::cli {
namespace {

using protocol::Operation;

// Who is asked: does something first, then says yes or no.
class Answering : public std::streambuf {
 public:
  Answering(std::string answer, std::function<void()> first)
      : answer_(std::move(answer)), first_(std::move(first)) {}
  bool asked() const { return asked_; }

 private:
  int_type underflow() override {
    if (asked_) return traits_type::eof();
    asked_ = true;
    if (first_) first_();
    setg(answer_.data(), answer_.data(), answer_.data() + answer_.size());
    return traits_type::to_int_type(answer_.front());
  }

  std::string answer_;
  std::function<void()> first_;
  bool asked_ = false;
};

struct ApplyRun {
  int status = 0;
  bool asked = false;
  std::string out;
  std::string err;
};

struct ApplyWorld {
  ApplyRun Run(const std::vector<std::string>& words, std::string answer = {},
               std::function<void()> first = nullptr) {
    const bool interactive = !answer.empty();
    Answering answering(std::move(answer), std::move(first));
    std::istream in(&answering);
    std::ostringstream out;
    std::ostringstream err;
    Console console{.in = in, .out = out, .err = err, .interactive = interactive};
    const std::string address = daemon.address();
    const ExitStatus status = RunCli(words, {.server = address}, console);
    return {static_cast<int>(status), answering.asked(), out.str(), err.str()};
  }

  std::string Setting(const std::string& room, const std::string& name) {
    const Json shown = Json::parse(Run({"--output", "json", "room", "show", room}).out);
    return shown.value(name, "absent");
  }

  testing::TestDaemon daemon;
};

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("cli apply: shows, asks, does it; again there is nothing to do") {
  ApplyWorld world;
  const TemporaryFile file(
      "[rooms.sale]\nrate = \"50/s\"\ncapacity = 500\n[rooms.\"sale.vip\"]\nrate = \"5/s\"\n");

  const ApplyRun shown = world.Run({"apply", file.path(), "--dry-run"});
  CHECK(shown.status == 0);
  CHECK(shown.out ==
        "create sale      rate=50/s capacity=500\ncreate sale.vip  rate=5/s\n2 to create; 0 "
        "unchanged\n");
  CHECK(world.Run({"export"}).out == "[rooms]\n");

  const ApplyRun nobody = world.Run({"apply", file.path()});
  CHECK(nobody.status == 2);
  CHECK(Has(nobody.err, "--yes"));
  const ApplyRun no = world.Run({"apply", file.path()}, "n\n");
  CHECK(no.status == 1);
  CHECK(no.asked);
  CHECK(world.Run({"export"}).out == "[rooms]\n");

  const ApplyRun yes = world.Run({"apply", file.path()}, "y\n");
  CHECK(yes.status == 0);
  CHECK(Has(yes.out, "2 created, 0 changed, 0 deleted\n"));
  CHECK(world.Setting("sale", "capacity") == "500");

  const ApplyRun again = world.Run({"apply", file.path()}, "y\n");
  CHECK(again.status == 0);
  CHECK_FALSE(again.asked);
  CHECK(again.out == "nothing to change; 2 unchanged\n");
}

TEST_CASE("cli apply: a change by somebody else in between is a conflict and stays") {
  ApplyWorld world;
  world.Run({"room", "create", "a", "rate=1/s"});
  world.Run({"room", "create", "b", "rate=1/s"});
  const TemporaryFile file(
      "[rooms]\na.rate = \"2/s\"\nb.rate = \"2/s\"\nc.rate = \"2/s\"\nd.rate = \"2/s\"\n");
  const auto meanwhile = [&] {
    world.Run({"room", "set", "a", "capacity=7"});
    world.Run({"room", "create", "c", "rate=9/s"});
  };
  const ApplyRun ran = world.Run({"apply", file.path()}, "y\n", meanwhile);
  CHECK(ran.status == 1);
  CHECK(Has(ran.err, "room a: conflict: the room is at revision 2, not 1"));
  CHECK(Has(ran.err, "room c: conflict: there is a room"));
  CHECK(Has(ran.out, "1 created, 1 changed, 0 deleted, 2 not done\n"));
  CHECK(world.Setting("a", "rate") == "1/s");
  CHECK(world.Setting("a", "capacity") == "7");
  CHECK(world.Setting("b", "rate") == "2/s");
  CHECK(world.Setting("c", "rate") == "9/s");
  CHECK(world.Setting("d", "rate") == "2/s");
}

TEST_CASE("cli apply: prune does not delete a room that somebody has come into") {
  ApplyWorld world;
  for (const char* room : {"a", "b", "c"}) world.Run({"room", "create", room, "rate=1/s"});
  world.Run({"join", "c", "carol"});
  const TemporaryFile file("[rooms]\n");
  CHECK(world.Run({"apply", file.path(), "--yes"}).out ==
        "nothing to change; 0 unchanged; 3 not in the file, left alone\n");
  const ApplyRun ran = world.Run({"apply", file.path(), "--prune"}, "y\n", [&] {
    world.Run({"join", "a", "ann"});
  });
  CHECK(ran.status == 1);
  CHECK(Has(ran.out, "keep c    1 person is in it\n"));
  CHECK(Has(ran.err, "room a: conflict: 1 people are in the room"));
  CHECK(Has(ran.out, "0 created, 0 changed, 1 deleted, 1 not done\n"));
  CHECK(world.Run({"export"}).out == "[rooms.a]\nrate = \"1/s\"\n\n[rooms.c]\nrate = \"1/s\"\n");
}

TEST_CASE("cli apply: what is harmful is said before the question") {
  ApplyWorld world;
  world.Run({"room", "create", "sale", "rate=1/s"});
  const TemporaryFile file("[rooms.sale]\nrate = \"3/s\"\n");
  const ApplyRun ran = world.Run({"apply", file.path()}, "y\n");
  CHECK(Has(ran.err, "room sale: the rate is more than doubled"));
  CHECK(ran.err.find("doubled") < ran.err.find("Go on?"));
}

TEST_CASE("cli apply: everything wrong in the file is said, and nothing is asked of a daemon") {
  ApplyWorld world;
  const TemporaryFile file("[rooms.good]\nrate = \"1/s\"\n[rooms.bad]\nrte = \"3/s\"\nrate = 5\n");
  const ApplyRun ran = world.Run({"apply", file.path(), "--yes", "--server", "unix:/nowhere"});
  CHECK(ran.status == 2);
  CHECK(ran.out.empty());
  CHECK(Has(ran.err, file.path() + ":4: there is no setting \"rte\", did you mean rate?\n"));
  CHECK(Has(ran.err, file.path() + ":5: rate is \"5\""));
  CHECK(world.Run({"export"}).out == "[rooms]\n");

  const ApplyRun absent = world.Run({"apply", file.path() + ".absent", "--yes"});
  CHECK(absent.status == 2);
  CHECK(Has(absent.err, "No such file"));
  CHECK(world.Run({"apply", "/", "--yes"}).status == 2);
}

TEST_CASE("cli apply: the daemon goes away in the middle") {
  ApplyWorld world;
  const TemporaryFile file("[rooms]\na.rate = \"2/s\"\nb.rate = \"2/s\"\nc.rate = \"2/s\"\n");
  world.daemon.LoseReplyNext(Operation::kRoomCreate);
  const ApplyRun ran = world.Run({"--output", "json", "apply", file.path(), "--yes"});
  CHECK(ran.status == 3);
  CHECK(Has(ran.err, "room a: "));
  CHECK(Has(ran.err, "may have been done"));
  CHECK(Has(ran.out, R"("room":"a"})"));
  CHECK(Has(ran.out, R"({"created":0,"changed":0,"deleted":0,"not_done":3})"));
  // Once more does the rest.
  CHECK(Has(world.Run({"apply", file.path(), "--yes"}).out, "2 created, 0 changed"));
}

TEST_CASE("cli export: some rooms, and one that there is not") {
  ApplyWorld world;
  for (const char* room : {"a", "b", "c"}) world.Run({"room", "create", room, "capacity=3"});
  CHECK(world.Run({"export", "c", "a", "c"}).out ==
        "[rooms.a]\ncapacity = 3\n\n[rooms.c]\ncapacity = 3\n");
  CHECK(world.Run({"--output", "json", "export", "b"}).out ==
        "{\"rooms\":{\"b\":{\"capacity\":3}}}\n");
  const ApplyRun absent = world.Run({"export", "a", "d"});
  CHECK(absent.status == 1);
  CHECK(absent.out.empty());
}

}  // namespace
}  // namespace anteroom::cli
