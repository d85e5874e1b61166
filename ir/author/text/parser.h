// The parser of graph files, for the files parse*.cpp of this folder only. Reading functions give false when
// they could not go on; the error is then recorded and the statement is given up. What went wrong in meaning
// alone (an unknown value, a type that clashes) is recorded too, but reading goes on and the result is
// poisoned.
#pragma once

#include "ir/author/text/functions.h"
#include "ir/author/text/number.h"
#include "ir/author/text/symbols.h"
#include "ir/author/text/token_stream.h"
#include "ir/graph/graph.h"

#include <array>
#include <deque>
#include <vector>

namespace dfc::text {

/// Bytes of a name, and of the joined names of nested scopes.
inline constexpr size_t longestName = 4096;

/// The result of an expression. An op is appended to the graph only when its name is known.
struct Expression {
  enum class Kind : uint8_t { Poisoned, Value, Made, Number, Op };
  Kind kind = Kind::Poisoned;
  Span span;
  ValueId value;           ///< Value; may be invalid (poisoned). Made: a function's, still without a name
  NumberWords number;      ///< Number
  OpAttributes attributes; ///< Op
  llvm::SmallVector<ValueId, 3> operands; ///< Op
};

/// An attribute of an op kind, as its `fields` shows it.
struct FieldInfo {
  std::string_view name;
  Presence presence;
};

/// Among the bits that say which attributes are given: one was wrong, and what the op would do is not known.
inline constexpr uint64_t wrongAttribute = uint64_t(1) << 63;

/// A name before the '=' of a statement.
struct Target {
  std::string_view name;
  Token token;
  std::optional<TensorType> type; ///< the annotation
  Span typeSpan;
};

/// Ops that passes write and an author has no reason to: no hint offers them.
constexpr bool isCompilerMade(OpKind kind) {
  return kind == OpKind::Fused || kind == OpKind::FusedMatmul || kind == OpKind::FusedConv2d ||
         kind == OpKind::Transfer || kind == OpKind::Subview;
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& fileName);
  Result<Graph> run();

 private:
  friend class AttributeReader;

  // parse_file.cpp: the file, its blocks and names
  void readFile();
  bool readHeader();
  void readBlock();
  void enterBlock(const Token& header);
  void readNested(const Token& header);
  void closeBlock(const Token& header);
  void readAfterEnd();
  std::optional<std::string_view> bytesOf(const Token& token);
  bool readName(const std::string& wanted, std::string_view& out);

  // parse_statements.cpp
  void readStatement();
  bool readStatementBody();
  bool readKeyword();
  bool readScope();
  bool readOn();
  void readBlockAfter(const Token& word, bool headerSound);
  bool readInput();
  bool readParameter();
  bool readConstant();
  bool readFetch();
  bool refuseStatement();

  // parse_definitions.cpp
  bool readDefinition();
  bool readAlone();
  bool readTarget();
  bool readTargets();
  bool readDeclaration();
  bool readPinSuffix();
  bool atEnd();
  bool finishSource(OpAttributes attributes, bool sound);
  void define(Expression& expression);
  OpId makeDefined(Expression& expression);
  OpId resultsAreNamed(OpId op, std::string_view what);
  void nameResults(OpId op);
  bool annotationHolds(const Target& target, ValueId value, OpId op);
  void makeRoom(std::string_view name);
  void renameDisplaced();

  // parse_expressions.cpp
  bool readExpression(Expression& out);
  bool readProduct(Expression& out);
  bool readSigned(Expression& out);
  bool readPrimary(Expression& out);
  bool readNumberOperand(Expression& out);
  bool readParenthesised(Expression& out);
  bool readCall(Expression& out);
  bool readArguments(std::optional<OpAttributes>& attributes, uint64_t& given,
                     std::vector<Expression>& operands);

  // parse_functions.cpp: functions that are no op
  bool readUpdate(const FunctionRow& row);
  bool readFunction(const FunctionRow& row, const Token& name, Expression& out);
  bool readFunctionArguments(const FunctionRow& row, FunctionCall& call, bool& sound);
  bool readFunctionOperand(FunctionCall& call, bool& sound);
  bool readFunctionAttribute(const FunctionRow& row, FunctionCall& call, bool& sound);
  bool readFunctionNumber(const FunctionField& field, FunctionCall& call, bool& sound);
  bool checkFunction(const FunctionRow& row, const FunctionCall& call, const Span& span);
  Tensor writeFunction(const FunctionRow& row, const FunctionCall& call, const Span& span);

  // parse_operations.cpp
  void combine(OpKind kind, Expression& left, Expression& right);
  void makeOp(OpAttributes attributes, std::vector<Expression>& operands, const Span& span, Expression& out);
  OpId append(Expression& op, std::string_view name);
  ValueId valueOf(Expression& expression);
  ValueId scalar(const Expression& number, ElementType type);
  std::optional<ElementType> typeForNumbers(const std::vector<Expression>& operands);
  std::optional<OpKind> opNamed(const Token& name);

  // parse_attributes.cpp
  bool readAttribute(OpAttributes& attributes, uint64_t& given);
  bool refuseAttribute(std::string problem, std::string hint, uint64_t& given);
  bool skipAttribute();
  bool checkRequired(const Token& name, OpKind kind, uint64_t given);
  llvm::ArrayRef<FieldInfo> fieldsOf(OpKind kind);

  // parse_initialiser.cpp
  bool readInitialiser(ops::Parameter& parameter, bool& sound);
  bool readStart(ops::Parameter& parameter, size_t& numbers);
  bool readNamedStart(ops::Parameter& parameter);
  bool readPlace(ops::Input& input);

  // parse_values.cpp: types, numbers, strings
  bool readElementType(ElementType& out);
  bool readType(TensorType& out);
  /// `isOfAxes`: the list has an element an axis at most.
  bool readDims(Dims& out, bool isOfAxes = true);
  bool readTruth(bool& out);
  bool readInteger(int64_t& out);
  bool readDouble(double& out);
  bool readString(std::string& out);
  bool readNumber(NumberWords& out, Span& span);
  bool readPayload(NumberWords& out);
  bool readElement(ElementType type, std::byte* out);

  // parse_literals.cpp
  bool readLiteral(const TensorType& type, Literal& out);
  bool readFill(const TensorType& type, Literal& out);
  bool readList(const TensorType& type, size_t axis, std::vector<std::byte>& out);
  bool readListItem(const TensorType& type, size_t axis, std::vector<std::byte>& out);

  /// Counts how deep the reading has gone.
  class Depth {
   public:
    explicit Depth(Parser& parser) : parser_(parser) { ++parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    ~Depth() { --parser_.depth_; }
    bool fine() const; ///< false, and said, when it is too deep

   private:
    Parser& parser_;
  };

  Complaints complaints_;
  TokenStream tokens_;
  Symbols symbols_;
  GraphBuilder builder_;
  Builder author_{builder_}; ///< what functions write by
  Provenance provenance_;
  std::deque<std::string> kept_; ///< names that were written with escapes

  std::string scope_;             ///< path of the blocks around
  std::string_view pin_;          ///< of the innermost block that has one
  std::string_view statementPin_; ///< of the statement under way
  uint32_t statementFirstOp_ = 0; ///< the first op that the statement under way made, if it made one
  std::vector<Target> targets_;   ///< what the statement under way defines
  std::vector<std::pair<ValueId, std::string_view>> displaced_; ///< values whose made-up name an author took
  llvm::DenseMap<llvm::StringRef, uint32_t> fetched_;           ///< name to line
  std::array<std::optional<std::vector<FieldInfo>>, opKindCount> fields_;

  size_t openBlocks_ = 0;
  std::optional<Token> doubtfulBlock_; ///< the first whose '}' stands further left than its first word
  bool bracesSaid_ = false;            ///< an error about braces is recorded; others may follow from it
  bool abandoned_ = false;             ///< nested too deeply: the rest of the file is not read
  int64_t fillBytes_ = 0;
  int depth_ = 0;
};

} // namespace dfc::text
