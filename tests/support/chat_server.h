// A real HTTP server in a process of its own, which fails as it is told (chat_server.py).
#pragma once

#include <sys/types.h>

#include <string>

namespace groma::testing {

class ChatServer {
 public:
  ChatServer();
  ~ChatServer();  // ends it
  ChatServer(const ChatServer&) = delete;
  ChatServer& operator=(const ChatServer&) = delete;

  // The endpoint that behaves so.
  std::string at(const std::string& behaviour) const;
  std::string secure(const std::string& behaviour) const;
  // All requests so far, as a JSON array of {method, path, headers, body}.
  std::string log() const;

 private:
  pid_t process_ = 0;
  int input_ = -1;
  int port_ = 0, secure_port_ = 0;
};

// A port of this computer where nobody listens.
int free_port();

}  // namespace groma::testing
