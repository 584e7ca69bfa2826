// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
// When queues are congested, and which packets are reported for that, as event.Congestion decides it.
#pragma once

#include "maps.h"

// The state of a queue that is congested: how many packets of this congestion were reported, and of drops.
#define CONGESTED (1ULL << 63)
#define ONE_REPORT 1ULL
#define ONE_DROP (1ULL << 32)
#define COUNTED 0x7FFFFFFF // the loader has no larger quotas
#define ATTEMPTS 8 // to change a state that other processors change

static __always_inline struct queue *find_queue(u32 port)
{
	struct queue *q = num_queues ? bpf_map_lookup_elem(&queues, &port) : 0;
	return q && (q->trigger || q->trigger_ns || q->tail_drop) ? q : 0;
}

static __always_inline bool reached(const struct queue *q, u64 bytes, u64 ns)
{
	return (q->trigger && bytes >= q->trigger) || (q->trigger_ns && ns >= q->trigger_ns);
}

static __always_inline bool is_over(const struct queue *q, u64 bytes, u64 ns)
{
	return (!q->trigger || bytes <= q->reset) && (!q->trigger_ns || ns <= q->reset_ns);
}

// change counts a report, or a drop, if it is one of the quota, and makes the state what it is then.
static __always_inline u8 change(struct queue *q, u64 was, u64 is, bool report, u64 one, bool *done)
{
	u8 met = is ? MET_CONGESTION : 0;
	u32 used = one == ONE_DROP ? is >> 32 & COUNTED : is & COUNTED;
	if (is && report && (!q->quota || used < q->quota)) {
		met |= MET_QUOTA;
		is += q->quota ? one : 0;
	}
	*done = is == was || __sync_val_compare_and_swap(&q->state, was, is) == was;
	if (*done && !was != !is)
		count(is ? CONGESTION_BEGAN : CONGESTION_ENDED);
	return met;
}

// observe takes a packet that went through the queue of a port: what it met there. reportable: it can be reported.
GLOBAL int observe(u32 port, u64 bytes, u64 ns, bool reportable)
{
	struct queue *q = find_queue(port);
	if (!q)
		return 0;
	for (int i = 0; i < ATTEMPTS; i++) {
		u64 was = *(volatile u64 *)&q->state, is = was;
		bool done;
		if (!was && reached(q, bytes, ns))
			is = CONGESTED;
		else if (was && is_over(q, bytes, ns))
			is = 0;
		u8 met = change(q, was, is, reportable, ONE_REPORT, &done);
		if (done)
			return met;
	}
	return q->state ? MET_CONGESTION : 0;
}

// overflow takes a packet that the queue of a port had no room for.
static __always_inline u8 overflow(u32 port)
{
	struct queue *q = find_queue(port);
	if (!q)
		return 0;
	for (int i = 0; i < ATTEMPTS; i++) {
		u64 was = *(volatile u64 *)&q->state;
		bool done;
		u8 met = change(q, was, was | CONGESTED, q->tail_drop, ONE_DROP, &done);
		if (done)
			return met;
	}
	return MET_CONGESTION;
}

// overflows says whether a reason for a drop is that of a full queue.
static __always_inline bool overflows(u32 reason)
{
	return reason < 256 && full_reasons[reason / 64 & 3] >> (reason & 63) & 1;
}
