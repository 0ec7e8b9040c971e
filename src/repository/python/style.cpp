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
    auto check = run({"check", "--output-format=concise"});
    if (!check) return check.error();
    auto format = run({"format", "--check"});
    if (!format) return format.error();
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
  if (auto written = context.files.write_atomically(ruff.path(), text); !written) return written.error();
  auto first = ruff.complaints();
  if (!first) return first.error();
  if (first->empty()) {
    result.checks.passed = 2;
    result.checks.detail = "ruff check and ruff format --check pass";
    return result;
  }
  if (auto fixed = ruff.run({"check", "--fix", "--quiet"}); !fixed) return fixed.error();
  if (auto formatted = ruff.run({"format", "--quiet"}); !formatted) return formatted.error();
  auto second = ruff.complaints();
  if (!second) return second.error();
  auto after = context.files.read(ruff.path());
  if (!after) return after.error();
  result.text = std::move(*after);
  result.checks.passed = second->empty() ? 2 : 0;
  result.checks.failed = second->empty() ? 0 : 1;
  result.checks.detail = second->empty() ? "ruff check and ruff format pass after one automatic fix"
                                         : "after one automatic fix ruff still says: " + second->substr(0, 400);
  return result;
}

}  // namespace hone::repository::python
