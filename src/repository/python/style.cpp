#include "repository/python/style.hpp"

#include "base/text.hpp"

namespace hone::repository::python {

namespace {

class Ruff {
 public:
  Ruff(const Context& context, const OperatorSource& source)
      : context_(context),
        root_(source.root),
        configuration_(base::join(source.root, source.style_configuration)),
        path_(base::join(context.scratch, "style/" + base::file_name(source.path))) {}

  const std::string& path() const { return path_; }

  base::Result<base::Outcome> run(const std::vector<std::string>& words) const {
    base::Command command;
    command.arguments = {"ruff"};
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
    command.arguments.insert(command.arguments.end(), {"--no-cache", "--config", configuration_, path_});
    command.directory = root_;
    return context_.processes.run(command);
  }

  // What it says of the file; empty where nothing is wrong.
  base::Result<std::string> complaints() const {
    HONE_TRY(check, run({"check", "--output-format=concise"}));
    HONE_TRY(format, run({"format", "--check"}));
    return (check->exit_status == 0 ? "" : check->output) +
           (format->exit_status == 0 ? "" : format->output + format->error);
  }

 private:
  const Context& context_;
  std::string root_, configuration_, path_;
};

}  // namespace

base::Result<Styled> styled(const Context& context, const OperatorSource& source, const std::string& text) {
  Styled result{text, {}};
  result.checks.name = "style";
  if (!context.processes.find("ruff")) {
    result.checks.detail =
        "not checked: ruff is not installed (pip install ruff); the repository runs 'ruff check' and 'ruff format'";
    return result;
  }
  const Ruff ruff(context, source);
  HONE_PROPAGATE(context.files.write_atomically(ruff.path(), text));
  HONE_TRY(first, ruff.complaints());
  if (first->empty()) {
    result.checks.passed = 2;
    result.checks.detail = "ruff check and ruff format --check pass";
    return result;
  }
  HONE_PROPAGATE(ruff.run({"check", "--fix", "--quiet"}));
  HONE_PROPAGATE(ruff.run({"format", "--quiet"}));
  HONE_TRY(second, ruff.complaints());
  HONE_TRY(after, context.files.read(ruff.path()));
  result.text = std::move(*after);
  result.checks.passed = second->empty() ? 2 : 0;
  result.checks.failed = second->empty() ? 0 : 1;
  result.checks.detail = second->empty() ? "ruff check and ruff format pass after one automatic fix"
                                         : "after one automatic fix ruff still says: " + second->substr(0, 400);
  return result;
}

}  // namespace hone::repository::python
