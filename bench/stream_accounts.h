// What `stream_holder.c` keeps of each stream, and what it counts.
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define BUCKETS 1024
#define PER_OCTAVE 32 // buckets of a histogram

enum { IDLE, CONNECTING, HEAD, OPEN };
typedef struct {
  int fd, state, status, tail_length;
  int port, failures, is_closing, has_heartbeat;
  uint32_t retry_ms, retry_after_ms;
  uint32_t last[2]; // numbers: of the shared scan, of the stream's scan
  int is_first[2];  // none has come since the head
  uint64_t head_ns, read_ns, since_ns; // head: of the open stream; read: or began to connect; since: it was closed
} Stream;

static Stream *streams;
static int first, count, scans, wanted, open_count;

// Since `reset`; those of the last line since the start.
#define COUNTERS(X) \
  X(opens) X(connects) X(events) X(gaps) X(repeated) X(heartbeats) X(refused503) X(unreachable) X(cutByServer) X(timedOut) X(drained) \
  X(refusedOther) X(lost) X(closedOther) X(violations) X(garbage)
#define DECLARE(name) long name;
typedef struct { COUNTERS(DECLARE) } Counters;
static Counters counted;
static double max_silence_ms;
static uint32_t latency[2][BUCKETS], away[BUCKETS];
static uint32_t all_counts[4096]; // streams that have received an event of the shared scan, by its number
static char example[400];

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static void note(uint32_t *histogram, uint64_t from, uint64_t to) {
  const uint64_t us = (to > from ? (to - from) / 1000 : 0) + PER_OCTAVE;
  const int octave = 58 - __builtin_clzll(us); // of PER_OCTAVE: 0
  const int bucket = octave * PER_OCTAVE + (int)((us >> octave) % PER_OCTAVE);
  histogram[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
}

static void note_silence(const Stream *s, uint64_t now) {
  const double silence_ms = (double)(now - s->read_ns) / 1e6;
  if (s->state == OPEN && silence_ms > max_silence_ms) max_silence_ms = silence_ms;
}

static void violate(int i, const char *what, const char *line) {
  if (counted.violations++ == 0) snprintf(example, sizeof example, "stream %d: %s: %.200s", first + i, what, line);
}

static uint64_t field(const char *line, const char *name) {
  const char *found = strstr(line, name);
  return found ? strtoull(found + strlen(name), 0, 10) : UINT64_MAX;
}

static void take_event(int i, const char *line, uint64_t heard) {
  Stream *s = &streams[i];
  const uint64_t scan = field(line, "\"c\":"), number = field(line, "\"n\":"), sent = field(line, "\"t\":"), before = field(line, "\"p\":");
  const int k = scan == 0 ? 0 : 1;
  if (scan == UINT64_MAX || number == UINT64_MAX || sent == UINT64_MAX || before == UINT64_MAX) return violate(i, "an event without its numbers", line);
  if (k == 1 && scan != (uint64_t)(1 + (first + i) % scans)) return violate(i, "an event of another scan", line);
  if (!s->is_first[k]) {
    if (number != s->last[k] + 1) violate(i, "not the number after the last one", line);
  } else {
    // What was published before the head is in the state that a client reads when its stream is open.
    if (before > s->head_ns) violate(i, "an event is missing between the head and the first one", line);
    if (number <= s->last[k]) counted.repeated++;
    else counted.gaps += (long)(number - s->last[k] - 1);
  }
  s->is_first[k] = 0;
  s->last[k] = (uint32_t)number;
  counted.events++;
  note(latency[k], sent, heard);
  if (k == 0 && ++all_counts[number % 4096] == (uint32_t)open_count) printf("ALL %lu %lu\n", (unsigned long)number, (unsigned long)heard);
}

static void print_histogram(const char *name, const uint32_t *histogram) {
  printf(",\"%s\":[", name);
  for (int b = 0; b < BUCKETS; b++) printf(b ? ",%u" : "%u", histogram[b]);
  printf("]");
}

static void report(void) {
  const uint64_t now = now_ns();
  long without_heartbeat = 0;
  for (int i = 0; i < count; i++) {
    note_silence(&streams[i], now);
    without_heartbeat += streams[i].state == OPEN && !streams[i].has_heartbeat;
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  printf("REPORT {\"open\":%d,\"withoutHeartbeat\":%ld,\"maxSilenceMs\":%.1f,\"cpuSeconds\":%.2f", open_count, without_heartbeat, max_silence_ms, cpu);
#define PRINT(name) printf(",\"" #name "\":%ld", counted.name);
  COUNTERS(PRINT)
  printf(",\"example\":\"");
  for (const char *c = example; *c; c++) putchar(*c == '"' || *c == '\\' || *c < ' ' ? ' ' : *c);
  printf("\"");
  print_histogram("toAll", latency[0]);
  print_histogram("toSome", latency[1]);
  print_histogram("away", away);
  printf("}\n");
}

static void reset(void) {
  memset(&counted, 0, offsetof(Counters, refusedOther));
  max_silence_ms = 0;
  memset(latency, 0, sizeof latency);
  memset(away, 0, sizeof away);
  for (int i = 0; i < count; i++) streams[i].has_heartbeat = 0;
}

// A stream that was opened after the last event need not have it.
static void print_lacking(uint32_t shared, uint32_t own, uint64_t published) {
  const uint32_t expected[2] = {shared, own};
  long lacking = 0;
  for (int i = 0; i < wanted; i++)
    for (int k = 0; k < 2; k++)
      lacking += streams[i].state == OPEN && streams[i].last[k] != expected[k] && streams[i].head_ns < published;
  printf("FINAL %ld\n", lacking);
}
