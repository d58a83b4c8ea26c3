// Files of records: any content is refused, or can be written to an archive, read back and checked.
#include <sstream>

#include "core/error.h"
#include "core/fuzzing.h"
#include "results/archive/schema.h"
#include "results/transfer/check.h"
#include "results/transfer/format.h"
#include "results/transfer/record_reader.h"
#include "results/transfer/record_writer.h"

namespace {
using core::fuzzing::require;

struct Staged {
  Staged() : database(results::archive::Database::Temporary()) { results::archive::migrate(database, "staged"); }
  results::archive::Database database;
};

void read(const std::string& text, results::archive::Database& database) {
  results::archive::Transaction transaction(database);  // never committed
  results::transfer::RecordWriter writer(database);
  std::istringstream in(text);
  results::transfer::read_records(
      in, "fuzz", [&](const results::archive::Table& table, const core::JsonView& record, int64_t) {
        if (writer.find(table, results::transfer::key_of(table, record.json()), record.json().value("campaign", "")))
          return;
        const int64_t row = writer.add(table, record);
        int64_t found = 0;
        results::transfer::RecordReader(database).each(table,
                                                       [&](int64_t, core::Json& again) {
                                                         results::transfer::check_record(
                                                             table, core::JsonView(again, "read back"));
                                                         ++found;
                                                       },
                                                       {"rowid = ?1", row});
        require(found == 1, "what was written is read back");
      });
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Staged staged;
  try {
    read(std::string(core::fuzzing::as_text(data, size)), staged.database);
  } catch (const core::InputError& error) {
    require(error.where().rfind("read back", 0) != 0, "what was accepted once is accepted again");
  }
  return 0;
}
