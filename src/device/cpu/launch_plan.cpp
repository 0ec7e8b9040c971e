// Resolves, splits, and drives one batch of launches through the pool.
#include "device/cpu/launch_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>

#include "base/clock.hpp"
#include "device/cpu/fault_guard.hpp"

namespace hone::device::cpu {

namespace {

constexpr std::int64_t most_workspace_bytes = std::int64_t{1} << 34;

std::uint64_t slot_of(const void* value, std::size_t bytes) {
  std::uint64_t slot = 0;
  std::memcpy(&slot, value, bytes);
  return slot;
}

base::Result<std::uint64_t> slot_of(const Argument& argument) {
  if (const auto* view = std::get_if<BufferView>(&argument)) {
    HONE_TRY(address, resolve(*view, 0));
    const void* pointer = *address;
    return slot_of(&pointer, sizeof pointer);
  }
  if (const auto* value = std::get_if<std::int32_t>(&argument)) return slot_of(value, sizeof *value);
  if (const auto* value = std::get_if<std::int64_t>(&argument)) return slot_of(value, sizeof *value);
  const float value = std::get<float>(argument);
  return slot_of(&value, sizeof value);
}

base::Error fault(const PreparedLaunch& launch, const std::string& what, int worker) {
  return {base::ErrorKind::gate, fmt::format("'{}' of {} to run", launch.entry_name, launch.program_name), what,
          fmt::format("worker {} of {}", worker, launch.workers),
          "its memory accesses leave the buffers, or its arithmetic traps; outputs are undefined now"};
}

// One worker's call of an entry, as a plain function so that a fault can jump out of it.
struct Call {
  const PreparedLaunch* launch;
  Share share;
  int worker;
  void* workspace;
};
void make_call(void* context) {
  const Call& call = *static_cast<Call*>(context);
  if (call.launch->product) {
    run_product_share(*call.launch->product, call.worker, call.launch->workers);
    return;
  }
  call.launch->entry.run(call.launch->pointers.data(), call.share.first, call.share.last, call.worker,
                         call.launch->workers, call.workspace);
}

struct Question {
  const PreparedLaunch* launch;
  std::int64_t answer;
};
void ask_workspace(void* context) {
  Question& question = *static_cast<Question*>(context);
  question.answer = question.launch->entry.workspace_bytes(question.launch->pointers.data());
}

int call_entry(void (*function)(void*), void* context, bool guarded) {
  if (guarded) return guarded_call(function, context);
  function(context);
  return 0;
}

// The first fault of a batch in one word, so that all workers see all of it or nothing.
struct FirstFault {
  std::atomic<std::uint64_t> packed{0};  // launch << 32 | worker << 8 | signal

  void set(std::size_t launch, int worker, int signal_number) {
    std::uint64_t none = 0;
    packed.compare_exchange_strong(none, std::uint64_t{launch} << 32 | static_cast<std::uint64_t>(worker) << 8 |
                                             static_cast<std::uint64_t>(signal_number));
  }
  bool before(std::size_t launch) const {
    const std::uint64_t value = packed.load(std::memory_order_acquire);
    return value != 0 && (value >> 32) < launch;
  }
};

// What the workers of one batch share.
struct Batch {
  std::vector<PreparedLaunch>& launches;
  std::vector<Mapping>& workspaces;
  bool guarded;
  Barrier barrier;
  FirstFault first_fault;
  std::vector<std::int64_t> start_ns, end_ns;  // of each worker: the first to start and the last to end bound the batch

  void work(int worker) {
    barrier.arrive_and_wait();
    start_ns[static_cast<std::size_t>(worker)] = base::steady_ns();
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const PreparedLaunch& launch = launches[i];
      if (i > 0) barrier.arrive_and_wait();
      // Faults of earlier launches were set before the barrier: all workers stop here, or none does.
      if (first_fault.before(i)) break;
      if (worker >= launch.workers) continue;
      const Share share = share_of(launch.programs, worker, launch.workers);
      if (share.first >= share.last) continue;
      Call call{&launch, share, worker, workspaces[static_cast<std::size_t>(worker)].data()};
      if (const int signal_number = call_entry(make_call, &call, guarded); signal_number != 0) {
        first_fault.set(i, worker, signal_number);
      }
    }
    end_ns[static_cast<std::size_t>(worker)] = base::steady_ns();
  }
};

}  // namespace

base::Result<std::byte*> resolve(const BufferView& view, std::size_t bytes) {
  auto* buffer = dynamic_cast<CpuBuffer*>(view.buffer);
  if (buffer == nullptr) {
    return base::Error{base::ErrorKind::internal, "a buffer of the CPU device",
                       view.buffer == nullptr ? "none" : "another device's", "cpu", ""};
  }
  if (view.offset_bytes > buffer->bytes() || bytes > buffer->bytes() - view.offset_bytes) {
    return base::Error{base::ErrorKind::internal, fmt::format("{} bytes from offset {}", bytes, view.offset_bytes),
                       fmt::format("a buffer of {} bytes", buffer->bytes()), "cpu", ""};
  }
  return buffer->mapping().data() + view.offset_bytes;
}

Share share_of(std::int64_t programs, int worker, int workers) {
  const std::int64_t each = programs / workers, more = programs % workers;
  const std::int64_t first = each * worker + std::min<std::int64_t>(worker, more);
  return {first, first + each + (worker < more ? 1 : 0)};
}

base::Result<void> check_launches(const std::vector<Launch>& launches) {
  for (const Launch& launch : launches) {
    const auto wrong = [&launch](const std::string& expected, const std::string& found) {
      return base::Error{base::ErrorKind::internal, expected, found, "launch of '" + launch.entry + "'", ""};
    };
    if (launch.product) {
      HONE_PROPAGATE(prepare_product(*launch.product));
    } else if (dynamic_cast<const CpuProgram*>(launch.program) == nullptr) {
      return wrong("a program compiled by the CPU device", launch.program == nullptr ? "none" : "another device's");
    }
    if (launch.programs < 0) return wrong("a number of programs, 0 or more", std::to_string(launch.programs));
    if (launch.threads < 0 || launch.threads > most_workers) {
      return wrong(fmt::format("0 to {} threads", most_workers), std::to_string(launch.threads));
    }
    for (const Argument& argument : launch.arguments) {
      HONE_PROPAGATE(slot_of(argument));
    }
  }
  return {};
}

base::Result<std::vector<PreparedLaunch>> prepare(const std::vector<Launch>& launches, int cores) {
  HONE_PROPAGATE(check_launches(launches));
  std::vector<PreparedLaunch> prepared;
  for (const Launch& launch : launches) {
    if (launch.product) {
      if (launch.product->m == 0 || launch.product->n == 0) continue;
      PreparedLaunch ready;
      ready.entry_name = launch.entry;
      ready.program_name = "the library of matrix products";
      ready.product = *prepare_product(*launch.product);
      ready.workers = launch.threads == 0 ? cores : launch.threads;
      ready.programs = ready.workers;
      prepared.push_back(std::move(ready));
      continue;
    }
    const auto& program = dynamic_cast<const CpuProgram&>(*launch.program);
    HONE_TRY(entry, program.entry(launch.entry));
    if (launch.programs == 0) continue;
    PreparedLaunch ready;
    ready.entry_name = launch.entry;
    ready.program_name = program.name();
    ready.entry = *entry;
    ready.programs = launch.programs;
    ready.workers = launch.threads == 0 ? cores : launch.threads;
    for (const Argument& argument : launch.arguments) ready.values.push_back(*slot_of(argument));
    for (std::uint64_t& value : ready.values) ready.pointers.push_back(&value);
    prepared.push_back(std::move(ready));
  }
  return prepared;
}

int workers_of(const std::vector<PreparedLaunch>& launches) {
  int workers = 1;
  for (const PreparedLaunch& launch : launches) workers = std::max(workers, launch.workers);
  return workers;
}

base::Result<void> reserve_for(WorkerPool& pool, std::vector<PreparedLaunch>& launches,
                               std::vector<Mapping>& workspaces, bool guarded) {
  const int workers = workers_of(launches);
  if (auto threads = pool.reserve(workers); !threads) return threads;
  std::int64_t need = 0;
  std::optional<FaultGuard> guard;
  if (guarded) guard.emplace();
  for (const PreparedLaunch& launch : launches) {
    if (launch.product || launch.entry.workspace_bytes == nullptr) continue;
    Question question{&launch, 0};
    if (const int signal_number = call_entry(ask_workspace, &question, guarded); signal_number != 0) {
      return fault(launch, signal_words(signal_number) + " while telling its workspace", 0);
    }
    if (question.answer < 0 || question.answer > most_workspace_bytes) {
      return base::Error{base::ErrorKind::gate, fmt::format("a workspace of 0 to {} bytes", most_workspace_bytes),
                         std::to_string(question.answer), launch.entry_name + "_workspace_bytes", ""};
    }
    need = std::max(need, question.answer);
  }
  const std::size_t bytes = static_cast<std::size_t>(need);
  if (workspaces.size() < static_cast<std::size_t>(workers)) workspaces.resize(static_cast<std::size_t>(workers));
  bool grown = false;
  for (int worker = 0; worker < workers; ++worker) {
    Mapping& place = workspaces[static_cast<std::size_t>(worker)];
    if (bytes == 0 || place.bytes() >= bytes) continue;
    HONE_TRY(mapping, Mapping::make(bytes));
    place = std::move(*mapping);
    grown = true;
  }
  // Each worker touches its own pages: they then lie in the memory next to its core.
  if (grown) {
    const WorkerPool::PinnedCaller pinned(pool);
    pool.execute(workers, [&workspaces](int worker) {
      const Mapping& place = workspaces[static_cast<std::size_t>(worker)];
      if (place.data() != nullptr) std::memset(place.data(), 0, place.bytes());
    });
  }
  return {};
}

base::Result<BatchTimes> run_batch(WorkerPool& pool, std::vector<PreparedLaunch>& launches,
                                   std::vector<Mapping>& workspaces, bool guarded) {
  if (launches.empty()) return BatchTimes{};
  HONE_PROPAGATE(reserve_for(pool, launches, workspaces, guarded));
  const int workers = workers_of(launches);
  const std::vector<std::int64_t> none(static_cast<std::size_t>(workers));
  Batch batch{launches, workspaces, guarded, Barrier(workers), {}, none, none};
  std::optional<FaultGuard> guard;
  if (guarded) guard.emplace();
  const WorkerPool::PinnedCaller pinned(pool);
  BatchTimes times;
  const std::int64_t called_ns = base::steady_ns();
  pool.execute(workers, [&batch](int worker) { batch.work(worker); });
  times.wall_ns = base::steady_ns() - called_ns;
  times.device_ns = *std::max_element(batch.end_ns.begin(), batch.end_ns.end()) -
                    *std::min_element(batch.start_ns.begin(), batch.start_ns.end());
  if (const std::uint64_t first = batch.first_fault.packed.load(); first != 0) {
    return fault(launches[first >> 32], signal_words(static_cast<int>(first & 0xff)),
                 static_cast<int>(first >> 8 & 0xffffff));
  }
  return times;
}

}  // namespace hone::device::cpu
