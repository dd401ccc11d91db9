// The yardstick: one write() per connection and event, and nothing else. No authentication, no broker, no bound.
// Server-sent events on the first port; a frame ("…\n\n") that arrives on the second goes to all connections, and one
// behind "@N " to the last connection that asked for /N.
//
// usage: raw_server; prints LISTEN <port> <publisher port>
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <netinet/tcp.h>
#include <unistd.h>

#define MAX_FDS (1 << 20)
#define INPUT_SIZE (1 << 24)

enum { NOBODY, HEAD, OPEN, PUBLISHER };
static unsigned char kind[MAX_FDS];
static int open_fds[MAX_FDS], place[MAX_FDS], open_count, of_channel[MAX_FDS];
static char input[INPUT_SIZE], waiting[INPUT_SIZE];
static size_t waiting_length;

static const char head[] = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-store\r\nconnection: close\r\n\r\n: open\n\n";

static int listen_on_any(int *port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (fd < 0 || bind(fd, (void *)&address, length) || listen(fd, 4096)) { perror("listen"); exit(1); }
  getsockname(fd, (void *)&address, &length);
  *port = ntohs(address.sin_port);
  return fd;
}

static void leave(int fd) {
  if (kind[fd] == OPEN) {
    open_fds[place[fd]] = open_fds[--open_count];
    place[open_fds[place[fd]]] = place[fd];
  }
  kind[fd] = NOBODY;
  close(fd);
}

static void send_to(int fd, const char *frame, size_t length) {
  if (kind[fd] != OPEN) return;
  const ssize_t sent = write(fd, frame, length);
  if (sent != (ssize_t)length) leave(fd); // no queue: who does not keep up is cut
}

static void hand_on(char *frame, const char *end) {
  if (*frame == '@') {
    const long channel = strtol(frame + 1, &frame, 10);
    if (channel >= 0 && channel < MAX_FDS) send_to(of_channel[channel], frame + 1, (size_t)(end - frame - 1));
    return;
  }
  for (int i = open_count - 1; i >= 0; i--) send_to(open_fds[i], frame, (size_t)(end - frame));
}

static void publish(size_t got) {
  if (waiting_length + got > INPUT_SIZE) exit(1);
  memcpy(waiting + waiting_length, input, got);
  waiting_length += got;
  char *from = waiting, *end;
  while ((end = memmem(from, waiting_length - (size_t)(from - waiting), "\n\n", 2))) {
    hand_on(from, end + 2);
    from = end + 2;
  }
  waiting_length -= (size_t)(from - waiting);
  memmove(waiting, from, waiting_length);
}

int main(void) {
  struct rlimit limit = {MAX_FDS, MAX_FDS};
  if (setrlimit(RLIMIT_NOFILE, &limit)) {
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  int stream_port, publisher_port;
  const int streams = listen_on_any(&stream_port), publishers = listen_on_any(&publisher_port), poll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = streams}, events[1024];
  epoll_ctl(poll, EPOLL_CTL_ADD, streams, &event);
  event.data.fd = publishers;
  epoll_ctl(poll, EPOLL_CTL_ADD, publishers, &event);
  printf("LISTEN %d %d\n", stream_port, publisher_port);
  fflush(stdout);
  for (;;) {
    const int n = epoll_wait(poll, events, 1024, -1);
    for (int i = 0; i < n; i++) {
      const int fd = events[i].data.fd;
      if (fd == streams || fd == publishers) {
        for (int made; (made = accept4(fd, 0, 0, SOCK_NONBLOCK)) >= 0;) {
          const int one = 1;
          setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
          kind[made] = fd == streams ? HEAD : PUBLISHER;
          struct epoll_event added = {.events = EPOLLIN, .data.fd = made};
          epoll_ctl(poll, EPOLL_CTL_ADD, made, &added);
        }
        continue;
      }
      const ssize_t got = read(fd, input, sizeof input);
      if (got < 0 && errno == EAGAIN) continue;
      if (got <= 0) { if (kind[fd] != NOBODY) leave(fd); continue; }
      if (kind[fd] == PUBLISHER) publish((size_t)got);
      else if (kind[fd] == HEAD && memmem(input, (size_t)got, "\r\n\r\n", 4)) {
        if (write(fd, head, sizeof head - 1) != sizeof head - 1) { leave(fd); continue; }
        kind[fd] = OPEN;
        const long channel = strtol(input + sizeof "GET /" - 1, NULL, 10);
        if (channel >= 0 && channel < MAX_FDS) of_channel[channel] = fd;
        place[fd] = open_count;
        open_fds[open_count++] = fd;
      }
    }
  }
}
