#include "support/chat_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "groma/result.h"

namespace groma::testing {
namespace {

sockaddr_in local_port(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

// For the socket calls, which take all kinds of addresses by one pointer.
sockaddr* any(sockaddr_in* address) { return reinterpret_cast<sockaddr*>(address); }

}  // namespace

ServerProcess::ServerProcess(std::vector<std::string> words) {
  std::array<int, 2> in{}, out{};
  GROMA_CHECK(pipe2(in.data(), O_CLOEXEC) == 0 && pipe2(out.data(), O_CLOEXEC) == 0);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  GROMA_CHECK(posix_spawn(&process_, pointers[0], &files, nullptr, pointers.data(), environ) == 0);
  posix_spawn_file_actions_destroy(&files);
  close(in[0]);
  close(out[1]);
  input_ = in[1];
  for (char c = 0; read(out[0], &c, 1) == 1 && c != '\n';) first_line_ += c;
  close(out[0]);
}

ServerProcess::~ServerProcess() {
  close(input_);
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

ChatServer::ChatServer()
    : process_({GROMA_PYTHON, GROMA_SOURCE_DIR "/tests/support/chat_server.py",
                GROMA_SOURCE_DIR "/tests/data/localhost.pem"}) {
  const std::string& ports = process_.first_line();
  GROMA_CHECK(std::sscanf(ports.c_str(), "%d %d %d", &port_, &secure_port_, &deaf_port_) == 3);
}

std::string ChatServer::at(const std::string& behaviour) const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/" + behaviour + "/v1";
}

std::string ChatServer::secure(const std::string& behaviour) const {
  return "https://127.0.0.1:" + std::to_string(secure_port_) + "/" + behaviour + "/v1";
}

std::string ChatServer::deaf() const {
  return "http://127.0.0.1:" + std::to_string(deaf_port_) + "/v1";
}

std::string ChatServer::mute() const {
  return "https://127.0.0.1:" + std::to_string(port_) + "/v1";
}

std::string ChatServer::log() const {
  const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = local_port(port_);
  GROMA_CHECK(connect(file, any(&address), sizeof address) == 0);
  const std::string request = "GET /log HTTP/1.1\r\nHost: localhost\r\n\r\n";
  GROMA_CHECK(write(file, request.data(), request.size()) == static_cast<ssize_t>(request.size()));
  std::string text;
  std::array<char, 65536> bytes;
  for (ssize_t count = 0; (count = read(file, bytes.data(), bytes.size())) > 0;) {
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
  close(file);
  return text.substr(text.find("\r\n\r\n") + 4);
}

int free_port() {
  const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = local_port(0);
  socklen_t size = sizeof address;
  GROMA_CHECK(bind(file, any(&address), size) == 0);
  GROMA_CHECK(getsockname(file, any(&address), &size) == 0);
  close(file);
  return ntohs(address.sin_port);
}

}  // namespace groma::testing
