// A real HTTP server in a process of its own, which fails as it is told (chat_server.py).
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace groma::testing {

// A program that prints a line when it is ready, and serves until its input ends.
class ServerProcess {
 public:
  explicit ServerProcess(std::vector<std::string> words);
  ~ServerProcess();  // ends it
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  const std::string& first_line() const { return first_line_; }

 private:
  pid_t process_ = 0;
  int input_ = -1;
  std::string first_line_;
};

class ChatServer {
 public:
  ChatServer();

  // The endpoint that behaves so.
  std::string at(const std::string& behaviour) const;
  std::string secure(const std::string& behaviour) const;
  // Where connecting never ends; where a handshake never does.
  std::string deaf() const;
  std::string mute() const;
  // All requests so far, as a JSON array of {method, path, headers, body}.
  std::string log() const;

 private:
  ServerProcess process_;
  int port_ = 0, secure_port_ = 0, deaf_port_ = 0;
};

// A port of this computer where nobody listens.
int free_port();

}  // namespace groma::testing
