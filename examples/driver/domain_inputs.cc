// Reads the domain that a part of `groma domain` is asked for.
#include "domain_inputs.h"

#include <fmt/format.h>

#include <charconv>

#include "console.h"
#include "groma/harmless.h"
#include "groma/spelling.h"
#include "inputs.h"

namespace driver {

using groma::domains::Declaration;
using groma::domains::DomainLibrary;
using groma::domains::ParameterValues;
using groma::domains::Proof;

std::shared_ptr<const DomainLibrary> read_domains(const std::string& file,
                                                  std::optional<groma::Diagnostics>* diags) {
  if (file.empty()) {
    diags->emplace(groma::domains::known_domains()->source());
    return groma::domains::known_domains();
  }
  return read_source(file, diags) ? DomainLibrary::read(**diags) : nullptr;
}

namespace {

// Splits NAME:n=100,w=3. Fails with wrong usage for anything else.
std::pair<std::string, ParameterValues> parse_name(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  ParameterValues values;
  for (std::size_t at = colon; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at + 1), text.size());
    const std::string part = text.substr(at + 1, end - at - 1);
    const std::size_t sign = part.find('=');
    std::int64_t value = 0;
    const char* const last = part.data() + part.size();
    const auto [next, status] =
        std::from_chars(part.data() + std::min(sign, part.size() - 1) + 1, last, value);
    if (sign == std::string::npos || status != std::errc() || next != last) {
      throw CLI::ValidationError("NAME", fmt::format("`{}` is not of the form n=100", part));
    }
    values.emplace_back(part.substr(0, sign), value);
    at = end;
  }
  return {text.substr(0, colon), values};
}

}  // namespace

std::optional<ChosenDomain> choose_domain(const std::string& text, const std::string& file,
                                          bool json, int* exit_code, std::string_view option) {
  const auto [name, values] = parse_name(text);
  std::optional<groma::Diagnostics> diags;
  const auto library = read_domains(file, &diags);
  if (!library) {
    *exit_code = fail(*diags, json);
    return std::nullopt;
  }
  const auto declaration = library->find(name);
  if (!declaration) {
    std::vector<std::string_view> names;
    const auto all = library->declarations();
    for (const Declaration& each : all) names.push_back(each.name());
    const auto near = groma::near_names(name, names);
    std::string help = fmt::format("did you mean {}?", groma::join_names(near));
    if (near.empty() && file.empty()) {
      help = fmt::format(
          "`groma domain list` shows those that Groma knows; {} names a file with others", option);
    } else if (near.empty()) {
      help = fmt::format("`groma domain list --file {}` shows those of the file",
                         groma::visible(file));
    }
    *exit_code = refuse(fmt::format("no domain is named `{}`", groma::visible(name)), help);
    return std::nullopt;
  }
  const auto domain = declaration->make(values, *diags);
  if (domain) return ChosenDomain{*declaration, values, *domain};
  *exit_code = fail(*diags, json);
  return std::nullopt;
}

void add_domain_options(CLI::App& part, std::string* name, std::string* file, bool* json) {
  part.add_option("NAME", *name,
                  "The domain, with values for its parameters such as triangle:n=100")
      ->type_name(kDomainType)
      ->required();
  part.add_option("--file", *file,
                  "Take the domain from this file instead of those that Groma knows; `-` is "
                  "standard input")
      ->type_name(kDomainFileType);
  add_json_flag(part, json);
}

std::string_view proof_words(Proof::Kind kind) {
  switch (kind) {
    case Proof::Kind::kDigitTable:
      return "digit table";
    case Proof::Kind::kPolynomial:
      return "polynomials";
    case Proof::Kind::kBoxes:
      return "boxes";
    case Proof::Kind::kExhaustive:
      break;
  }
  return "each point";
}

std::string point_words(const groma::Point& point) {
  return fmt::format("({})", fmt::join(point.coordinates(), ", "));
}

}  // namespace driver
