// Finds and checks the keys of chat servers, and parses the prices of tokens.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "groma/llm.h"

namespace groma::llm {
namespace {

// The least and the greatest number of characters in a key.
constexpr std::size_t kShortest = 4, kLongest = 4096;

// Reads a key from a file. Refuses a file that other users may read, or that belongs to another
// user except root. Removes a byte order mark and line ends.
Result<std::string> read_key_file(const std::string& path) {
  const auto failure = [&path](std::string_view why, std::string help = "") {
    return Error{Error::Code::kUnreadable,
                 fmt::format("cannot take a key from `{}`: {}", path, why), std::move(help)};
  };
  // Opening does not block, even if the file is a pipe.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return failure(std::strerror(errno));
  struct stat status {};
  std::array<char, kLongest + 2> text{};
  const bool known = fstat(file, &status) == 0;
  const ssize_t count =
      known && S_ISREG(status.st_mode) ? read(file, text.data(), text.size()) : -1;
  close(file);
  if (!known || !S_ISREG(status.st_mode)) return failure("it is not a file");
  if (count < 0) return failure("it cannot be read");
  if (status.st_uid != geteuid() && status.st_uid != 0) return failure("it is somebody else's");
  if ((status.st_mode & 077) != 0) {
    return failure(fmt::format("others may read it (mode {:o})", status.st_mode & 07777),
                   fmt::format("chmod 600 {}", path));
  }
  std::string key(text.data(), static_cast<std::size_t>(count));
  // A byte order mark at the beginning of the file does not belong to the key.
  if (key.starts_with("\xEF\xBB\xBF")) key.erase(0, 3);
  while (!key.empty() && (key.back() == '\n' || key.back() == '\r')) key.pop_back();
  return key;
}

}  // namespace

// Accepts 4 to 4096 visible ASCII characters except `"` and `\`. JSON writes such a key without
// escapes, which makes it easier to find and redact.
Result<ChatKey> ChatKey::make(std::string text) {
  const auto wrong = [](const char* why) {
    return Error{Error::Code::kMalformed, fmt::format("the key is none: {}", why)};
  };
  if (text.size() < kShortest) return wrong("it has fewer than 4 letters");
  if (text.size() > kLongest) return wrong("it has more than 4096 letters");
  if (std::any_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c > '~'; })) {
    return wrong("it has spaces, line ends or letters that are not ASCII in it");
  }
  if (text.find_first_of("\"\\") != text.npos) return wrong("it has `\"` or `\\` in it");
  ChatKey key;
  key.text_ = std::move(text);
  return key;
}

// Takes the key from the file if one is named, otherwise from the environment variable
// GROMA_API_KEY. If there is neither, returns an empty key.
Result<ChatKey> find_chat_key(const std::string& file) {
  const auto make = [](std::string text, const std::string& from) {
    Result<ChatKey> key = ChatKey::make(std::move(text));
    if (key) return key;
    return Result<ChatKey>(Error{key.error().code, fmt::format("{}: {}", from, key.error().message),
                                 "it is the key alone, on one line"});
  };
  if (!file.empty()) {
    Result<std::string> text = read_key_file(file);
    if (!text) return text.error();
    return make(std::move(text).value(), fmt::format("`{}`", file));
  }
  const char* text = std::getenv("GROMA_API_KEY");
  if (text == nullptr || *text == '\0') return ChatKey();
  return make(text, "GROMA_API_KEY");
}

// Parses two numbers of at least 0 with a comma between them: the price of a million input tokens,
// and that of a million output tokens.
Result<ChatPrice> parse_chat_price(std::string_view text) {
  const Error wrong{Error::Code::kMalformed,
                    "a price is two numbers, for a million tokens of input and of output",
                    "as in 0.15,0.6"};
  ChatPrice price;
  const std::size_t comma = text.find(',');
  if (comma == text.npos) return wrong;
  const auto read = [](std::string_view part, double* value) {
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), *value);
    return code == std::errc() && end == part.data() + part.size() && std::isfinite(*value) &&
           *value >= 0;
  };
  if (!read(text.substr(0, comma), &price.input)) return wrong;
  if (!read(text.substr(comma + 1), &price.output)) return wrong;
  return price;
}

}  // namespace groma::llm
