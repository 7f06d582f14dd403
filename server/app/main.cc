// anteroomd: a waiting room's daemon. `anteroomd --help` tells what it takes.

#include <unistd.h>
#include <uv.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "protocol/version.h"
#include "server/app/core_files.h"
#include "server/app/credentials_file.h"
#include "server/app/options.h"
#include "server/app/recovery.h"
#include "server/app/server.h"
#include "server/storage/posix_files.h"

namespace {

constexpr int kCouldNotStart = 1;
constexpr int kWrongUsage = 2;

int Fail(int exit_status, const absl::Status& status) {
  std::fprintf(stderr, "anteroomd: %s\n", std::string(status.message()).c_str());
  return exit_status;
}

}  // namespace

int main(int argc, char** argv) {
  using anteroom::app::Options;
  // A peer that is gone is told by the write's error.
  std::signal(SIGPIPE, SIG_IGN);
  anteroom::app::LeaveMemoryOutOfCoreFiles();
  auto parsed = anteroom::app::ParseOptions(argc, argv);
  if (!parsed.ok()) return Fail(kWrongUsage, parsed.status());
  if (!parsed->has_value()) return 0;
  const Options options = **std::move(parsed);

  // Until the loop takes them from its first turn on. What a start has done by then it does again.
  for (const int signal : {SIGTERM, SIGINT}) std::signal(signal, [](int) { _exit(0); });
  // The credentials are about to be read anyway; without any there is nothing to read anew.
  std::signal(SIGHUP, SIG_IGN);
  std::unique_ptr<anteroom::app::CredentialsFile> credentials;
  if (!options.credentials_path.empty()) {
    auto read = anteroom::app::CredentialsFile::Read(options.credentials_path);
    if (!read.ok()) return Fail(kCouldNotStart, read.status());
    credentials = *std::move(read);
  }
  anteroom::storage::PosixFiles files;
  auto recovered = anteroom::app::Recover(files, {.directory = options.data_directory,
                                                  .virtual_clock = options.virtual_clock,
                                                  .segment_bytes = options.segment_bytes,
                                                  .archive = options.archive});
  if (!recovered.ok()) return Fail(kCouldNotStart, recovered.status());
  anteroom::app::Server server(options, &files, *std::move(recovered), credentials.get());
  const absl::Status listening = server.Listen();
  if (!listening.ok()) return Fail(kCouldNotStart, listening);
  std::fprintf(stderr, "anteroomd %s listening on %s, data in %s (durability %s%s%s)\n",
               std::string(anteroom::protocol::kVersion).c_str(), server.listening_on().c_str(),
               options.data_directory.c_str(), std::string(NameOf(options.durability)).c_str(),
               options.virtual_clock ? ", virtual clock" : "",
               credentials != nullptr ? ", with credentials" : "");
  return server.Run();
}
