/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Links two network namespaces of this machine as if they were far apart: every packet waits
 * for the rate of the link and for its delay, or is lost.
 *
 *     wan NAMESPACE DEVICE NAMESPACE DEVICE
 *
 * A namespace is a file such as /proc/PID/ns/net. In each, the program makes a TUN device, which
 * exists until the program ends. Each line on stdin, as "rate 100", is a setting that holds for
 * both directions from then on. The answer to it, and to an empty line, is the number of bytes that
 * were delivered in each direction, and of packets that were lost and that found the queue full.
 * The program ends when stdin does, so that it never outlives what started it.
 *
 * Without losses, a packet may be a train of up to 64 KiB that the system would cut later, so that
 * 1 Gbit/s takes little time. Lengths count the headers that the cut train would have.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_PACKET (sizeof(struct virtio_net_hdr) + 65535)
#define MOST_QUEUED (256u << 20) /**< Bytes, in one direction, whatever the settings. */
#define READ_AT_ONCE 64          /**< Packets of one direction before the other has its turn. */

enum { DELAY, RATE, LOSS, QUEUE, PAUSE, SEED, SETTINGS };

static struct setting {
    const char *name;
    double value;
} settings[SETTINGS] = {
    [DELAY] = {"delay", 0},    /* in one direction, in ms */
    [RATE] = {"rate", 0},      /* in Mbit/s; 0: not limited */
    [LOSS] = {"loss", 0},      /* the probability for each packet */
    [QUEUE] = {"queue", 4096}, /* KiB that may wait for the rate; more is dropped */
    [PAUSE] = {"pause", 0},    /* 1: deliver nothing until it is 0 again */
    [SEED] = {"seed", 1},      /* of the losses */
};

struct packet {
    struct packet *next;
    int64_t due; /**< In nanoseconds of the monotonic clock. */
    size_t size;
    char bytes[]; /**< A virtio_net_hdr and an IP packet. */
};

struct direction {
    int from, to; /**< TUN devices. */
    struct packet *first, **end;
    size_t queued;   /**< Bytes in the list. */
    int64_t free_at; /**< When the link has sent all that it accepted. */
    uint64_t delivered;
};

static struct direction directions[2];
static uint64_t lost, overflowed;

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "wan: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static int open_device(const char *namespace, const char *name)
{
    int ns = open(namespace, O_RDONLY | O_CLOEXEC);
    if (ns < 0 || setns(ns, CLONE_NEWNET) != 0)
        fail(namespace);
    close(ns);
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR};
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) != 0)
        fail(name);
    return fd;
}

/** Trains would be lost as a whole, so there are none while packets are lost. */
static void allow_trains(bool allowed)
{
    unsigned long offload = allowed ? TUN_F_CSUM | TUN_F_TSO4 : 0;
    for (int i = 0; i < 2; i++)
        if (ioctl(directions[i].from, TUNSETOFFLOAD, offload) != 0)
            fail("TUNSETOFFLOAD");
}

/** The length of a packet, or of all packets of a train. */
static size_t length_on_wire(const char *bytes, size_t size)
{
    struct virtio_net_hdr train;
    memcpy(&train, bytes, sizeof(train));
    const uint8_t *packet = (const uint8_t *)bytes + sizeof(train);
    size_t length = size - sizeof(train);
    size_t tcp = train.csum_start; /* where the TCP header begins; its length is in its byte 12 */
    if (train.gso_type == VIRTIO_NET_HDR_GSO_NONE || train.gso_size == 0 || tcp + 12 >= length)
        return length;
    size_t headers = tcp + (packet[tcp + 12] >> 4) * 4u;
    return headers >= length ? length : length + (length - headers - 1) / train.gso_size * headers;
}

/** Queues a packet, or drops it. */
static void accept_packet(struct direction *way, const char *bytes, size_t size)
{
    double rate = settings[RATE].value;
    int64_t now = now_ns();
    int64_t start = way->free_at > now ? way->free_at : now;
    if (settings[LOSS].value > 0 && drand48() < settings[LOSS].value) {
        lost++;
        return;
    }
    if ((double)(start - now) * rate / 8000 > settings[QUEUE].value * 1024 ||
        way->queued + size > MOST_QUEUED) {
        overflowed++;
        return;
    }
    struct packet *packet = malloc(sizeof(*packet) + size);
    if (packet == NULL)
        fail("memory");
    way->free_at = rate > 0 ? start + (int64_t)(length_on_wire(bytes, size) * 8000 / rate) : now;
    packet->due = way->free_at + (int64_t)(settings[DELAY].value * 1e6);
    packet->size = size;
    packet->next = NULL;
    memcpy(packet->bytes, bytes, size);
    *way->end = packet;
    way->end = &packet->next;
    way->queued += size;
}

static void read_packets(struct direction *way)
{
    static char bytes[LONGEST_PACKET];
    for (int i = 0; i < READ_AT_ONCE; i++) {
        ssize_t size = read(way->from, bytes, sizeof(bytes));
        if (size < (ssize_t)sizeof(struct virtio_net_hdr))
            return;
        accept_packet(way, bytes, (size_t)size);
    }
}

/** Delivers what is due. Returns when the next packet is, or INT64_MAX. */
static int64_t deliver_packets(struct direction *way)
{
    if (settings[PAUSE].value != 0)
        return INT64_MAX;
    while (way->first != NULL && way->first->due <= now_ns()) {
        struct packet *packet = way->first;
        if (write(way->to, packet->bytes, packet->size) == (ssize_t)packet->size)
            way->delivered += packet->size;
        way->queued -= packet->size;
        way->first = packet->next;
        if (way->first == NULL)
            way->end = &way->first;
        free(packet);
    }
    return way->first != NULL ? way->first->due : INT64_MAX;
}

/** Changes a setting, as "rate 100" says. Returns whether there is such a setting. */
static bool change(const char *line)
{
    char name[16];
    double value;
    if (sscanf(line, "%15s %lf", name, &value) != 2 || !(value >= 0))
        return false;
    struct setting *setting = settings;
    while (setting < settings + SETTINGS && strcmp(setting->name, name) != 0)
        setting++;
    if (setting == settings + SETTINGS)
        return false;
    setting->value = value;
    if (setting == &settings[LOSS])
        allow_trains(value == 0);
    if (setting == &settings[SEED])
        srand48((long)value);
    return true;
}

static void answer(const char *line)
{
    if (line[0] != '\0' && !change(line))
        printf("not a setting: %s\n", line);
    else
        printf("%llu %llu %llu %llu\n", (unsigned long long)directions[0].delivered,
               (unsigned long long)directions[1].delivered, (unsigned long long)lost,
               (unsigned long long)overflowed);
}

/** Obeys the lines on stdin. Returns false at its end. */
static bool read_settings(void)
{
    static char text[256];
    static size_t used;
    ssize_t size = read(STDIN_FILENO, text + used, sizeof(text) - 1 - used);
    if (size <= 0)
        return false;
    used += (size_t)size;
    text[used] = '\0';
    char *line = text;
    for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        answer(line);
    }
    used = strlen(line);
    memmove(text, line, used + 1);
    fflush(stdout);
    return true;
}

static void carry_packets(void)
{
    struct pollfd polled[3] = {{directions[0].from, POLLIN, 0},
                               {directions[1].from, POLLIN, 0},
                               {STDIN_FILENO, POLLIN, 0}};
    do {
        int64_t next = deliver_packets(&directions[0]), other = deliver_packets(&directions[1]);
        next = other < next ? other : next;
        int64_t wait = next - now_ns();
        wait = wait > 0 ? wait : 0;
        struct timespec timeout = {wait / 1000000000, wait % 1000000000};
        if (ppoll(polled, 3, next == INT64_MAX ? NULL : &timeout, NULL) < 0 && errno != EINTR)
            fail("ppoll");
        for (int i = 0; i < 2; i++)
            if (polled[i].revents & POLLIN)
                read_packets(&directions[i]);
    } while (polled[2].revents == 0 || read_settings());
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: wan NAMESPACE DEVICE NAMESPACE DEVICE\n");
        return 2;
    }
    int ends[2] = {open_device(argv[1], argv[2]), open_device(argv[3], argv[4])};
    for (int i = 0; i < 2; i++)
        directions[i] =
            (struct direction){.from = ends[i], .to = ends[1 - i], .end = &directions[i].first};
    allow_trains(true);
    srand48(1);
    prctl(PR_SET_TIMERSLACK, 1ul, 0, 0, 0); /* the default, 50 us, adds to each delay */
    setpriority(PRIO_PROCESS, 0, -10);      /* where it is permitted: other work shall not delay */
    printf("ready\n");
    fflush(stdout);
    carry_packets();
    return 0;
}
