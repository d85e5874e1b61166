// How a parameter starts: one of the forms of initialisers.h. Numbers stand by position; every field of the
// parameter may also be given by name (a, b, seed, file, ofPlan, starts, whole, of). And of which input an
// input is a part.
#include "ir/author/text/initialisers.h"
#include "ir/author/text/parser.h"
#include "ir/author/text/quote.h"
#include "ir/author/text/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::text {
namespace {

std::string allForms() {
  std::string text;
  for (const InitialiserForm& form : initialiserForms) {
    text += (text.empty() ? "" : ", ") + std::string(form.usage);
  }
  return text;
}

std::string unknownHint(std::string_view word) {
  std::vector<std::string> names;
  names.reserve(initialiserForms.size());
  for (const InitialiserForm& form : initialiserForms) {
    names.emplace_back(form.name);
  }
  const auto nearest = word.size() <= 64 ? nearestName(std::string(word), names) : std::nullopt;
  return nearest ? fmt::format("did you mean {}?", shown(*nearest))
                 : fmt::format("it is one of {}", allForms());
}

} // namespace

bool Parser::readInitialiser(ops::Parameter& parameter, bool& sound) {
  tokens_.skipNewlines();
  const Token name = tokens_.now();
  const auto* form =
      std::find_if(initialiserForms.begin(), initialiserForms.end(),
                   [&](const InitialiserForm& candidate) { return candidate.name == name.text; });
  if (name.kind != TokenKind::Name || tokens_.ahead().kind != TokenKind::OpenParen) {
    return tokens_.unexpected("the parameter's start", fmt::format("it is one of {}", allForms()));
  }
  if (form == initialiserForms.end()) {
    complaints_.add(spanOf(name), fmt::format("unknown initialiser {}", shown(name.text)),
                    unknownHint(name.text));
    return false;
  }
  parameter.initialiser = form->kind;
  size_t numbers = 0;
  tokens_.take();
  tokens_.take(); // the parenthesis
  if (!tokens_.accept(TokenKind::CloseParen) && !readStart(parameter, numbers)) {
    return false;
  }
  if (numbers != form->numbers) {
    sound = false;
    complaints_.add(
        spanOf(name, tokens_.last()),
        fmt::format("{} takes {} by position, not {}", form->name, counted(form->numbers, "number"), numbers),
        fmt::format("write {}", form->usage));
  }
  return true;
}

bool Parser::readStart(ops::Parameter& parameter, size_t& numbers) {
  do {
    tokens_.skipNewlines();
    if (tokens_.at(TokenKind::Name) && tokens_.ahead().kind == TokenKind::Equals) {
      if (!readNamedStart(parameter)) {
        return false;
      }
    } else if (tokens_.at(TokenKind::String) ? !readString(parameter.file)
                                             : !readDouble(numbers == 0 ? parameter.a : parameter.b)) {
      return false;
    } else {
      numbers += tokens_.last().kind == TokenKind::String ? 0 : 1;
    }
    tokens_.continueLineAt(TokenKind::CloseParen);
  } while (tokens_.accept(TokenKind::Comma));
  return tokens_.expect(TokenKind::CloseParen, "',' or ')'");
}

bool Parser::readNamedStart(ops::Parameter& parameter) {
  const Token name = tokens_.take();
  tokens_.take(); // the '='
  if (name.text == "seed") {
    return readInteger(parameter.seed);
  }
  if (name.text == "file") {
    return readString(parameter.file);
  }
  if (name.text == "a" || name.text == "b") {
    return readDouble(name.text == "a" ? parameter.a : parameter.b);
  }
  if (name.text == "ofPlan") {
    return readTruth(parameter.ofPlan);
  }
  if (name.text == "starts" || name.text == "whole") {
    return readDims(name.text == "starts" ? parameter.part.starts : parameter.part.whole);
  }
  if (name.text == "of") {
    return readString(parameter.of);
  }
  complaints_.add(spanOf(name), fmt::format("{} is no part of a parameter's start", shown(name.text)),
                  fmt::format("write {}", formOf(parameter.initialiser).usage));
  return false;
}

// part(of="NAME", starts=[…], whole=[…]), behind an '='.
bool Parser::readPlace(ops::Input& input) {
  const std::string form = "part(of=\"NAME\", starts=[…], whole=[…])";
  tokens_.skipNewlines();
  const Token word = tokens_.now();
  if (word.kind != TokenKind::Name || word.text != "part" || tokens_.ahead().kind != TokenKind::OpenParen) {
    return tokens_.unexpected("the end of an input",
                              fmt::format("an input has no value; of a split graph it is {}", form));
  }
  tokens_.take();
  tokens_.take(); // the parenthesis
  do {
    tokens_.skipNewlines();
    const Token name = tokens_.now();
    if (name.kind != TokenKind::Name || tokens_.ahead().kind != TokenKind::Equals) {
      return tokens_.unexpected("of, starts or whole", fmt::format("write {}", form));
    }
    tokens_.take();
    tokens_.take(); // the '='
    if (name.text == "of") {
      if (!readString(input.of)) {
        return false;
      }
    } else if (name.text == "starts" || name.text == "whole") {
      if (!readDims(name.text == "starts" ? input.part.starts : input.part.whole)) {
        return false;
      }
    } else {
      complaints_.add(spanOf(name), fmt::format("{} is no part of an input's place", shown(name.text)),
                      fmt::format("write {}", form));
      return false;
    }
    tokens_.continueLineAt(TokenKind::CloseParen);
  } while (tokens_.accept(TokenKind::Comma));
  return tokens_.expect(TokenKind::CloseParen, "',' or ')'");
}

} // namespace dfc::text
