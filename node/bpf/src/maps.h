// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
// Constants and memory of the programs.
#pragma once

#include "types.h"

// The domain and the node. The loader sets them, and the verifier removes what they leave out.
const volatile u32 node_id = 0;
const volatile u8 domain_mode = MODE_MD;
const volatile u8 version = INT_20, carrier = BY_DSCP;
const volatile u8 dscp_value = 0, dscp_mask = 0;
const volatile u16 int_port = 0;
const volatile u32 gpe_nexts = 0; // four values of Next Protocol in VXLAN-GPE; 0: none
const volatile u8 gpe_next = 0;   // of those, what a source writes
const volatile u16 geneve_class = 0;
const volatile bool accept_edge = false;
const volatile u16 device_domain = 0, ds_flags = 0; // of the domain whose packets say which device sent them; 0: none
const volatile u16 known = 0xFFFF; // instructions whose metadata the node knows
const volatile bool pop = false;   // a stack is taken out of a packet that has no room for a record, and reported
const volatile u16 truncate = 0;   // bytes of a packet in a report behind INT and L4; 0: all
const volatile bool testing = false;
const volatile bool clones = false; // sources may leave packets alone, and send clones with INT: see struct port
const volatile bool local = false;  // packets of this machine are watched, too
const volatile u32 num_queues = 0; // some are watched; one more than there are ports
const volatile bool queue_times = false; // by the time in them, which every packet has to be stamped for
const volatile u64 full_reasons[4] = {}; // bits by reason: of drops for want of room
const volatile bool fast = false; // some ports are
const volatile u32 num_slots = 1;  // of events; a power of two

volatile long clock_offset = 0; // of TAI, to the clock that reports have
volatile u64 own_sockets[2] = {}; // cookies of those that reports leave by
volatile u32 netns = 0;         // number of the network namespace that the ports are in
volatile u32 active = 0;        // half of the watchlists that counts
volatile u32 has_filters = 0;   // there are some
volatile u64 filters_end = ~0ULL; // when none holds any more, by the time since the machine began
volatile u32 least_sample = 0;  // of all entries, which all choose by hash; 0: of some they do not, NO_SAMPLE: none
volatile u32 has_xd = 0;        // it has entries of INT-XD, which count for packets from inside too

#define MAP(kind, keytype, valuetype, entries) \
	{ \
		__uint(type, kind); \
		__type(key, keytype); \
		__type(value, valuetype); \
		__uint(max_entries, entries); \
	}

struct MAP(BPF_MAP_TYPE_PERCPU_ARRAY, enum counter, u64, COUNTERS) counters SEC(".maps");
struct MAP(BPF_MAP_TYPE_PERCPU_ARRAY, u32, struct scratch, 1) scratches SEC(".maps");
struct MAP(BPF_MAP_TYPE_PERCPU_ARRAY, u32, struct event, 1) drops SEC(".maps");
struct MAP(BPF_MAP_TYPE_ARRAY, u32, struct port, PORTS) ports SEC(".maps");
struct MAP(BPF_MAP_TYPE_HASH, struct vlan, u32, 4096) vlans SEC(".maps"); // the interfaces that get it
struct MAP(BPF_MAP_TYPE_ARRAY, u32, struct queue, 1) queues SEC(".maps");
struct MAP(BPF_MAP_TYPE_ARRAY, u32, struct event, 1) slots SEC(".maps");
struct MAP(BPF_MAP_TYPE_ARRAY, u32, u64, 1) next_event SEC(".maps");
struct MAP(BPF_MAP_TYPE_ARRAY, u32, u64, 1) told SEC(".maps"); // losses that reports tell of, for the next process
struct MAP(BPF_MAP_TYPE_ARRAY, u32, struct test, 1) tests SEC(".maps");

// Watchlists: two halves, of which one is active. In a half tables of IPv6 stand behind those of IPv4.
struct MAP(BPF_MAP_TYPE_ARRAY, u32, struct table, 1) tables SEC(".maps");
struct MAP(BPF_MAP_TYPE_ARRAY, u32, struct bucket, 1) buckets SEC(".maps");
struct MAP(BPF_MAP_TYPE_ARRAY, u32, struct rule, 1) rules SEC(".maps");
struct MAP(BPF_MAP_TYPE_ARRAY, u32, struct action, 1) actions SEC(".maps");
struct MAP(BPF_MAP_TYPE_ARRAY, u32, u32, 4) table_counts SEC(".maps"); // by half and family

struct MAP(BPF_MAP_TYPE_HASH, u32, struct filter, 64) filters SEC(".maps");

#define RING (1 << 22) // bytes
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING);
} events SEC(".maps");

static __always_inline void count_some(enum counter c, u32 packets)
{
	u64 *n = bpf_map_lookup_elem(&counters, &c);
	if (n)
		*n += packets;
}

static __always_inline void count(enum counter c) { count_some(c, 1); }

static __always_inline struct scratch *scratch(void)
{
	u32 zero = 0;
	return bpf_map_lookup_elem(&scratches, &zero);
}

static __always_inline struct test *test(void)
{
	u32 zero = 0;
	return bpf_map_lookup_elem(&tests, &zero);
}

static __always_inline u64 now(u32 at)
{
	if (testing) {
		struct test *t = test();
		return t ? t->now[at & 1] : 0;
	}
	return bpf_ktime_get_tai_ns() + clock_offset;
}

static __always_inline struct port *find_port(u32 ifindex)
{
#pragma unroll
	for (int i = 0; i < PROBES; i++) {
		u32 at = (ifindex + i) & (PORTS - 1);
		struct port *p = bpf_map_lookup_elem(&ports, &at);
		if (p && p->ifindex == ifindex)
			return p;
		if (!p || !p->ifindex)
			return 0;
	}
	return 0;
}
