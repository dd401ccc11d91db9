// Opens N server-sent-events connections (one thread, epoll) and counts every event by the time stamp in its payload,
// "t":<ns since the epoch>, so that also the latency from publish to receipt is known.
//
// usage: ssebench HOST PORT PATH N EVENTS_PER_STREAM TIMEOUT_S STEP WATCH_EVERY [HEADER...]
//   PATH may hold one integer conversion (%d, %012d: the connection's number), or is @FILE with one path per line.
//   STEP > 0: prints STEP each time that many more events have arrived over all watched streams, for a publisher that waits.
//   WATCH_EVERY K: one of K streams, and the last ones opened, are read as their events arrive. The kernel keeps the others'
//   bytes (SO_RCVLOWAT) and their events are counted at the end, so that the client leaves the cores to the servers.
// Prints READY {json} once every connection has an answer, and RESULT {json} once every event has arrived or at the time-out.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_OPENING 200 // connections that wait for their head at a time
#define MAX_TAIL 512    // bytes kept of a connection, for a head or a time stamp that arrives in two parts
#define READ_SIZE (1 << 18)
#define PER_SOURCE 25000 // connections from one source address, before its ports run out
#define LAST_WATCHED 4   // streams at the end that are always watched: most servers write to them last
#define KEPT_BYTES 1500 // of a stream that is not watched, before they are read

typedef struct {
  int fd;
  int state; // -1 connecting, 0 waits for the head, 1 open
  int watched;
  int tail_length;
  char tail[MAX_TAIL];
} Stream;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static void raise_file_limit(void) {
  struct rlimit limit = {1 << 20, 1 << 20};
  if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

static int low_water(int fd, int bytes) { return setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof bytes); }

static char **read_paths(const char *file, int count) {
  FILE *in = fopen(file, "r");
  char **paths = calloc((size_t)count, sizeof *paths);
  size_t capacity = 0;
  for (int i = 0; i < count; i++) {
    ssize_t length = in ? getline(&paths[i], &capacity, in) : -1;
    if (length <= 0) {
      fprintf(stderr, "%s has fewer than %d paths\n", file, count);
      exit(2);
    }
    paths[i][strcspn(paths[i], "\n")] = 0;
    capacity = 0;
  }
  fclose(in);
  return paths;
}

int main(int argc, char **argv) {
  if (argc < 9 || atoi(argv[8]) < 1) {
    fprintf(stderr, "usage: ssebench HOST PORT PATH N EVENTS_PER_STREAM TIMEOUT_S STEP WATCH_EVERY [HEADER...]\n");
    return 2;
  }
  const char *host = argv[1], *template = argv[3];
  const int port = atoi(argv[2]), count = atoi(argv[4]), watch_every = atoi(argv[8]);
  const long expected = (long)count * atol(argv[5]), step = atol(argv[7]);
  const double timeout = atof(argv[6]);
  char **paths = template[0] == '@' ? read_paths(template + 1, count) : NULL;
  static char headers[8192];
  for (int i = 9; i < argc; i++) {
    strncat(headers, argv[i], sizeof headers - strlen(headers) - 3);
    strcat(headers, "\r\n");
  }
  raise_file_limit();

  Stream *streams = calloc((size_t)count, sizeof *streams);
  int watched = 0;
  for (int k = 0; k < count; k++) watched += streams[k].watched = k % watch_every == 0 || k >= count - LAST_WATCHED;
  long latency_capacity = expected + 16 > 40000000 ? 40000000 : expected + 16, latencies_length = 0;
  uint32_t *latencies = malloc((size_t)latency_capacity * sizeof *latencies);
  const int poll = epoll_create1(0);
  int opened = 0, ready = 0, opening = 0, failed = 0, told_ready = 0, first_status = 0;
  long total = 0, heard_live = 0, steps = 0, bytes = 0;
  const long expected_live = (long)watched * atol(argv[5]), step_live = count ? step * watched / count : 0;
  struct rusage usage = {0};
  uint64_t first_sent = 0, last_heard = 0;
  static char input[READ_SIZE], window[READ_SIZE + MAX_TAIL + 1];
  struct epoll_event events[1024];
  const uint64_t start = now_ns();

  while (total < expected || expected == 0) {
    while (opened < count && opening < MAX_OPENING) {
      int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
      if (fd < 0) { perror("socket"); return 1; }
      struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001u + (uint32_t)(opened / PER_SOURCE))};
      setsockopt(fd, IPPROTO_IP, 24 /* IP_BIND_ADDRESS_NO_PORT */, &one, sizeof one);
      if (bind(fd, (void *)&from, sizeof from)) { perror("bind"); return 1; }
      struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
      inet_pton(AF_INET, host, &to.sin_addr);
      if (connect(fd, (void *)&to, sizeof to) && errno != EINPROGRESS) { perror("connect"); return 1; }
      streams[opened].fd = fd;
      streams[opened].state = -1;
      struct epoll_event event = {.events = EPOLLOUT, .data.u32 = (uint32_t)opened};
      epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
      opened++;
      opening++;
    }

    const int n = epoll_wait(poll, events, 1024, 100);
    for (int i = 0; i < n; i++) {
      const int k = (int)events[i].data.u32;
      Stream *s = &streams[k];
      if (s->fd < 0) continue;
      if (s->state == -1) {
        char path[8192], request[20000];
        if (paths) snprintf(path, sizeof path, "%s", paths[k]);
        else snprintf(path, sizeof path, template, k);
        const int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: %s:%d\r\nAccept: text/event-stream\r\n%s\r\n", path, host, port, headers);
        if (write(s->fd, request, (size_t)length) != length) {
          failed++;
          opening--;
          close(s->fd);
          s->fd = -1;
          continue;
        }
        s->state = 0;
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)k};
        epoll_ctl(poll, EPOLL_CTL_MOD, s->fd, &event);
        continue;
      }

      const ssize_t got = read(s->fd, input, sizeof input - 1);
      if (got < 0 && errno == EAGAIN) continue;
      if (got <= 0) {
        if (s->state < 1) opening--;
        failed++;
        close(s->fd);
        s->fd = -1;
        continue;
      }
      bytes += got;
      char *body = input;
      long length = got;
      input[got] = 0;
      if (s->state == 0) {
        long room = MAX_TAIL - 1 - s->tail_length, part = length < room ? length : room;
        memcpy(s->tail + s->tail_length, input, (size_t)part);
        s->tail_length += (int)part;
        s->tail[s->tail_length] = 0;
        char *end = strstr(input, "\r\n\r\n");
        if (!end && !strstr(s->tail, "\r\n\r\n") && s->tail_length < MAX_TAIL - 1) continue;
        const int status = atoi(s->tail + 9);
        if (!first_status) first_status = status;
        s->state = 1;
        s->tail_length = 0;
        opening--;
        if (status == 200) {
          ready++;
          if (!s->watched) low_water(s->fd, KEPT_BYTES);
        } else {
          if (++failed < 3) fprintf(stderr, "%.300s\n", s->tail);
          close(s->fd);
          s->fd = -1;
          continue;
        }
        if (!end) continue;
        length -= end + 4 - body;
        body = end + 4;
        if (length <= 0) continue;
      }

      memcpy(window, s->tail, (size_t)s->tail_length);
      memcpy(window + s->tail_length, body, (size_t)length);
      const long window_length = s->tail_length + length;
      window[window_length] = 0;
      char *end = window + window_length, *done = window, *from = window;
      const uint64_t heard = now_ns();
      for (;;) {
        char *found = memmem(from, (size_t)(end - from), "\"t\":", 4);
        if (!found) break;
        char *digit = found + 4;
        while (digit < end && *digit >= '0' && *digit <= '9') digit++;
        if (digit == end) { done = found; goto keep; }
        const uint64_t sent = strtoull(found + 4, 0, 10);
        if (!first_sent || sent < first_sent) first_sent = sent;
        total++;
        if (s->watched) {
          last_heard = heard;
          heard_live++;
        }
        if (s->watched && latencies_length < latency_capacity) {
          const uint64_t us = heard > sent ? (heard - sent) / 1000 : 0;
          latencies[latencies_length++] = us > 0xffffffffu ? 0xffffffffu : (uint32_t)us;
        }
        from = done = digit;
      }
      if (end - done > 3) done = end - 3; // as much as the beginning of a stamp's name
    keep:
      s->tail_length = (int)(end - done);
      memmove(s->tail, done, (size_t)s->tail_length);
    }

    const double elapsed = (double)(now_ns() - start) / 1e9;
    if (!told_ready && opened == count && opening == 0) {
      told_ready = 1;
      printf("READY {\"ready\":%d,\"failed\":%d,\"seconds\":%.4f,\"status\":%d}\n", ready, failed, elapsed, first_status);
      fflush(stdout);
    }
    for (; step_live > 0 && heard_live >= (steps + 1) * step_live; steps++) {
      printf("STEP\n");
      fflush(stdout);
    }
    if (heard_live == expected_live && expected > 0 && !usage.ru_utime.tv_sec && !usage.ru_utime.tv_usec) {
      getrusage(RUSAGE_SELF, &usage);
      for (int k = 0; k < count; k++)
        if (streams[k].fd >= 0) low_water(streams[k].fd, 1);
    }
    if (elapsed > timeout) break;
  }

  qsort(latencies, (size_t)latencies_length, sizeof *latencies, by_value);
  const double seconds = last_heard > first_sent ? (double)(last_heard - first_sent) / 1e9 : 0;
  const double p50 = latencies_length ? latencies[latencies_length / 2] / 1e3 : 0;
  const double p99 = latencies_length ? latencies[latencies_length * 99 / 100] / 1e3 : 0;
  const double max = latencies_length ? latencies[latencies_length - 1] / 1e3 : 0;
  if (!usage.ru_utime.tv_sec && !usage.ru_utime.tv_usec) getrusage(RUSAGE_SELF, &usage);
  const double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  printf("RESULT {\"ready\":%d,\"failed\":%d,\"events\":%ld,\"expected\":%ld,\"seconds\":%.6f,\"bytes\":%ld,\"p50Ms\":%.3f,\"p99Ms\":%.3f,\"maxMs\":%.3f,\"clientCpuSeconds\":%.2f}\n",
         ready, failed, total, expected, seconds, bytes, p50, p99, max, cpu);
  return 0;
}
