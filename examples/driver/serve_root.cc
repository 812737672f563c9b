// Resolves the paths that a client names, and refuses those that lead out of the root.
#include "serve_root.h"

#include <fmt/format.h>

#include <cctype>
#include <system_error>
#include <utility>

#include "groma/benchmarks.h"
#include "groma/harmless.h"
#include "groma/io.h"
#include "groma/machine.h"

namespace driver {
namespace {

namespace fs = std::filesystem;
using groma::Error;
using groma::Result;
using groma::visible;

constexpr std::size_t kMaxPathBytes = 4096;

Error unknown(std::string_view path) {
  return {Error::Code::kUnknown, fmt::format("there is no `{}` below the root", visible(path)),
          "name a path below the root of the server"};
}
Error outside(std::string_view path) {
  return {Error::Code::kUnreadable, fmt::format("`{}` is not below the root", visible(path)),
          "the server reads and writes only below the folder of its option --root"};
}

// Returns true if the path, relative to the root, does not leave it.
bool is_inside(const fs::path& relative) {
  return !relative.empty() && !relative.is_absolute() && *relative.begin() != "..";
}

// A command could take a name that begins with another character for an option, standard input or a
// list of names, so such a name is written with its folder.
std::string as_argument(const fs::path& relative) {
  std::string text = relative.string();
  const auto first = static_cast<unsigned char>(text[0]);
  return std::isalnum(first) != 0 || first == '_' ? text : "./" + text;
}

bool looks_like_path(std::string_view spec) {
  return spec.find('/') != spec.npos || spec.ends_with(".json");
}

}  // namespace

Result<ServeRoot> ServeRoot::make(const std::string& folder) {
  std::error_code code;
  fs::path root = fs::canonical(folder, code);
  if (!code && !fs::is_directory(root, code))
    code = std::make_error_code(std::errc::not_a_directory);
  if (code) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("--root: cannot use `{}`: {}", folder, code.message()),
                 "name a folder: --root DIR"};
  }
  return ServeRoot(std::move(root));
}

Result<fs::path> ServeRoot::inside(std::string_view path, const fs::path& from) const {
  if (path.empty() || path.size() > kMaxPathBytes || path.find('\0') != path.npos) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("a path has 1 to {} bytes, without zeros", kMaxPathBytes)};
  }
  std::error_code code;
  const fs::path resolved = fs::weakly_canonical((from.empty() ? root_ : from) / path, code);
  if (code) return unknown(path);
  // Says nothing about what is outside, not even whether it exists.
  const fs::path relative = resolved.lexically_relative(root_);
  if (!is_inside(relative)) return outside(path);
  // After a part that does not exist, weakly_canonical() does not follow links. So it must exist.
  const fs::path canonical = fs::canonical(resolved, code);
  if (code) return unknown(path);
  return canonical == resolved ? Result<fs::path>(relative) : Result<fs::path>(outside(path));
}

Result<std::string> ServeRoot::file(std::string_view path, const fs::path& from) const {
  const auto relative = inside(path, from);
  if (!relative) return relative.error();
  std::error_code code;
  if (!fs::is_regular_file(root_ / *relative, code)) {
    return Error{Error::Code::kUnreadable, fmt::format("`{}` is not a file", visible(path))};
  }
  return as_argument(*relative);
}

Result<std::string> ServeRoot::folder(std::string_view path, const fs::path& from) const {
  const auto relative = inside(path, from);
  if (!relative) return relative.error();
  std::error_code code;
  if (!fs::is_directory(root_ / *relative, code)) {
    return Error{Error::Code::kUnreadable, fmt::format("`{}` is not a folder", visible(path))};
  }
  return as_argument(*relative);
}

Result<std::string> ServeRoot::new_path(std::string_view path) const {
  const fs::path given(path);
  const fs::path name = given.filename();
  if (name.empty() || name == "." || name == "..") {
    return Error{Error::Code::kUnreadable,
                 fmt::format("`{}` does not end with the name of a file", visible(path))};
  }
  const fs::path parent = given.parent_path();
  const auto relative = inside(parent.empty() ? "." : parent.string(), {});
  if (!relative) return relative.error();
  const fs::path made = (*relative / name).lexically_normal();
  std::error_code code;
  if (fs::is_symlink(root_ / made, code)) {
    return Error{Error::Code::kUnreadable, fmt::format("`{}` is a link", visible(path))};
  }
  return as_argument(made);
}

// `-` would be standard input. A name that is valid without a file wins, as in load_machine().
Result<std::string> ServeRoot::machine(const std::string& spec, const fs::path& from) const {
  if (spec == "-") return outside(spec);
  if (!looks_like_path(spec)) {
    if (spec == "local" || groma::make_machine(spec)) return spec;
    const auto found = file(spec, from);
    if (!found && found.error().code == Error::Code::kUnknown) return spec;
  }
  auto found = file(spec, from);
  if (found && !looks_like_path(*found)) return "./" + *found;
  return found;
}

Result<std::string> ServeRoot::application(const std::string& spec, const fs::path& from) const {
  const std::size_t values = groma::begin_of_application_values(spec);
  const std::string name = spec.substr(0, values);
  if (name == "-") return outside(name);
  if (!looks_like_path(name)) {
    if (groma::find_benchmark(name) != nullptr) return spec;
    const auto found = file(name, from);
    if (!found && found.error().code == Error::Code::kUnknown) return spec;
  }
  auto found = file(name, from);
  if (!found) return found;
  // What stands behind a colon could be taken for values.
  if (found->find(':') != found->npos) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("`{}` has a colon in its path", visible(name))};
  }
  return (looks_like_path(*found) ? *found : "./" + *found) + spec.substr(values);
}

}  // namespace driver
