#include "bench/loadgen/redis_side.h"

#include <hiredis/hiredis.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace anteroom::loadgen {
namespace {

constexpr char kJoinScript[] = R"(
redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1])
return redis.call('ZRANK', KEYS[1], ARGV[1])
)";

constexpr char kAdmitScript[] = R"(
local popped = redis.call('ZPOPMIN', KEYS[1], ARGV[2])
local admitted = {}
for i = 1, #popped, 2 do
  local token = ARGV[1] .. i
  redis.call('SET', 'token:' .. popped[i], token, 'EX', 300)
  admitted[i] = popped[i]
  admitted[i + 1] = token
end
return admitted
)";

std::string FormatCommand(std::span<const std::string_view> words) {
  std::vector<const char*> starts;
  std::vector<size_t> sizes;
  for (const std::string_view word : words) {
    starts.push_back(word.data());
    sizes.push_back(word.size());
  }
  char* formatted = nullptr;
  const int size = redisFormatCommandArgv(&formatted, static_cast<int>(words.size()), starts.data(),
                                          sizes.data());
  std::string command(formatted, static_cast<size_t>(size));
  redisFreeCommand(formatted);
  return command;
}

std::string FormatCommand(std::initializer_list<std::string_view> words) {
  return FormatCommand(std::span(words.begin(), words.size()));
}

// What matters of a reply: the outermost value. The reader's functions fill it in.
struct Reply {
  int type = 0;
  size_t elements = 0;
  std::string error;
};

void* Note(const redisReadTask* task, size_t elements, std::string_view text) {
  auto* reply = static_cast<Reply*>(task->privdata);
  if (task->parent == nullptr) {
    reply->type = task->type;
    reply->elements = elements;
  }
  if (task->type == REDIS_REPLY_ERROR) reply->error = text;
  return reply;  // anything that is not null
}

redisReplyObjectFunctions kNoteReplies = {
    .createString = [](const redisReadTask* task, char* text,
                       size_t size) { return Note(task, 0, std::string_view(text, size)); },
    .createArray = [](const redisReadTask* task,
                      int elements) { return Note(task, static_cast<size_t>(elements), {}); },
    .createInteger = [](const redisReadTask* task, long long) { return Note(task, 0, {}); },
    .createNil = [](const redisReadTask* task) { return Note(task, 0, {}); },
    .freeObject = [](void*) {},
};

// Answers come in the order of the requests. Invariant: in_flight_ counts those yet to come.
class RedisConversation : public Conversation {
 public:
  RedisConversation(std::string_view join_script, std::string_view admit_script)
      : join_(FormatCommand(
            {"EVALSHA", join_script, "1", kRoom, Template::kIdMark, Template::kNumberMark})),
        position_(FormatCommand({"ZRANK", kRoom, Template::kIdMark})),
        admit_script_(admit_script),
        reader_(redisReaderCreateWithFunctions(&kNoteReplies), redisReaderFree) {
    reader_->privdata = &reply_;
  }

  void Greet(std::string* out) override { Append(REDIS_REPLY_STATUS, out)->append("PING\r\n"); }

  void JoinMany(uint64_t first, uint32_t count, std::string* out) override {
    std::vector<VisitorId> ids;
    std::vector<std::string> scores;
    ids.reserve(count);
    scores.reserve(count);
    std::vector<std::string_view> words = {"ZADD", kRoom, "NX"};
    for (uint64_t i = 0; i < count; ++i) {
      words.push_back(scores.emplace_back(std::to_string(first + i)));
      words.push_back(ids.emplace_back(IdOf(first + i)).view());
    }
    Append(REDIS_REPLY_INTEGER, out)->append(FormatCommand(words));
  }

  void Join(uint64_t visitor, std::string* out) override {
    join_.Append(IdOf(visitor).view(), visitor, Append(REDIS_REPLY_INTEGER, out));
  }

  void Position(uint64_t visitor, std::string* out) override {
    position_.Append(IdOf(visitor).view(), 0, Append(REDIS_REPLY_INTEGER, out));
  }

  void Admit(uint32_t count, std::string* out) override {
    std::array<char, kIdBytes> digits;
    uint64_t random = Mix(++admits_);
    for (char& digit : digits) {
      digit = "0123456789abcdef"[random % 16];
      random /= 16;
    }
    if (count != admit_count_) {
      admit_count_ = count;
      admit_ = Template(FormatCommand(
          {"EVALSHA", admit_script_, "1", kRoom, Template::kIdMark, std::to_string(count)}));
    }
    admit_.Append({digits.data(), digits.size()}, 0, Append(REDIS_REPLY_ARRAY, out));
  }

  absl::Status Take(std::string_view bytes, Answers* answers) override {
    if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK) return Malformed();
    while (true) {
      void* complete = nullptr;
      if (redisReaderGetReply(reader_.get(), &complete) != REDIS_OK) return Malformed();
      if (complete == nullptr) return absl::OkStatus();
      if (in_flight_ == 0) return absl::InternalError("an answer to no request");
      // An error would come again and again, and say no more than the first time.
      if (reply_.type == REDIS_REPLY_ERROR) return absl::InternalError(reply_.error);
      --in_flight_;
      ++answers->count;
      if (reply_.type != expected_) ++answers->unexpected;
      // Each with a token.
      if (expected_ == REDIS_REPLY_ARRAY) answers->admitted += reply_.elements / 2;
    }
  }

 private:
  std::string* Append(int expected, std::string* out) {
    expected_ = expected;
    ++in_flight_;
    return out;
  }
  absl::Status Malformed() const {
    return absl::InternalError("redis: " + std::string(reader_->errstr));
  }

  const Template join_;
  const Template position_;
  const std::string admit_script_;
  // Of admit_count_ people; the mark's place takes the random digits.
  Template admit_;
  uint32_t admit_count_ = 0;
  Reply reply_;
  const std::unique_ptr<redisReader, void (*)(redisReader*)> reader_;
  int expected_ = REDIS_REPLY_STATUS;
  uint64_t in_flight_ = 0;
  uint64_t admits_ = 0;
};

}  // namespace

absl::Status RedisSide::Prepare() {
  const std::unique_ptr<redisContext, void (*)(redisContext*)> context(
      redisConnect(address_.host.c_str(), address_.port), redisFree);
  if (context == nullptr || context->err != 0) {
    return absl::UnavailableError("redis: " + std::string(context ? context->errstr : "no memory"));
  }
  const auto command = [&](auto... words) {
    return std::unique_ptr<redisReply, void (*)(void*)>(
        static_cast<redisReply*>(redisCommand(context.get(), words...)), freeReplyObject);
  };
  // Other people's keys are not to be touched, and ours would be in the way.
  const auto size = command("DBSIZE");
  if (size == nullptr || size->type != REDIS_REPLY_INTEGER || size->integer != 0) {
    return absl::FailedPreconditionError("redis: the database is not empty");
  }
  for (const auto& [script, digest] :
       {std::pair(kJoinScript, &join_script_), std::pair(kAdmitScript, &admit_script_)}) {
    const auto loaded = command("SCRIPT LOAD %s", script);
    if (loaded == nullptr || loaded->type != REDIS_REPLY_STRING) {
      return absl::InternalError("redis: a script is refused");
    }
    digest->assign(loaded->str, static_cast<size_t>(loaded->len));
  }
  return absl::OkStatus();
}

std::unique_ptr<Conversation> RedisSide::Converse() {
  return std::make_unique<RedisConversation>(join_script_, admit_script_);
}

}  // namespace anteroom::loadgen
