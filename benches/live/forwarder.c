/* A bare forwarder: two hosts in network namespaces, joined by one link with a rate, a queue and a delay, and nothing else. It is what a live
 * run of lasthop is measured against.
 *
 *     forwarder RATE_BIT_S DELAY_US QUEUE_PACKETS LATE_US COMMAND_A COMMAND_B
 *
 * Both directions are alike. The hosts are 10.77.0.1 and 10.77.0.2; the commands run by sh; the end of COMMAND_B ends it. One thread waits by
 * epoll for packets and by timerfd for what is due. A packet's service begins at its arrival or at the end of the last service, so that a late
 * write moves no other packet. RATE 0 is no rate: packets only wait for the delay. At the end it says which share of all packets it wrote more
 * than LATE_US after they were due.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST = 2048, BATCH = 64, PLACES = 1 << 15, DEVICE_QUEUE = 10000 };

struct packet {
    uint64_t due;
    int length;
    unsigned char bytes[LONGEST];
};

/* One direction: packets in the order in which they are due. */
struct line {
    struct packet *places;
    unsigned head, tail;
    uint64_t busy_until;
    uint64_t starts[PLACES]; /* when each of them begins to be served */
    unsigned first_waiting;
};

static void fail(const char *what)
{
    perror(what);
    exit(2);
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* In the child: a namespace with a device, which goes to the parent; then, when the parent says so, the command. */
static void host(int number, int parent, const char *command)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (unshare(CLONE_NEWNET))
        fail("unshare");
    int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC), s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (tun < 0 || s < 0)
        fail("/dev/net/tun");
    struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    strcpy(r.ifr_name, "live0");
    if (ioctl(tun, TUNSETIFF, &r))
        fail("TUNSETIFF");
    struct sockaddr_in *address = (struct sockaddr_in *)&r.ifr_addr;
    memset(address, 0, sizeof *address);
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(0x0a4d0000u | (unsigned)number);
    if (ioctl(s, SIOCSIFADDR, &r))
        fail("SIOCSIFADDR");
    address->sin_addr.s_addr = htonl(0xffffff00u);
    if (ioctl(s, SIOCSIFNETMASK, &r))
        fail("SIOCSIFNETMASK");
    r.ifr_qlen = DEVICE_QUEUE;
    if (ioctl(s, SIOCSIFTXQLEN, &r))
        fail("SIOCSIFTXQLEN");
    const char *up[] = {"live0", "lo"};
    for (int i = 0; i < 2; i++) {
        strcpy(r.ifr_name, up[i]);
        r.ifr_flags = IFF_UP | IFF_RUNNING;
        if (ioctl(s, SIOCSIFFLAGS, &r))
            fail("SIOCSIFFLAGS");
    }
    char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec one = {&byte, 1};
    struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &tun, sizeof tun);
    if (sendmsg(parent, &message, 0) != 1 || read(parent, &byte, 1) != 1)
        fail("parent");
    execl("/bin/sh", "sh", "-c", command, (char *)0);
    fail("sh");
}

static pid_t start(int number, const char *command, int *tun, int *door)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        fail("socketpair");
    pid_t child = fork();
    if (child == 0)
        host(number, ends[1], command);
    close(ends[1]);
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec one = {&byte, 1};
    struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(ends[0], &message, MSG_CMSG_CLOEXEC) != 1)
        fail("host");
    memcpy(tun, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof *tun);
    *door = ends[0];
    return child;
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: forwarder RATE_BIT_S DELAY_US QUEUE_PACKETS LATE_US COMMAND_A COMMAND_B\n");
        return 2;
    }
    double rate = atof(argv[1]);
    uint64_t delay = (uint64_t)(atof(argv[2]) * 1000);
    unsigned limit = (unsigned)atoi(argv[3]);
    uint64_t tolerated = (uint64_t)(atof(argv[4]) * 1000), written = 0, late = 0;
    int tuns[2], doors[2];
    pid_t children[2];
    static struct line lines[2];
    for (int i = 0; i < 2; i++) {
        children[i] = start(i + 1, argv[5 + i], &tuns[i], &doors[i]);
        lines[i].places = malloc(PLACES * sizeof(struct packet));
    }
    prctl(PR_SET_TIMERSLACK, 1);
    int poll = epoll_create1(EPOLL_CLOEXEC), timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    int watched[] = {tuns[0], tuns[1], timer};
    for (int i = 0; i < 3; i++) {
        struct epoll_event e = {.events = EPOLLIN};
        if (epoll_ctl(poll, EPOLL_CTL_ADD, watched[i], &e))
            fail("epoll_ctl");
    }
    for (int i = 0; i < 2; i++)
        if (write(doors[i], "", 1) != 1)
            fail("start");
    uint64_t set = 0;
    for (unsigned turn = 0;; turn++) {
        for (int from = 0; from < 2; from++) {
            struct line *line = &lines[from];
            for (int n = 0; n < BATCH; n++) {
                struct packet *p = &line->places[line->tail % PLACES];
                p->length = (int)read(tuns[from], p->bytes, LONGEST);
                if (p->length <= 0)
                    break;
                uint64_t at = now(), begins = at > line->busy_until ? at : line->busy_until;
                while (line->first_waiting != line->tail && line->starts[line->first_waiting % PLACES] <= at)
                    line->first_waiting++;
                if (line->tail - line->first_waiting >= limit || line->tail - line->head >= PLACES - 1)
                    continue;
                line->starts[line->tail % PLACES] = begins;
                line->busy_until = rate > 0 ? begins + (uint64_t)(p->length * 8e9 / rate) : begins;
                p->due = line->busy_until + delay;
                line->tail++;
            }
        }
        uint64_t next = 0, present = now();
        for (int from = 0; from < 2; from++) {
            struct line *line = &lines[from];
            while (line->head != line->tail && line->places[line->head % PLACES].due <= present) {
                struct packet *p = &line->places[line->head++ % PLACES];
                if (write(tuns[1 - from], p->bytes, (size_t)p->length) < 0 && errno != EAGAIN && errno != EIO)
                    fail("write");
                written++;
                late += now() - p->due > tolerated;
            }
            if (line->head != line->tail) {
                uint64_t due = line->places[line->head % PLACES].due;
                next = next == 0 || due < next ? due : next;
            }
        }
        if (next != set || next <= now()) {
            struct itimerspec at = {.it_value = {(time_t)(next / 1000000000u), (long)(next % 1000000000u)}};
            timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, 0);
            set = next;
        }
        struct epoll_event events[4];
        if (epoll_wait(poll, events, 4, 100) < 0 && errno != EINTR)
            fail("epoll_wait");
        if (turn % 256 == 0 || next == 0) {
            int status;
            if (waitpid(children[1], &status, WNOHANG) == children[1]) {
                kill(children[0], SIGKILL);
                fprintf(stderr, "LATE: %.2f %% of packets\n", written ? 100.0 * (double)late / (double)written : 0.0);
                return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
            }
        }
    }
}
