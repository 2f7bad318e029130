// SPDX-License-Identifier: Apache-2.0
// Loads an HTTP server with one request, again and again, at random times of a set rate.
//
//     ln_http_load PORT PATH BODY [-r RATE [-e]] [-s SECONDS] [-c CONNECTIONS] [-H 'NAME: VALUE']..
//
// Requests arrive whether earlier ones are answered or not (an open loop), as those of independent
// clients do; the intervals have an exponential distribution, or are equal (-e). A request's time
// begins with its arrival: it includes the wait for a connection, of which there are at most
// CONNECTIONS. RATE 0: each connection sends its next request after the answer (a closed loop).
// Prints JSON; times are milliseconds, of requests with status 200.

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_SIZE = 4096, READ_SIZE = 1 << 16, N_EVENTS = 256 };

#define LONGEST_WAIT 1e-3 // seconds

typedef struct connection {
    int fd; // -1: closed
    int is_busy;
    double arrival; // of its request, seconds
    size_t sent;    // bytes of the request
    char head[HEAD_SIZE];
    size_t n_head;  // bytes of the head so far
    long body_left; // -1: the head is not complete
    int status;
} connection;

typedef struct load {
    struct sockaddr_in address;
    char *request; // head and body
    size_t size;
    double rate, seconds, end; // end: no request arrives later
    int is_even, n_connections, epoll;
    connection *connections;
    double *arrivals; // of requests that wait for a connection: a ring
    size_t first, n_waiting, n_room;
    double *times; // of those answered with 200
    size_t n_times, n_times_room;
    size_t n_sent, n_ok, n_in_time, n_rejected, n_failed; // n_in_time: of n_ok, until the end
} load;

static void fail(const char *reason)
{
    fprintf(stderr, "ln_http_load: %s\n", reason);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// Uniform in 0 .. 1, without 0.
static double draw(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(state >> 11) + 1) * 0x1p-53;
}

// Connections

static void close_connection(load *l, connection *c)
{
    if (c->fd < 0)
        return;
    epoll_ctl(l->epoll, EPOLL_CTL_DEL, c->fd, NULL);
    close(c->fd);
    c->fd = -1;
}

static int open_connection(load *l, connection *c)
{
    const int one = 1;
    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&l->address, sizeof(l->address)))
        return close(c->fd), c->fd = -1;
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    fcntl(c->fd, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = c}};
    return epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->fd, &event);
}

static void watch(load *l, connection *c, uint32_t events)
{
    struct epoll_event event = {.events = events, .data = {.ptr = c}};
    epoll_ctl(l->epoll, EPOLL_CTL_MOD, c->fd, &event);
}

static void end_request(load *l, connection *c, int status)
{
    c->is_busy = 0;
    if (status == 200) {
        if (l->n_times == l->n_times_room) {
            l->n_times_room = l->n_times_room ? 2 * l->n_times_room : 1024;
            l->times = realloc(l->times, l->n_times_room * sizeof(*l->times));
            if (!l->times)
                fail("no memory");
        }
        l->times[l->n_times++] = (now() - c->arrival) * 1e3;
        l->n_ok++;
        l->n_in_time += now() < l->end;
    } else if (status == 429 || status == 503) {
        l->n_rejected++;
    } else {
        l->n_failed++;
    }
}

static void break_off(load *l, connection *c)
{
    if (c->is_busy)
        end_request(l, c, 0);
    close_connection(l, c);
}

static void send_more(load *l, connection *c)
{
    while (c->sent < l->size) {
        const ssize_t n = send(c->fd, l->request + c->sent, l->size - c->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            watch(l, c, EPOLLIN | EPOLLOUT);
            return;
        }
        if (n <= 0) {
            break_off(l, c);
            return;
        }
        c->sent += (size_t)n;
    }
    watch(l, c, EPOLLIN);
}

static void begin_request(load *l, connection *c, double arrival)
{
    c->is_busy = 1;
    c->arrival = arrival;
    c->sent = c->n_head = 0;
    c->body_left = -1;
    l->n_sent++;
    if (c->fd < 0 && open_connection(l, c)) {
        break_off(l, c);
        return;
    }
    send_more(l, c);
}

// Answers

static long content_length(const char *head)
{
    static const char name[] = "\r\nContent-Length:";
    const char *const found = strcasestr(head, name);
    return found ? strtol(found + strlen(name), NULL, 10) : 0;
}

// Takes bytes of the answer's head; those after it belong to the body.
static void take_head(connection *c, const char *bytes, size_t size)
{
    const size_t old = c->n_head, room = HEAD_SIZE - 1 - old, n = size < room ? size : room;
    memcpy(c->head + old, bytes, n);
    c->n_head += n;
    c->head[c->n_head] = '\0';
    const char *const end = strstr(c->head, "\r\n\r\n");
    if (!end) {
        c->body_left = n < size ? -2 : -1;
        return;
    }
    c->status = atoi(c->head + strlen("HTTP/1.1 "));
    const size_t head_size = (size_t)(end - c->head) + 4;
    c->body_left = content_length(c->head) - (long)(size - (head_size - old));
}

static void receive(load *l, connection *c)
{
    static char bytes[READ_SIZE];
    for (;;) {
        const ssize_t n = recv(c->fd, bytes, sizeof(bytes), 0);
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0 || !c->is_busy) {
            break_off(l, c);
            return;
        }
        if (c->body_left < 0)
            take_head(c, bytes, (size_t)n);
        else
            c->body_left -= n;
        if (c->body_left == -2) {
            break_off(l, c);
            return;
        }
        if (c->body_left == 0) {
            end_request(l, c, c->status);
            if (strcasestr(c->head, "\r\nConnection: close"))
                close_connection(l, c);
            return;
        }
    }
}

// Arrivals

static void wait_for_connection(load *l, double arrival)
{
    if (l->n_waiting == l->n_room)
        fail("too many requests wait for a connection");
    l->arrivals[(l->first + l->n_waiting++) % l->n_room] = arrival;
}

static connection *find_idle(load *l)
{
    for (int i = 0; i < l->n_connections; i++)
        if (!l->connections[i].is_busy)
            return &l->connections[i];
    return NULL;
}

static void start_waiting(load *l)
{
    connection *c;
    while (l->n_waiting && (c = find_idle(l))) {
        const double arrival = l->arrivals[l->first];
        l->first = (l->first + 1) % l->n_room;
        l->n_waiting--;
        begin_request(l, c, arrival);
    }
}

// A request of each connection that is idle, if the server is there or not.
static void start_all(load *l)
{
    for (int i = 0; i < l->n_connections; i++)
        if (!l->connections[i].is_busy)
            begin_request(l, &l->connections[i], now());
}

static int n_busy(const load *l)
{
    int n = 0;
    for (int i = 0; i < l->n_connections; i++)
        n += l->connections[i].is_busy;
    return n;
}

// Waits up to `seconds` for the first event.
static void handle_events(load *l, double seconds)
{
    struct epoll_event events[N_EVENTS];
    const struct timespec longest = {.tv_nsec = (long)(seconds * 1e9)};
    ppoll(&(struct pollfd){.fd = l->epoll, .events = POLLIN}, 1, &longest, NULL);
    const int n = epoll_wait(l->epoll, events, N_EVENTS, 0);
    for (int i = 0; i < n; i++) {
        connection *const c = events[i].data.ptr;
        if (events[i].events & EPOLLOUT)
            send_more(l, c);
        if (c->fd >= 0 && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            receive(l, c);
    }
}

static double interval(const load *l)
{
    return (l->is_even ? 1 : -log(draw())) / l->rate;
}

static void run(load *l)
{
    enum { MAX_LEFT = 30 }; // seconds for the last answers
    double next = now();
    const double end = l->end = next + l->seconds;
    while (now() < end) {
        for (; l->rate > 0 && next <= now() && next < end; next += interval(l))
            wait_for_connection(l, next);
        if (l->rate == 0)
            start_all(l);
        start_waiting(l);
        const double left = l->rate > 0 ? next - now() : LONGEST_WAIT;
        handle_events(l, left < 0 ? 0 : left < LONGEST_WAIT ? left : LONGEST_WAIT);
    }
    while ((l->n_waiting || n_busy(l)) && now() < end + MAX_LEFT) {
        start_waiting(l);
        handle_events(l, LONGEST_WAIT);
    }
}

// Results

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const load *l, double q)
{
    const size_t i = (size_t)ceil(q * (double)l->n_times);
    return l->n_times ? l->times[i ? i - 1 : 0] : 0;
}

static void print_results(load *l)
{
    double sum = 0;
    qsort(l->times, l->n_times, sizeof(*l->times), by_value);
    for (size_t i = 0; i < l->n_times; i++)
        sum += l->times[i];
    printf("{\"offered\": %g, \"seconds\": %g, \"sent\": %zu, \"ok\": %zu, \"rejected\": %zu, "
           "\"failed\": %zu, "
           "\"per_second\": %.2f, \"mean_ms\": %.3f, \"p50_ms\": %.3f, \"p90_ms\": %.3f, "
           "\"p99_ms\": %.3f, "
           "\"max_ms\": %.3f}\n",
           l->rate, l->seconds, l->n_sent, l->n_ok, l->n_rejected,
           l->n_failed + l->n_waiting + (size_t)n_busy(l), (double)l->n_in_time / l->seconds,
           l->n_times ? sum / (double)l->n_times : 0, quantile(l, .5), quantile(l, .9),
           quantile(l, .99), quantile(l, 1));
}

static char *read_body(const char *path, size_t *size)
{
    FILE *const file = fopen(path, "rb");
    if (!file)
        fail("cannot read the body");
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *const body = malloc(*size + 1);
    if (!body || fread(body, 1, *size, file) != *size)
        fail("cannot read the body");
    fclose(file);
    return body;
}

static void make_request(load *l, const char *path, const char *body_path, const char *headers)
{
    size_t size;
    char *const body = read_body(body_path, &size);
    l->request = malloc(HEAD_SIZE + size);
    if (!l->request)
        fail("no memory");
    const int n = snprintf(l->request, HEAD_SIZE,
                           "POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %zu\r\n\r\n",
                           path, headers, size);
    if (n >= HEAD_SIZE)
        fail("the headers are too long");
    memcpy(l->request + n, body, size);
    l->size = (size_t)n + size;
    free(body);
}

int main(int argc, char **argv)
{
    enum { MAX_WAITING = 1 << 20 };
    load l = {.rate = 0, .seconds = 5, .n_connections = 64};
    char headers[HEAD_SIZE / 2] = "";
    int c;
    while ((c = getopt(argc, argv, "r:es:c:H:")) != -1) {
        const size_t used = strlen(headers);
        if (c == 'r')
            l.rate = atof(optarg);
        else if (c == 'e')
            l.is_even = 1;
        else if (c == 's')
            l.seconds = atof(optarg);
        else if (c == 'c')
            l.n_connections = atoi(optarg);
        else if (c != 'H' || (size_t)snprintf(headers + used, sizeof(headers) - used, "%s\r\n",
                                              optarg) >= sizeof(headers) - used)
            fail("expected PORT PATH BODY, -r RATE, -e, -s SECONDS, -c CONNECTIONS, -H 'NAME: "
                 "VALUE'");
    }
    if (argc - optind != 3 || l.n_connections < 1)
        fail("expected PORT PATH BODY");
    l.address = (struct sockaddr_in){.sin_family = AF_INET,
                                     .sin_port = htons((uint16_t)atoi(argv[optind])),
                                     .sin_addr = {htonl(INADDR_LOOPBACK)}};
    l.epoll = epoll_create1(0);
    l.n_room = MAX_WAITING;
    l.arrivals = malloc(l.n_room * sizeof(*l.arrivals));
    l.connections = calloc((size_t)l.n_connections, sizeof(*l.connections));
    if (l.epoll < 0 || !l.arrivals || !l.connections)
        fail("no memory");
    for (int i = 0; i < l.n_connections; i++)
        l.connections[i].fd = -1;
    make_request(&l, argv[optind + 1], argv[optind + 2], headers);
    run(&l);
    print_results(&l);
    return 0;
}
