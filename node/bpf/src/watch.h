// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
// Watchlists, as node/watch compiles them, and sampling, as watch.Sampler and node do it.
#pragma once

#include "parse.h"

// Capacities of a half of the maps of watchlists. The loader sets them.
const volatile u32 max_tables = 1, max_actions = 1;

#define NO_RANK (~0U)
#define BUCKET 64 // rules in a bucket, at most

struct search {
	u64 key[6];
	u32 first; // table
	u32 best;
};

// spread is the hash by which the loader has put rules into buckets. It is of this map alone.
static __always_inline u64 spread(const u64 *mask, const u64 *key)
{
	u64 h = 0;
#pragma unroll
	for (int i = 0; i < 6; i++) {
		h = (h ^ (key[i] & mask[i])) * 0x9e3779b97f4a7c15;
		h ^= h >> 32;
	}
	return h * 0x9e3779b97f4a7c15;
}

static __always_inline bool matches(const struct rule *r, const u64 *key)
{
	u64 differ = 0;
#pragma unroll
	for (int i = 0; i < 6; i++)
		differ |= (key[i] ^ r->value[i]) & r->mask[i];
	u16 src = key[0] >> 48, dst = key[0] >> 32;
	return !differ && src >= r->src_low && src <= r->src_high && dst >= r->dst_low && dst <= r->dst_high;
}

static long search_table(u32 i, struct search *c)
{
	u32 at = c->first + i;
	struct table *t = bpf_map_lookup_elem(&tables, &at);
	if (!t || t->best >= c->best)
		return 1; // and so are all that follow
	at = t->first + (u32)(spread(t->mask, c->key) >> (t->shift & 63));
	struct bucket *b = bpf_map_lookup_elem(&buckets, &at);
	if (!b)
		return 0;
	u32 first = b->first, n = b->count;
	for (u32 j = 0; j < BUCKET && j < n; j++) {
		at = first + j;
		struct rule *r = bpf_map_lookup_elem(&rules, &at);
		if (!r || r->rank >= c->best)
			break;
		if (matches(r, c->key)) {
			c->best = r->rank;
			break;
		}
	}
	return 0;
}

// Halves of the addresses, as telemetry.Addr has them: IPv4 as IPv4-mapped IPv6.
static __always_inline u64 src_low(struct scratch *s, const struct packet *p)
{
	return p->v6 ? get64(s, p->l3 + 16) : 0xFFFFULL << 32 | get32(s, p->l3 + 12);
}

static __always_inline u64 dst_low(struct scratch *s, const struct packet *p)
{
	return p->v6 ? get64(s, p->l3 + 32) : 0xFFFFULL << 32 | get32(s, p->l3 + 16);
}

static __always_inline u64 src_high(struct scratch *s, const struct packet *p)
{
	return p->v6 ? get64(s, p->l3 + 8) : 0;
}

static __always_inline u64 dst_high(struct scratch *s, const struct packet *p)
{
	return p->v6 ? get64(s, p->l3 + 24) : 0;
}

// pack fills the words of a packet that rules are compared with.
static __always_inline void pack(struct scratch *s, const struct packet *p, u32 in_port, u64 *key)
{
	key[0] = (u64)p->src_port << 48 | (u64)p->dst_port << 32 | (u64)p->protocol << 24 | (u64)dscp_class(p) << 12 |
		 p->vlans[0];
	key[1] = (u64)p->tunnel_id << 32 | in_port;
	if (p->tunnel_kind)
		key[0] |= 1 << 18;
	key[2] = src_low(s, p);
	key[3] = dst_low(s, p);
	key[4] = src_high(s, p);
	key[5] = dst_high(s, p);
}

struct sifting {
	u64 key[6], mac;
	bool hit;
};

struct bpf_map;

static long sift(struct bpf_map *map, const u32 *id, struct filter *f, struct sifting *c)
{
	u64 differ = (c->mac ^ f->mac) & f->mac_mask;
#pragma unroll
	for (int i = 0; i < 6; i++)
		differ |= (c->key[i] ^ f->value[i]) & f->mask[i];
	if (differ)
		return 0;
	__sync_fetch_and_add(&f->packets, 1);
	c->hit = true;
	return 1;
}

// filtered says whether a filter drops a packet, and counts it there.
GLOBAL int filtered(const struct packet *p, u32 in_port)
{
	struct scratch *s = scratch();
	if (!s || !p)
		return false;
	struct sifting c = {.mac = (u64)get32(s, 6) << 16 | get16(s, 10)};
	pack(s, p, in_port, c.key);
	bpf_for_each_map_elem(&filters, sift, &c, 0);
	return c.hit;
}

// match returns where in actions it stands what the watchlist says of a packet; -1: it is not on it.
GLOBAL int match(const struct packet *p, u32 in_port)
{
	struct scratch *s = scratch();
	if (!s || !p)
		return -1;
	u32 half = active & 1, part = 2 * half + p->v6;
	u32 *n = bpf_map_lookup_elem(&table_counts, &part);
	if (!n)
		return -1;
	struct search c = {
		.first = part * max_tables,
		.best = NO_RANK,
	};
	pack(s, p, in_port, c.key);
	bpf_loop(*n, search_table, &c, 0);
	return c.best == NO_RANK ? -1 : (int)(half * max_actions + c.best);
}

static __always_inline u64 high64(u64 a, u64 b)
{
	u64 al = (u32)a, ah = a >> 32, bl = (u32)b, bh = b >> 32;
	u64 low = al * bl, m1 = ah * bl, m2 = al * bh;
	u64 carry = (low >> 32) + (u32)m1 + (u32)m2;
	return ah * bh + (m1 >> 32) + (m2 >> 32) + (carry >> 32);
}

// mix is the folded multiplication of wyhash.
static __always_inline u64 mix(u64 a, u64 b)
{
	return high64(a, b) ^ (a * b);
}

// hash_of is telemetry.FlowKey.Hash: of the halves of the addresses, both ports, and protocol and kind of tunnel.
static __always_inline u64 hash_of(u64 src_high, u64 src_low, u64 dst_high, u64 dst_low, u64 ports, u64 protocol)
{
	u64 h = mix(src_high ^ 0xa0761d6478bd642f, src_low ^ 0xe7037ed1a0b428db);
	h ^= mix(dst_high ^ 0x8ebc6af09c88c6e3, dst_low ^ h);
	return mix(ports ^ h, protocol ^ 0x589965cc75374cc3);
}

static __always_inline u64 flow_hash(struct scratch *s, const struct packet *p)
{
	return hash_of(src_high(s, p), src_low(s, p), dst_high(s, p), dst_low(s, p),
		       (u64)p->src_port << 48 | (u64)p->dst_port << 32 | p->tunnel_id,
		       (u64)p->protocol << 8 | p->tunnel_kind);
}

static __always_inline u64 mix_in(u64 h, u64 x)
{
	return mix(h ^ 0xa0761d6478bd642f, x ^ 0xe7037ed1a0b428db);
}

// packet_hash is of what does not change on the way of a packet with flow q, and differs between packets of a flow, see
// node.
static __always_inline u64 packet_hash(struct scratch *s, const struct packet *p, const struct packet *q)
{
	u64 h = flow_hash(s, q);
	if (!p->v6)
		h = mix_in(h, get16(s, p->l3 + 4)); // Identification
	for (u32 i = 0; i < 4 && p->l4 + 8 * i + 8 <= p->end; i++) {
		u32 at = p->l4 + 8 * i;
		h = mix_in(h, (u64)bpf_ntohl(get32(s, at + 4)) << 32 | bpf_ntohl(get32(s, at)));
	}
	return h;
}

// is_one_of says whether a hash chooses its packet as the 1 in so many.
static __always_inline bool is_one_of(u64 x, u32 sample)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return !high64(x ^ x >> 31, sample);
}

// take says whether a packet with flow q is one of the 1 in so many that an action is for.
GLOBAL int take(const struct packet *p, const struct packet *q, const struct action *a)
{
	struct scratch *s = scratch();
	if (!s || !p || !q || !a)
		return false;
	u64 x = a->random ? (u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32() : packet_hash(s, p, q);
	return is_one_of(x, a->sample);
}
