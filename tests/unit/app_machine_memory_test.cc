// What a control group may have.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "server/app/machine_memory.h"

namespace anteroom::app {
namespace {

TEST_CASE("machine memory: the least of a control group and those above it") {
  std::string root = (std::filesystem::temp_directory_path() / "anteroom.XXXXXX").string();
  CHECK(mkdtemp(root.data()) != nullptr);
  const std::string inner = root + "/system.slice/anteroom.service";
  std::filesystem::create_directories(inner);
  const auto say = [&](const std::string& folder, const char* text) {
    std::ofstream(folder + "/memory.max") << text << "\n";
  };
  const std::string groups = "1:name=other:/elsewhere\n0::/system.slice/anteroom.service\n";
  CHECK(ControlGroupMemory(groups, root) == UINT64_MAX);
  say(inner, "max");
  CHECK(ControlGroupMemory(groups, root) == UINT64_MAX);
  say(inner, "3000000");
  CHECK(ControlGroupMemory(groups, root) == 3'000'000);
  say(root + "/system.slice", "2000000");
  CHECK(ControlGroupMemory(groups, root) == 2'000'000);
  say(root, "1000000");
  CHECK(ControlGroupMemory(groups, root) == 1'000'000);
  // As a container sees it.
  CHECK(ControlGroupMemory("0::/\n", root) == 1'000'000);
  CHECK(ControlGroupMemory("", root) == UINT64_MAX);
  std::filesystem::remove_all(root);
  CHECK(ControlGroupMemory(groups, root) == UINT64_MAX);
  CHECK(MemoryForTheDaemon() > 0);
}

}  // namespace
}  // namespace anteroom::app
