// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
// What the programs share with the loader, and what of the kernel they use.
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_core_read.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;

// Of the kernel's own types only what is read.
struct Qdisc___w {
	struct {
		u32 backlog;
	} qstats;
} __attribute__((preserve_access_index));

struct netdev_queue___w {
	struct Qdisc___w *qdisc;
} __attribute__((preserve_access_index));

struct ns_common___w {
	u32 inum;
} __attribute__((preserve_access_index));

struct net___w {
	struct ns_common___w ns;
} __attribute__((preserve_access_index));

typedef struct {
	struct net___w *net;
} __attribute__((preserve_access_index)) possible_net_t___w;

#define NO_CARRIER_BIT 2   // __LINK_STATE_NOCARRIER
#define NO_CARRIER 0xFFFE // a reason for drops that the kernel does not tell from a full queue

struct net_device___w {
	int ifindex;
	unsigned long state; // bits
	possible_net_t___w nd_net;
	struct netdev_queue___w *_tx;
} __attribute__((preserve_access_index));

typedef struct {
	__s64 counter;
} __attribute__((preserve_access_index)) atomic64_t___w;

struct sock_common___w {
	atomic64_t___w skc_cookie;
} __attribute__((preserve_access_index));

struct sock___w {
	struct sock_common___w __sk_common;
} __attribute__((preserve_access_index));

struct sk_buff___w {
	struct net_device___w *dev;
	struct sock___w *sk;
	u16 queue_mapping;
	int skb_iif;
	__be16 protocol;
	u16 network_header, mac_header;
	u32 len;
	unsigned char *data;
	u32 tail; // as an offset: of 64 bit kernels
	u32 end;  // also an offset: of struct skb_shared_info
	unsigned char *head;
	u8 ip_summed : 2;
} __attribute__((preserve_access_index));

struct skb_shared_info___w {
	u16 gso_segs;
} __attribute__((preserve_access_index));

// A function that the verifier looks at once, and not once for every way that leads to it. Its pointers it takes to be
// valid or null.
#define GLOBAL __attribute__((noinline))

extern void *bpf_cast_to_kern_ctx(void *obj) __ksym;
extern int bpf_dynptr_from_skb_meta(struct __sk_buff *skb, u64 flags, struct bpf_dynptr *ptr) __ksym;
extern void *bpf_dynptr_slice(const struct bpf_dynptr *ptr, u32 offset, void *buffer, u32 size) __ksym;

// Modes, as watch.Mode numbers them.
enum mode {
	MODE_DEFAULT,
	MODE_MD,
	MODE_MX,
	MODE_XD,
};

// Versions, as inband.Version numbers them.
enum version {
	INT_2016 = 1,
	INT_05,
	INT_10,
	INT_20, // and 2.1
};

// Carriers, as embed.Carrier numbers them.
enum carrier {
	BY_PORT = 1,
	BY_NEW_UDP,
	BY_DSCP,
	BY_MARKER,
	IN_GPE,
	IN_GENEVE,
};

// Tunnels, as telemetry.Tunnel numbers them.
enum tunnel {
	NO_TUNNEL,
	VXLAN,
	VXLAN_GPE,
	GENEVE,
};

// What is counted. The names are those of node.Outcome and, behind WHY, of embed.Why; behind KERNEL they are of the
// programs alone. The loader takes the names from here.
enum counter {
	ARRIVED,
	UNREADABLE,
	FROM_EDGE,
	WATCHED,
	UNSAMPLED,
	INSERTED,
	INSERTED_EMPTY,
	NOT_INSERTED,
	CLEANED,
	EDGE_INT,
	COPIES,
	PUSHED,
	MARKED_MTU,
	MARKED_HOP_LIMIT,
	POPPED_STACK,
	NOT_PUSHED,
	STRIPPED,
	STRIPPED_BAD,
	DISCARDED,
	TURNED,
	WHY_IS_FRAGMENT,
	WHY_NO_CARRIER,
	WHY_MTU,
	WHY_HOP_LIMIT,
	WHY_CARRIER_FULL,
	WHY_NOTHING_ASKED,
	WHY_MALFORMED_INT,
	WHY_DESTINATION_ONLY,
	CONGESTION_BEGAN,
	CONGESTION_ENDED,
	KERNEL_UNSAMPLED,     // left out by the hash of all entries: the watchlist was not asked
	KERNEL_NOT_READ,      // not IP, more than two VLAN tags, or too many IPv6 extension headers: passed as it was
	KERNEL_NOT_FORWARDED, // no route, or for this machine, or the last hop of its TTL: passed as it was
	KERNEL_TUNNEL,        // in a tunnel that is not looked into: not watched
	KERNEL_NOT_EDITED,    // the driver had no room, or refused: passed as it was
	KERNEL_MOVED,         // the record is not where it was inserted: it stays without what is known at egress
	KERNEL_NO_METADATA,   // the driver keeps no metadata of packets: no time, no report
	KERNEL_PARTIAL,       // its checksum is not computed yet: passed as it was
	KERNEL_NOT_CLONED,    // the kernel made no clone, or had no room for INT in it
	KERNEL_NOT_STRIPPED,  // INT that nobody can remove, in a packet to an edge: passed as it was
	KERNEL_OVERWRITTEN,   // waited in the queue longer than there was memory for it: not reported
	KERNEL_RING_FULL,     // the program that reports was too slow: not reported
	KERNEL_DROPS,         // dropped, and handed to the program that reports
	KERNEL_DROPS_UNTOLD,  // dropped, but that program has too much to do: not reported
	KERNEL_FILTERED,      // dropped by a filter of this node
	KERNEL_EVENTS,        // handed to the program that reports
	KERNEL_NOTED,         // forwarded, with what the egress has to know
	KERNEL_NOTED_LEFT,    // of these, came to the egress
	KERNEL_NOTED_DROPPED, // of these, did not: the kernel told of their drop
	KERNEL_FAST,          // sent straight to the port that they leave by
	KERNEL_FAST_DROPPED,  // of these, the driver had no room for, or did not take
	COUNTERS,
};

// A port of the switch, by the index of its interface and of that whose queue it has: where that index leads, or up to
// PROBES behind it, for a look into a hash table of the kernel takes longer than all of them.
struct port {
	u32 ifindex; // 0: free
	u32 id;      // from 1
	u16 edge;    // behind it are hosts
	u16 clone;   // what comes by it stays as it is, and clones with INT follow
	u32 l3;      // index of the interface that has the IP address
	u16 fast;    // packets may come, or leave, without the kernel's stack
	u8 mac[6];   // of the interface
	u32 partial; // packets without a checksum came by it
};

#define PORTS 4096 // a power of two
#define PROBES 4

// A vlan is what comes by a port with tags.
struct vlan {
	u32 ifindex; // of the port
	u16 ids[2];  // the outermost first; 0: none
};

#define HEAD 2048 // bytes of a packet that are kept
#define MASK (HEAD - 1)

// An event is a packet for the program that reports: as it came, and how it left.
struct event {
	u64 id; // of the packet
	u64 arrived, departed, enqueued;
	u64 queue_bytes;
	u32 in_port, out_port;
	u32 mtu;  // of the way out, 0: unknown
	u32 len;  // of the packet as it came
	u32 kept; // of those in bytes
	u8 queue, ttl;
	u8 mac[12];     // as it left
	u16 reason;     // of a drop, a number of enum skb_drop_reason; 0: none
	u16 record;     // of a drop: offset of the record of this node, 0: there is none
	u16 record_len;
	u8 met; // see below
	u8 pad;
	u16 segments; // of a drop: packets that a network card would have made of it; 0: of none
	u8 pad2[4];
	u8 bytes[HEAD];
};

// What a packet met, and what bytes are.
#define MET_CONGESTION 1 // its queue is congested
#define MET_QUOTA 2      // and it is one of those that are reported for that
#define MET_LEAVING 4    // bytes are of the packet as it left, with the record of this node
#define MET_SOURCE 8     // and with INT that this node inserted
#define MET_UNWATCHED 16 // no watchlist has chosen it

#define EVENT_HEADER ((u32)(unsigned long)&((struct event *)0)->bytes)

// State is what is remembered of a packet between its arrival and its departure, as metadata in front of it.
#define STATE_MAGIC (0x57617962 ^ node_id) // that of another node counts for nothing
#define STATE_SPENT (STATE_MAGIC + 1)      // the packet has departed: only for drops behind that

struct state {
	u32 magic;
	u32 in_port;
	u64 arrived;
	u64 enqueued;    // 0: not yet
	u64 queue_bytes; // then
	u64 event;       // id, 0: not to be reported
	u32 mtu;
	u16 written;     // sum of the record
	u16 record;      // offset of the record of this node from the IP header, 0: there is none
	u16 bitmap;      // of the record
	u16 sum;         // offset of the checksum that covers it, 0: there is none
	u8 how;          // see below
	u8 clone;        // nodes that may add a record to a clone of the packet, 0: there shall be none
	u16 spoilt;      // the kernel copies Ethernet headers as 16 bytes, and so writes the two in front of them
};

#define SUM_OF_UDP 1 // the checksum is of UDP
#define BOTTOM 2     // the record is the first one
#define SOURCE 4     // this node inserted INT
#define CHOSEN 8     // by the flow watchlist
#define QUEUE_ONLY 16 // an event for its queue alone

// A queue is that of a port, by its number: when it is congested, as event.Threshold says it, and whether it is.
struct queue {
	u32 trigger, reset;       // bytes; trigger 0: does not count
	u64 trigger_ns, reset_ns; // the same with the time from the queue to the link
	u32 quota;
	u32 tail_drop;
	u64 state; // 0: it is not congested; see congestion.h
};

// A probe is what the clone of a packet shall tell, while it is made.
struct probe {
	bool wanted;
	u8 max_hops;
	u16 bitmap;
	u32 in_port;
	u64 arrived; // 0: the packet is of this machine
	u64 queue_bytes;
};

// A scratch is where a packet is taken apart: its front, and what is inserted.
struct scratch {
	struct probe probe;
	u8 head[HEAD + 8]; // a read at the last byte is still inside
	u32 insert[64]; // in network order
	u32 out;        // of a packet that goes past the kernel: the interface that it leaves by,
	u8 macs[12];    // and its addresses then
};

#define TEST_IN 1 // the interface that packets of test runs come by

// A test stands in for the clock and the routes.
struct test {
	u64 now[2]; // at arrival and departure
	u64 queue_bytes;
	u64 enqueued; // 0: there is no queue in front of the port
	u32 out; // index of an interface
	u32 mtu;
	struct state state;
};

// A table of a watchlist, see node/watch.
struct table {
	u64 mask[6];
	u32 best; // rank of its best rule
	u32 first; // bucket
	u32 shift; // of a hash, to a bucket
	u32 pad;
};

struct bucket {
	u32 first, count; // rules, by rank
};

struct rule {
	u64 mask[6], value[6];
	u16 src_low, src_high, dst_low, dst_high;
	u32 rank;
	u32 pad;
};

// A filter says which packets are dropped as they arrive. The words are those of a rule.
struct filter {
	u64 mask[6], value[6];
	u64 mac_mask, mac; // of the sender
	u64 packets;       // that it dropped
};

#define FILTERED 0xFFFF    // the reason of their drops
#define FOREIGN_INT 0xFFFD // that of packets from outside with INT
#define FILTERED_EVENT (~0ULL) // instead of an id: the drop is told already

struct action {
	u32 sample; // 1 in so many; 0: ignore
	u16 bitmap;
	u8 mode, random;
	u8 max_hops;
	u8 pad[7];
};
