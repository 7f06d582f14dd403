// Runs every unit test. All of doctest's options work (`--help`, `--test-case=*pattern*`); the last
// line is always `N passed, N failed`, counted in test cases.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

#include "server/base/check.h"
#include "tests/support/seed.h"

namespace {

struct Totals {
  unsigned passed = 0;
  unsigned failed = 0;
};

Totals totals;

// Counts test cases, and repeats the seed after one that failed.
class Counter : public doctest::IReporter {
 public:
  explicit Counter(const doctest::ContextOptions& /*options*/) {}

  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    if (stats.failure_flags == 0) return;
    std::fprintf(stderr, "a test case failed: repeat this run with ANTEROOM_SEED=%llu\n",
                 static_cast<unsigned long long>(anteroom::TestSeed()));
  }

  void test_run_end(const doctest::TestRunStats& stats) override {
    totals.failed = stats.numTestCasesFailed;
    totals.passed = stats.numTestCasesPassingFilters - stats.numTestCasesFailed;
  }

  void report_query(const doctest::QueryData& /*data*/) override {}
  void test_run_start() override {}
  void test_case_start(const doctest::TestCaseData& /*data*/) override {}
  void test_case_reenter(const doctest::TestCaseData& /*data*/) override {}
  void test_case_exception(const doctest::TestCaseException& /*exception*/) override {}
  void subcase_start(const doctest::SubcaseSignature& /*signature*/) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData& /*data*/) override {}
  void log_message(const doctest::MessageData& /*data*/) override {}
  void test_case_skipped(const doctest::TestCaseData& /*data*/) override {}
};

REGISTER_LISTENER("counter", 1, Counter);

// A failed CHECK ends the test case, not the run.
void ThrowCheckFailure(const char* file, int line, std::string_view message) {
  throw std::logic_error(std::string(file) + ":" + std::to_string(line) + ": " +
                         std::string(message));
}

}  // namespace

#ifdef __SANITIZE_THREAD__
// The tests of fork go on in a child although the parent has threads.
extern "C" const char* __tsan_default_options() {
  return "die_after_fork=0";
}
// What TSan reports by mistake, because Abseil and libuv are built without it.
// - A status with payloads is shared by copies that count their references: the last one frees
//   what another thread has read, and TSan does not see the count between. A race on the
//   absl::Status itself is still seen.
// - libuv closes the descriptors of a loop by a plain system call. When another thread is given
//   such a number and closes it, TSan takes it for the loop's.
extern "C" const char* __tsan_default_suppressions() {
  return "race:absl::*::status_internal::Payload\n"
         "race:^__interceptor_close$\n";
}
#endif

int main(int argc, char** argv) {
  anteroom::SetCheckFailureHandler(ThrowCheckFailure);
  doctest::Context context(argc, argv);
  const int result = context.run();
  if (context.shouldExit()) return result;
  std::fflush(stderr);
  std::printf("%u passed, %u failed\n", totals.passed, totals.failed);
  return result;
}
