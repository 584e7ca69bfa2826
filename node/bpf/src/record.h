// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
// Records, and what changes in a packet around them: lengths and checksums (RFC 1624), as package embed keeps them.
#pragma once

#include "tunnel.h"

#define NODE_ID 0x8000
#define L1_INTERFACES 0x4000
#define INGRESS_PORT_2016 L1_INTERFACES
#define HOP_LATENCY 0x2000
#define QUEUE 0x1000
#define INGRESS_TS 0x0800
#define EGRESS_TS 0x0400
#define EGRESS_PORT_2016 EGRESS_TS

#define RECORD 19 // words of one, at most

// A hop is the node's own metadata of a packet. out_port 0 and departed 0: not known yet; arrived 0: it never did.
struct hop {
	u32 in_port, out_port;
	u64 arrived, departed;
	u64 queue_bytes;
	bool bottom; // 2016: the record is that of the first node
};

static __always_inline void add(struct scratch *s, u32 *word, u32 v)
{
	u32 w = *word;
	asm volatile("" : "+r"(w));
	s->insert[w & 63] = bpf_htonl(v);
	*word += 1;
}

// add_time adds a timestamp, which up to INT 1.0 is the lower half of one.
static __always_inline void add_time(struct scratch *s, u32 *word, bool has, u64 at)
{
	if (version == INT_20)
		add(s, word, has ? at >> 32 : ~0);
	add(s, word, has ? at : ~0);
}

// add_2016 writes one in the format of June 2016: 31 bits for each, all ones where it is not known.
static __always_inline void add_2016(struct scratch *s, u32 word, u32 end, u16 bitmap, u16 has, const struct hop *h)
{
	const u32 ones = 0x7FFFFFFF, most = ones - 1;
	u64 latency = h->departed - h->arrived;
	for (int i = 0; i < 16 && word < end; i++) {
		u16 bit = 0x8000 >> i;
		u32 v = ones;
		if (!(bitmap & bit))
			continue;
		switch (has & bit) {
		case NODE_ID:
			v = node_id;
			break;
		case INGRESS_PORT_2016:
			v = h->in_port;
			break;
		case HOP_LATENCY:
			v = latency > most ? most : latency;
			break;
		case QUEUE:
			v = h->queue_bytes > most ? most : h->queue_bytes;
			break;
		case INGRESS_TS:
			v = h->arrived;
			break;
		case EGRESS_PORT_2016:
			v = h->out_port;
			break;
		}
		v &= ones;
		if (word + 1 == end && h->bottom)
			v |= 1 << 31;
		add(s, &word, v);
	}
}

// add_record writes a record of so many words to scratch.insert; what is not known is all ones (INT 2.1 5.8). Metadata
// that a bitmap asks for and that are not named here are never known.
GLOBAL int add_record(u32 word, u32 words, u16 bitmap, const struct hop *h)
{
	const u32 ones = ~0;
	struct scratch *s = scratch();
	if (!s || !h)
		return 0;
	u32 end = word + words;
	u16 has = bitmap & known;
	u64 departed = h->departed, arrived = h->arrived;
	if (!arrived)
		has &= ~(HOP_LATENCY | INGRESS_TS);
	if (!departed)
		has &= ~(HOP_LATENCY | QUEUE | EGRESS_TS); // in 2016 the last one is the egress port
	else if (departed < arrived)
		has &= ~HOP_LATENCY;
	if (version == INT_2016) {
		add_2016(s, word, end, bitmap, has, h);
		return 0;
	}
	if (bitmap & NODE_ID)
		add(s, &word, has & NODE_ID ? node_id : ones);
	if (bitmap & L1_INTERFACES)
		add(s, &word, has & L1_INTERFACES ? h->in_port << 16 | (h->out_port & 0xFFFF) : ones);
	if (bitmap & HOP_LATENCY) {
		u64 latency = departed - arrived;
		if (latency > 0xFFFFFFFE)
			latency = 0xFFFFFFFE;
		add(s, &word, has & HOP_LATENCY ? latency : ones);
	}
	if (bitmap & QUEUE) {
		u64 bytes = h->queue_bytes > 0xFFFFFE ? 0xFFFFFE : h->queue_bytes; // of queue 0
		add(s, &word, has & QUEUE ? bytes : ones);
	}
	if (bitmap & INGRESS_TS)
		add_time(s, &word, has & INGRESS_TS, arrived);
	if (bitmap & EGRESS_TS)
		add_time(s, &word, has & EGRESS_TS, departed);
	for (int i = 0; i < 32 && word < end; i++)
		add(s, &word, ones);
	return 0;
}

// A delta is how much the sum of a part of a packet has changed, not folded, see embed.delta.
static __always_inline u64 replaced(u16 before, u16 after)
{
	return (u64)(u16)~before + after;
}

static __always_inline u16 fold(u64 c)
{
	c = (c >> 32) + (c & 0xFFFFFFFF);
	c = (c >> 32) + (c & 0xFFFFFFFF);
	c = (c >> 16) + (c & 0xFFFF);
	c = (c >> 16) + (c & 0xFFFF);
	c = (c >> 16) + (c & 0xFFFF);
	return c;
}

static __always_inline u16 apply(u16 sum, u64 delta)
{
	return ~fold(delta + (u16)~sum);
}

// sum returns the folded sum of n bytes as words in network order.
static __always_inline u16 sum(void *from, u32 n)
{
	return bpf_ntohs(fold((u32)bpf_csum_diff(0, 0, from, n, 0)));
}

// sum_words returns the same, of words: for a few of them a helper takes longer. n is in bytes, and at most 4 * RECORD.
static __always_inline u16 sum_words(const u32 *words, u32 n)
{
	u64 c = 0;
	for (int i = 0; i < RECORD && 4 * i < n; i++)
		c += words[i];
	return bpf_ntohs(fold(c));
}

// ip16 changes a word of the IP header, and the checksum of an IPv4 header.
static __always_inline void ip16(struct scratch *s, const struct packet *p, u32 at, u16 v)
{
	u16 before = get16(s, at);
	put16(s, at, v);
	if (!p->v6)
		put16(s, p->l3 + 10, apply(get16(s, p->l3 + 10), replaced(before, v)));
}

static __always_inline void set_dscp(struct scratch *s, const struct packet *p, u8 v)
{
	u32 shift = p->v6 ? 6 : 2;
	ip16(s, p, p->l3, (get16(s, p->l3) & ~(0x3F << shift)) | v << shift);
}

// edit8 changes a byte behind the L4 header.
static __always_inline u64 edit8(struct scratch *s, const struct packet *p, u32 at, u8 v)
{
	u32 even = at - ((at - p->l4) & 1);
	u16 before = get16(s, even);
	put8(s, at, v);
	return replaced(before, get16(s, even));
}

static __always_inline void set_protocol(struct scratch *s, const struct packet *p, u8 v)
{
	if (p->v6)
		put8(s, p->protocol_at, v);
	else
		ip16(s, p, p->protocol_at - 1, p->ttl << 8 | v);
}

// set_port changes the destination port of a UDP header.
static __always_inline u64 set_port(struct scratch *s, const struct packet *p, u16 v)
{
	u16 before = get16(s, p->l4 + 2);
	put16(s, p->l4 + 2, v);
	return replaced(before, v);
}

static __always_inline void resize_ip(struct scratch *s, const struct packet *p, int n)
{
	u32 at = p->l3 + (p->v6 ? 4 : 2);
	ip16(s, p, at, get16(s, at) + n);
}

// resize makes the packet n bytes longer in all lengths that say so.
static __always_inline u64 resize(struct scratch *s, const struct packet *p, int n)
{
	resize_ip(s, p, n);
	if (p->summed == SUM_UDP) {
		u16 before = get16(s, p->l4 + 4);
		put16(s, p->l4 + 4, before + n);
		return 2 * replaced(before, before + n); // once in the pseudo header
	}
	if (p->summed == SUM_TCP) {
		u16 before = p->end - p->l4;
		return replaced(before, before + n);
	}
	return 0;
}

static __always_inline bool has_sum(struct scratch *s, const struct packet *p)
{
	return p->summed == SUM_TCP || (p->summed == SUM_UDP && get16(s, p->sum));
}

// finish brings the checksum that covers INT up to date.
static __always_inline void finish(struct scratch *s, const struct packet *p, u64 delta)
{
	if (!has_sum(s, p))
		return;
	u16 c = apply(get16(s, p->sum), delta);
	put16(s, p->sum, p->summed == SUM_UDP && !c ? 0xFFFF : c);
}
