// Holds up to COUNT server-sent-event streams (one thread, epoll), each over its own scan and one that all share, reconnects
// them as a client does, and accounts for every event by the numbers in it:
//   "c":<scan>,"n":<number, rising by one in a scan>,"t":<ns since the epoch>,"p":<t of the scan's event before it>
//
// usage: stream_holder FIRST COUNT SCANS SOURCE TOKENS
//   Streams have the numbers FIRST, FIRST + 1, …; number g follows the scans 1 + g % SCANS and 0 with line g of TOKENS.
//   SOURCE: the first source address, a.b.c.d; each next has PER_SOURCE streams more.
// Standard input, a command a line:
//   ports P…         where streams are opened from now on: each at the port with the fewest
//   open N M         streams 0 to N - 1 are to be open, at most M being opened at a time until all are; the others are reset
//   cut              resets all connections at once
//   reset            forgets what `report` counts
//   report           prints REPORT {json}
//   final S O T      the last numbers of scan 0 and of every other scan, all published before T: counts who lacks one
// Prints OPEN <ns> when all are open, and ALL <n> <ns> when all open streams have event n of scan 0.
#include "stream_accounts.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_LINE 2048 // kept of a line that arrives in parts
#define READ_SIZE (1 << 18)
#define PER_SOURCE 2000 // streams of one source address
#define SCAN "5ca00000-0000-4000-8000-"
// As in the published client: how long an answer may take, how long a stream lasts that makes up for failures.
#define OPEN_TIMEOUT_NS 30000000000ull
#define GOOD_STREAM_NS 30000000000ull
#define NEVER UINT64_MAX
#define NAP_US 2000 // how late an event may be noticed

typedef struct { int number, streams, is_usable; } Port;

static char (*tails)[MAX_LINE];
static uint64_t *due; // when an idle stream connects; 0: when there is room; NEVER: it is not idle
static char **tokens;
static Port ports[64];
static int max_opening, poll_fd, port_count, token_count, opening, told_open;
static uint32_t source;

static Port *port_of(int number) {
  for (int i = 0; i < port_count; i++)
    if (ports[i].number == number) return &ports[i];
  ports[port_count] = (Port){.number = number};
  return &ports[port_count++];
}

// The connection is over; the stream comes back as the published client does: after `retry`, and a random part of a bound
// that doubles with each failure.
static void over(int i, int with_reset) {
  Stream *s = &streams[i];
  const uint64_t now = now_ns();
  if (with_reset) {
    struct linger at_once = {1, 0};
    setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  close(s->fd);
  port_of(s->port)->streams--;
  if (s->state == OPEN) {
    open_count--;
    told_open = 0;
    s->since_ns = now;
    if (now - s->head_ns > GOOD_STREAM_NS) s->failures = 0;
  } else opening--;
  const double bound = s->failures < 5 ? 1000.0 * (1 << s->failures) : 30000;
  const double least = s->retry_ms > s->retry_after_ms ? s->retry_ms : s->retry_after_ms;
  due[i] = now + (uint64_t)((least + bound * (double)random() / RAND_MAX) * 1e6);
  s->failures++;
  s->fd = -1;
  s->state = IDLE;
  s->tail_length = 0;
}

static void start(int i) {
  Stream *s = &streams[i];
  Port *best = NULL;
  for (int p = 0; p < port_count; p++)
    if (ports[p].is_usable && (!best || ports[p].streams < best->streams)) best = &ports[p];
  int one = 1;
  s->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(source + (uint32_t)(i / PER_SOURCE))};
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)best->number), .sin_addr.s_addr = htonl(0x7f000001u)};
  setsockopt(s->fd, IPPROTO_IP, 24 /* IP_BIND_ADDRESS_NO_PORT */, &one, sizeof one);
  if (s->fd < 0 || bind(s->fd, (void *)&from, sizeof from)) { perror("socket"); exit(1); }
  s->port = best->number;
  s->state = CONNECTING;
  due[i] = NEVER;
  s->status = s->is_closing = 0;
  s->retry_after_ms = 0;
  s->read_ns = now_ns();
  best->streams++;
  opening++;
  counted.connects++;
  struct epoll_event event = {.events = EPOLLOUT, .data.u32 = (uint32_t)i};
  epoll_ctl(poll_fd, EPOLL_CTL_ADD, s->fd, &event);
  if (connect(s->fd, (void *)&to, sizeof to) && errno != EINPROGRESS) {
    counted.unreachable++;
    over(i, 0);
  }
}

static void ask(int i) {
  Stream *s = &streams[i];
  char request[4096];
  const int length = snprintf(request, sizeof request,
    "GET /api/v1/event-stream?scan_id=" SCAN "%012d&scan_id=" SCAN "%012d HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
    "Accept: text/event-stream\r\nAuthorization: Bearer %s\r\n\r\n", 1 + (first + i) % scans, 0, s->port, tokens[(first + i) % token_count]);
  if (send(s->fd, request, (size_t)length, MSG_NOSIGNAL) != length) {
    counted.unreachable++;
    over(i, 0);
    return;
  }
  s->state = HEAD;
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
  epoll_ctl(poll_fd, EPOLL_CTL_MOD, s->fd, &event);
}

// Returns 0 when the connection is over.
static int take_line(int i, char *line, uint64_t heard) {
  Stream *s = &streams[i];
  if (s->state == HEAD) {
    if (!s->status) s->status = atoi(line + 9);
    else if (!strncasecmp(line, "retry-after:", 12)) s->retry_after_ms = (uint32_t)atoi(line + 12) * 1000;
    else if (line[0] == '\r') {
      if (s->status != 200) {
        if (s->status == 503) counted.refused503++;
        else if (counted.refusedOther++ == 0) fprintf(stderr, "a stream was refused with %d\n", s->status);
        over(i, 0);
        return 0;
      }
      s->state = OPEN;
      s->head_ns = heard;
      s->is_first[0] = s->is_first[1] = 1;
      s->has_heartbeat = 0;
      opening--;
      open_count++;
      counted.opens++;
      if (s->since_ns) note(away, s->since_ns, heard);
    }
  } else if (!strncmp(line, "data: ", 6)) take_event(i, line, heard);
  else if (!strncmp(line, ": heartbeat", 11)) counted.heartbeats++, s->has_heartbeat = 1;
  else if (!strncmp(line, "retry: ", 7)) s->retry_ms = (uint32_t)atoi(line + 7);
  else if (!strncmp(line, ": close ", 8)) {
    s->is_closing = 1;
    if (!strncmp(line + 8, "drain", 5)) counted.drained++;
    else if (!strncmp(line + 8, "lost", 4)) counted.lost++;
    else if (counted.closedOther++ == 0) fprintf(stderr, "a stream was closed: %.40s\n", line + 8);
  } else if (!strcmp(line, "0\r")) { // the last chunk: the response is over
    if (!s->is_closing) counted.cutByServer++;
    over(i, 0);
    return 0;
  } else if (strncmp(line, "event: ", 7) && strcmp(line, ": open") && line[0] && line[strlen(line) - 1] != '\r') counted.garbage++; // else part of the chunked coding
  return 1;
}

static void take(int i) {
  static char input[MAX_LINE + READ_SIZE + 1];
  Stream *s = &streams[i];
  memcpy(input, tails[i], (size_t)s->tail_length);
  const ssize_t got = read(s->fd, input + s->tail_length, READ_SIZE);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) {
    if (s->state != OPEN) counted.unreachable++;
    else if (!s->is_closing) counted.cutByServer++;
    over(i, 0);
    return;
  }
  const uint64_t heard = now_ns();
  note_silence(s, heard);
  s->read_ns = heard;
  char *line = input, *end = input + s->tail_length + got;
  for (char *next; (next = memchr(line, '\n', (size_t)(end - line))); line = next + 1) {
    *next = 0;
    if (!take_line(i, line, heard)) return;
  }
  s->tail_length = (int)(end - line);
  if (s->tail_length > MAX_LINE) { fprintf(stderr, "a line is too long\n"); exit(1); }
  if (s->tail_length) memcpy(tails[i], line, (size_t)s->tail_length);
}

static void command(char *line) {
  char *rest = line + strcspn(line, " ");
  if (!strncmp(line, "ports", 5)) {
    for (int p = 0; p < port_count; p++) ports[p].is_usable = 0;
    for (char *p = rest; *p;) {
      const int number = (int)strtol(p, &p, 10);
      if (!number) break;
      port_of(number)->is_usable = 1;
    }
  } else if (!strncmp(line, "open", 4)) {
    wanted = (int)strtol(rest, &rest, 10);
    max_opening = (int)strtol(rest, &rest, 10);
    told_open = 0;
    for (int i = wanted; i < count; i++) {
      if (streams[i].state != IDLE) over(i, 1);
      streams[i].since_ns = streams[i].failures = due[i] = 0;
    }
  } else if (!strncmp(line, "cut", 3)) {
    for (int i = 0; i < count; i++)
      if (streams[i].state != IDLE) over(i, 1);
  } else if (!strncmp(line, "reset", 5)) reset();
  else if (!strncmp(line, "report", 6)) report();
  else if (!strncmp(line, "final", 5)) {
    const uint32_t shared = (uint32_t)strtoul(rest, &rest, 10), own = (uint32_t)strtoul(rest, &rest, 10);
    print_lacking(shared, own, strtoull(rest, &rest, 10));
  }
}

static void read_commands(void) {
  static char input[8192];
  static size_t length;
  const ssize_t got = read(0, input + length, sizeof input - 1 - length);
  if (got == 0) exit(0);
  if (got < 0) return;
  input[length += (size_t)got] = 0;
  char *line = input;
  for (char *next; (next = strchr(line, '\n')); line = next + 1) {
    *next = 0;
    command(line);
  }
  length = strlen(line);
  memmove(input, line, length + 1);
}

static void start_due(uint64_t now) {
  for (int i = 0; i < wanted; i++)
    if (due[i] == 0 ? opening < max_opening : due[i] <= now) start(i);
}

static void give_up_late(uint64_t now) {
  for (int i = 0; i < wanted && opening > 0; i++) {
    if (streams[i].state != CONNECTING && streams[i].state != HEAD) continue;
    if (now < streams[i].read_ns + OPEN_TIMEOUT_NS) continue;
    counted.timedOut++;
    over(i, 1);
  }
}

static void read_tokens(const char *file) {
  FILE *in = fopen(file, "r");
  size_t capacity = 0;
  char *line = NULL;
  while (in && getline(&line, &capacity, in) > 0) {
    line[strcspn(line, "\n")] = 0;
    tokens = realloc(tokens, (size_t)(token_count + 1) * sizeof *tokens);
    tokens[token_count++] = strdup(line);
  }
  if (token_count == 0) { fprintf(stderr, "no tokens in %s\n", file); exit(2); }
  fclose(in);
}

int main(int argc, char **argv) {
  if (argc != 6) return fprintf(stderr, "usage: stream_holder FIRST COUNT SCANS SOURCE TOKENS\n"), 2;
  first = atoi(argv[1]);
  count = atoi(argv[2]);
  scans = atoi(argv[3]);
  source = ntohl(inet_addr(argv[4]));
  read_tokens(argv[5]);
  srandom((unsigned)first + 1);
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  streams = calloc((size_t)count, sizeof *streams);
  tails = calloc((size_t)count, sizeof *tails);
  due = calloc((size_t)count, sizeof *due);
  poll_fd = epoll_create1(0);
  fcntl(0, F_SETFL, O_NONBLOCK);
  struct epoll_event ready[1024], input = {.events = EPOLLIN, .data.u32 = UINT32_MAX};
  epoll_ctl(poll_fd, EPOLL_CTL_ADD, 0, &input);
  uint64_t started = 0, looked = 0;
  for (;;) {
    const int n = epoll_wait(poll_fd, ready, 1024, 0);
    for (int e = 0; e < n; e++) {
      const int i = (int)ready[e].data.u32;
      if (i < 0) read_commands();
      else if (streams[i].state == CONNECTING) ask(i);
      else if (streams[i].state != IDLE) take(i);
    }
    const uint64_t now = now_ns();
    if (now - started > 5000000) {
      start_due(now);
      started = now;
    }
    if (now - looked > 1000000000) {
      give_up_late(now);
      looked = now;
    }
    if (!told_open && wanted > 0 && open_count == wanted) {
      told_open = 1;
      printf("OPEN %lu\n", (unsigned long)now_ns());
    }
    // Not waiting in epoll_wait: woken by every single event, the clients would take the cores from the gateways.
    if (n < 1024) usleep(NAP_US);
  }
}
