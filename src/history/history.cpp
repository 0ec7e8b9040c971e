// The database behind SQLite: a rollback journal makes a run whole or absent after a kill; the header's application number
// tells a history from any other database.
#include "history/history.hpp"

#include <sqlite3.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>

namespace hone::history {

namespace {

constexpr int kApplication = 0x686f6e65;  // "hone"
constexpr int kVersion = 2;
constexpr int kWithoutSessions = 1;  // the version before a run named its session
constexpr int kBusyMs = 2'000;       // another run may be adding

constexpr const char* kTables =
    "CREATE TABLE run (id INTEGER PRIMARY KEY AUTOINCREMENT, stage TEXT NOT NULL, created TEXT NOT NULL, "
    "kernel TEXT NOT NULL, repository TEXT NOT NULL, dtype TEXT NOT NULL, options TEXT NOT NULL, device TEXT NOT NULL, "
    "driver TEXT NOT NULL, compiler TEXT NOT NULL, hone_commit TEXT NOT NULL, source_hash TEXT NOT NULL, "
    "source_commit TEXT NOT NULL, command TEXT NOT NULL, session TEXT NOT NULL DEFAULT '');"
    "CREATE TABLE measurement (run INTEGER NOT NULL REFERENCES run(id), x_name TEXT NOT NULL, x_value TEXT NOT NULL, "
    "mode TEXT NOT NULL, provider TEXT NOT NULL, role INTEGER NOT NULL, metric TEXT NOT NULL, unit TEXT NOT NULL, "
    "p20 REAL NOT NULL, p50 REAL NOT NULL, p80 REAL NOT NULL, samples INTEGER NOT NULL);"
    "CREATE INDEX measurement_of_run ON measurement(run);";

// What a run has beside its id and its session, in the order of text_fields.
constexpr const char* kRunColumns =
    "stage, created, kernel, repository, dtype, options, device, driver, compiler, hone_commit, source_hash, "
    "source_commit, command";

std::array<std::string Run::*, 14> text_fields() {
  return {&Run::stage,       &Run::created,       &Run::kernel,  &Run::repository, &Run::dtype,
          &Run::options,     &Run::device,        &Run::driver,  &Run::compiler,   &Run::commit,
          &Run::source_hash, &Run::source_commit, &Run::command, &Run::session};
}

struct Finish {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finish>;

std::string remedy_of(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "wait for the other run of hone, then give the command again";
    case SQLITE_FULL: return "free space on the disk";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN: return "check the rights on the file and its folder";
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return "move the file away; the next run begins a new one, documents in the workspace are not touched";
    default: return "move the file away if this stays; the next run begins a new one";
  }
}

}  // namespace

struct Database::State {
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  std::string path;
  std::unique_ptr<sqlite3, Close> handle;
  bool has_sessions = true;  // false: written before runs named theirs, and opened for reading alone

  base::Error error(const std::string& expected, int code) const {
    return {base::ErrorKind::preflight, expected, handle ? sqlite3_errmsg(handle.get()) : sqlite3_errstr(code), path,
            remedy_of(code)};
  }
  base::Result<void> execute(const char* text) {
    const int code = sqlite3_exec(handle.get(), text, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return error("a database of measurements", code);
    return {};
  }
  base::Result<Statement> prepare(const char* text) const {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v2(handle.get(), text, -1, &statement, nullptr);
    if (code != SQLITE_OK) return error("a database of measurements", code);
    return Statement(statement);
  }
  base::Result<int> number(const char* pragma) const {
    HONE_TRY(statement, prepare(pragma));
    const int code = sqlite3_step(statement->get());
    if (code != SQLITE_ROW) return error("a database of measurements", code);
    return sqlite3_column_int(statement->get(), 0);
  }

  // Of a database of the version before. Another run may do the same at the same time: one of the two finds it done.
  base::Result<void> add_sessions() {
    if (auto begun = execute("BEGIN IMMEDIATE"); !begun) return begun;
    auto version = number("PRAGMA user_version");
    const std::string text =
        "ALTER TABLE run ADD COLUMN session TEXT NOT NULL DEFAULT ''; PRAGMA user_version=" + std::to_string(kVersion) +
        "; COMMIT;";
    auto done = !version                       ? base::Result<void>(version.error())
                : *version == kWithoutSessions ? execute(text.c_str())
                                               : execute("COMMIT");
    if (!done) sqlite3_exec(handle.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    return done;
  }

  base::Result<void> check_owner(bool make) {
    HONE_TRY(application, number("PRAGMA application_id"));
    HONE_TRY(version, number("PRAGMA user_version"));
    HONE_TRY(tables, number("SELECT count(*) FROM sqlite_master"));
    if (*application == kApplication && *version == kVersion && *tables > 0) return {};
    if (*application == kApplication && *version == kWithoutSessions && *tables > 0) {
      has_sessions = make;
      return make ? add_sessions() : base::Result<void>();
    }
    if (*application == kApplication && *version > kVersion)
      return base::Error{base::ErrorKind::preflight, "a history of this hone, version " + std::to_string(kVersion),
                         "version " + std::to_string(*version), path,
                         "use the newer hone that wrote it, or move it away"};
    if (*application != 0 || *version != 0 || *tables > 0)
      return base::Error{base::ErrorKind::preflight, "a history written by hone", "another program's database", path,
                         "move it away, or choose another --workspace"};
    if (!make)
      return base::Error{base::ErrorKind::preflight, "a history with measurements", "an empty database", path,
                         "'hone profile KERNEL' measures and keeps"};
    const std::string text = "BEGIN IMMEDIATE; PRAGMA application_id=" + std::to_string(kApplication) +
                             "; PRAGMA user_version=" + std::to_string(kVersion) + "; " + kTables + " COMMIT;";
    if (auto made = execute(text.c_str()); made) return {};
    // Another run may have made them between the look and the lock.
    sqlite3_exec(handle.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    auto now = number("PRAGMA application_id");
    if (now && *now == kApplication) return {};
    return error("a database of measurements that can be made", sqlite3_errcode(handle.get()));
  }
};

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

base::Result<Database> Database::open(const std::string& path, Access access) {
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  const bool there = std::filesystem::exists(status);
  // A pipe would be waited for, a folder misunderstood.
  if (there && !std::filesystem::is_regular_file(status))
    return base::Error{base::ErrorKind::preflight, "a regular file", "something else of that name", path,
                       "move it away, or choose another --workspace"};
  if (!there && access == Access::read)
    return base::Error{base::ErrorKind::preflight, "a history of measurements", "no such file", path,
                       "'hone profile KERNEL' measures and keeps; --workspace names another folder"};
  auto state = std::make_unique<State>();
  state->path = path;
  sqlite3* handle = nullptr;
  const int flags = access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_FULLMUTEX, nullptr);
  state->handle.reset(handle);
  if (code != SQLITE_OK) return state->error("a history that can be opened", code);
  sqlite3_busy_timeout(handle, kBusyMs);
  HONE_PROPAGATE(state->check_owner(access == Access::add));
  return Database(std::move(state));
}

base::Result<std::int64_t> Database::add(const Run& run, const std::vector<Measurement>& measurements) {
  sqlite3* handle = state_->handle.get();
  HONE_PROPAGATE(state_->execute("BEGIN IMMEDIATE"));
  const auto failed = [&](int code) {
    const base::Error error = state_->error("measurements that can be kept", code);
    sqlite3_exec(handle, "ROLLBACK", nullptr, nullptr, nullptr);
    return error;
  };
  const auto text = [](sqlite3_stmt* statement, int place, const std::string& value) {
    sqlite3_bind_text(statement, place, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT);
  };
  auto head = state_->prepare(
      ("INSERT INTO run (" + std::string(kRunColumns) + ", session) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)").c_str());
  if (!head) return failed(SQLITE_ERROR);
  int place = 0;
  for (const auto field : text_fields()) text(head->get(), ++place, run.*field);
  if (const int code = sqlite3_step(head->get()); code != SQLITE_DONE) return failed(code);
  const std::int64_t id = sqlite3_last_insert_rowid(handle);
  auto row = state_->prepare("INSERT INTO measurement VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
  if (!row) return failed(SQLITE_ERROR);
  for (const Measurement& m : measurements) {
    sqlite3_reset(row->get());
    sqlite3_bind_int64(row->get(), 1, id);
    text(row->get(), 2, m.x_name), text(row->get(), 3, m.x_value), text(row->get(), 4, m.mode);
    text(row->get(), 5, m.provider);
    sqlite3_bind_int(row->get(), 6, static_cast<int>(m.role));
    text(row->get(), 7, m.metric), text(row->get(), 8, m.unit);
    sqlite3_bind_double(row->get(), 9, m.p20), sqlite3_bind_double(row->get(), 10, m.p50);
    sqlite3_bind_double(row->get(), 11, m.p80);
    sqlite3_bind_int(row->get(), 12, m.samples);
    if (const int code = sqlite3_step(row->get()); code != SQLITE_DONE) return failed(code);
  }
  if (const int code = sqlite3_exec(handle, "COMMIT", nullptr, nullptr, nullptr); code != SQLITE_OK)
    return failed(code);
  return id;
}

base::Result<std::vector<KeptRun>> Database::runs(const std::string& kernel) const {
  const auto word = [](sqlite3_stmt* statement, int column) {
    const unsigned char* value = sqlite3_column_text(statement, column);
    return value == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(value));
  };
  auto heads =
      state_->prepare(("SELECT id, " + std::string(kRunColumns) + (state_->has_sessions ? ", session" : ", ''") +
                       " FROM run WHERE ?1 = '' OR kernel = ?1 ORDER BY id")
                          .c_str());
  if (!heads) return heads.error();
  sqlite3_bind_text(heads->get(), 1, kernel.data(), static_cast<int>(kernel.size()), SQLITE_TRANSIENT);
  std::vector<KeptRun> runs;
  std::map<std::int64_t, std::size_t> at;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(heads->get())) == SQLITE_ROW) {
    KeptRun kept;
    kept.run.id = sqlite3_column_int64(heads->get(), 0);
    int column = 0;
    for (const auto field : text_fields()) kept.run.*field = word(heads->get(), ++column);
    at[kept.run.id] = runs.size();
    runs.push_back(std::move(kept));
  }
  if (code != SQLITE_DONE) return state_->error("a history that can be read", code);
  HONE_TRY(
      rows,
      state_->prepare(
          "SELECT run, x_name, x_value, mode, provider, role, metric, unit, p20, p50, p80, samples FROM measurement "
          "ORDER BY rowid"));
  while ((code = sqlite3_step(rows->get())) == SQLITE_ROW) {
    const auto run = at.find(sqlite3_column_int64(rows->get(), 0));
    if (run == at.end()) continue;
    const int role = sqlite3_column_int(rows->get(), 5);
    runs[run->second].measurements.push_back(
        {word(rows->get(), 1), word(rows->get(), 2), word(rows->get(), 3), word(rows->get(), 4),
         role == 0   ? Role::own
         : role == 1 ? Role::baseline
                     : Role::variant,
         word(rows->get(), 6), word(rows->get(), 7), sqlite3_column_double(rows->get(), 8),
         sqlite3_column_double(rows->get(), 9), sqlite3_column_double(rows->get(), 10),
         sqlite3_column_int(rows->get(), 11)});
  }
  if (code != SQLITE_DONE) return state_->error("a history that can be read", code);
  return runs;
}

}  // namespace hone::history
