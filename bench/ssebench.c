// Opens N server-sent-events connections (one thread, epoll) and counts every event by the time stamp in its payload,
// "t":<ns since the epoch>, so that also the latency from publish to receipt is known.
//
// usage: ssebench HOST PORT PATH N EVENTS_PER_STREAM TIMEOUT_S STEP [HEADER...]
//   PATH is @FILE with one path per line where the connections have different ones.
//   STEP > 0: prints STEP and its number each time that many more events have arrived over all streams, for a publisher that waits.
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

typedef struct {
  int fd;
  int state; // -1 connecting, 0 waits for the head, 1 open
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
  if (argc < 8) {
    fprintf(stderr, "usage: ssebench HOST PORT PATH N EVENTS_PER_STREAM TIMEOUT_S STEP [HEADER...]\n");
    return 2;
  }
  const char *host = argv[1], *one_path = argv[3];
  const int port = atoi(argv[2]), count = atoi(argv[4]);
  const long expected = (long)count * atol(argv[5]), step = atol(argv[7]);
  const double timeout = atof(argv[6]);
  char **paths = one_path[0] == '@' ? read_paths(one_path + 1, count) : NULL;
  static char headers[8192];
  for (int i = 8; i < argc; i++) {
    strncat(headers, argv[i], sizeof headers - strlen(headers) - 3);
    strcat(headers, "\r\n");
  }
  raise_file_limit();

  Stream *streams = calloc((size_t)count, sizeof *streams);
  long latency_capacity = expected + 16 > 40000000 ? 40000000 : expected + 16, latencies_length = 0;
  uint32_t *latencies = malloc((size_t)latency_capacity * sizeof *latencies);
  const int poll = epoll_create1(0);
  int opened = 0, ready = 0, opening = 0, failed = 0, told_ready = 0, first_status = 0;
  long total = 0, steps = 0;
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
        char request[20000];
        const char *path = paths ? paths[k] : one_path;
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
        last_heard = heard;
        if (latencies_length < latency_capacity) {
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
    for (; step > 0 && total >= (steps + 1) * step; steps++) {
      printf("STEP %ld\n", steps + 1);
      fflush(stdout);
    }
    if (elapsed > timeout) break;
  }

  qsort(latencies, (size_t)latencies_length, sizeof *latencies, by_value);
  const double seconds = last_heard > first_sent ? (double)(last_heard - first_sent) / 1e9 : 0;
  const double p50 = latencies_length ? latencies[latencies_length / 2] / 1e3 : 0;
  const double p99 = latencies_length ? latencies[latencies_length * 99 / 100] / 1e3 : 0;
  printf("RESULT {\"events\":%ld,\"expected\":%ld,\"seconds\":%.6f,\"p50Ms\":%.3f,\"p99Ms\":%.3f}\n", total, expected, seconds, p50, p99);
  return 0;
}
