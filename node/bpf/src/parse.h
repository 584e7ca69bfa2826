// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
// From the front of a frame to a struct packet.
#pragma once

#include "int.h"

static __always_inline bool is_tunnel(u16 port)
{
	return port == 4789 || port == 4790 || port == 6081;
}

enum parsed {
	PARSED,
	NOT_READ,
	BROKEN,
};

static __always_inline bool is_extension(u8 protocol)
{
	return protocol == PROTO_HOP_BY_HOP || protocol == PROTO_ROUTING || protocol == PROTO_FRAGMENT ||
	       protocol == PROTO_DEST_OPTIONS;
}

static __always_inline int parse4(struct scratch *s, struct packet *p)
{
	if (p->len < p->l3 + IPV4 || get8(s, p->l3) >> 4 != 4)
		return BROKEN;
	u32 n = 4 * (get8(s, p->l3) & 0x0F);
	p->total = get16(s, p->l3 + 2);
	p->end = p->l3 + p->total;
	p->l4 = p->payload = p->l3 + n;
	p->dscp = get8(s, p->l3 + 1) >> 2;
	p->ttl = get8(s, p->l3 + 8);
	p->protocol_at = p->l3 + 9;
	p->protocol = get8(s, p->protocol_at);
	u16 fragment = get16(s, p->l3 + 6);
	p->fragment = fragment & 0x3FFF;
	p->later = fragment & 0x1FFF;
	return n >= IPV4 && p->total >= n && p->end <= p->len ? PARSED : BROKEN;
}

static __always_inline int parse6(struct scratch *s, struct packet *p, u32 last)
{
	if (p->len < p->l3 + IPV6 || get8(s, p->l3) >> 4 != 6)
		return BROKEN;
	p->total = IPV6 + get16(s, p->l3 + 4);
	p->end = p->l3 + p->total;
	p->l4 = p->payload = p->l3 + IPV6;
	p->dscp = get16(s, p->l3) >> 6 & 0x3F;
	p->ttl = get8(s, p->l3 + 7);
	p->protocol_at = p->l3 + 6;
	p->protocol = get8(s, p->protocol_at);
	if (p->end > p->len)
		return BROKEN;
	for (int i = 0; i < EXTENSIONS && is_extension(p->protocol); i++) {
		u32 n = 8;
		if (p->protocol != PROTO_FRAGMENT) {
			n += 8 * get8(s, p->l4 + 1);
		} else {
			u16 fragment = get16(s, p->l4 + 2);
			p->later = fragment >> 3;
			p->fragment |= p->later || fragment & 1;
		}
		if (p->end - p->l4 < n)
			return BROKEN;
		p->protocol_at = p->l4;
		p->protocol = get8(s, p->l4);
		p->l4 = p->payload = p->l4 + n;
		if (p->later)
			return PARSED; // what follows is not a header
		if (p->l4 > last)
			return NOT_READ;
	}
	return is_extension(p->protocol) ? NOT_READ : PARSED;
}

// parse_link reads the headers in front of IP, and returns the EtherType.
static __always_inline u16 parse_link(struct scratch *s, struct packet *p, u32 at)
{
	at += ETHERNET;
	if (p->len < at)
		return 0;
	u16 ether_type = get16(s, at - 2);
	for (int i = 0; i < TAGS && is_vlan(ether_type); i++) {
		if (p->len < at + TAG)
			return 0;
		p->vlans[i] = get16(s, at) & 0x0FFF;
		at += TAG;
		ether_type = get16(s, at - 2);
	}
	p->l3 = at;
	return ether_type;
}

// parse_ip reads an IP packet whose L4 header begins at last at most.
static __always_inline int parse_ip(struct scratch *s, struct packet *p, u32 last, bool inside)
{
	int parsed = p->v6 ? parse6(s, p, last) : parse4(s, p);
	if (parsed != PARSED || p->later)
		return parsed;
	u32 end = p->end, space = end - p->l4;
	if (p->protocol == PROTO_GRE || p->protocol == PROTO_IPV4 || p->protocol == PROTO_IPV6) {
		p->tunnel = true;
	} else if (p->protocol == PROTO_SCTP && space >= 4) {
		p->src_port = get16(s, p->l4);
		p->dst_port = get16(s, p->l4 + 2);
	} else if (p->protocol == PROTO_UDP && space >= 8) {
		p->src_port = get16(s, p->l4);
		p->dst_port = get16(s, p->l4 + 2);
		u32 length = get16(s, p->l4 + 4);
		p->bad_length = length < 8 || length > space;
		if (!p->bad_length)
			end = p->l4 + length;
		p->payload = p->l4 + 8;
		p->summed = SUM_UDP;
		p->sum = p->l4 + 6;
		u8 first = p->payload < end ? get8(s, p->payload) : 0xFF;
		p->tunnel = is_tunnel(p->dst_port);
		// A tunnel may have copied its DSCP from the packet in it: there the shim must look like one.
		bool marked = carrier < BY_DSCP ? p->dst_port == int_port : marks(p->dscp) &&
			(!p->tunnel || (first >> 4 >= 1 && first >> 4 <= 3) || (first >> 4 == 0 && first >= 1 && first <= 2));
		if (inside && marked)
			read_int(s, p, end);
	} else if (p->protocol == PROTO_TCP && space >= 20) {
		p->src_port = get16(s, p->l4);
		p->dst_port = get16(s, p->l4 + 2);
		u32 header = 4 * (get8(s, p->l4 + 12) >> 4);
		if (header < 20 || header > space)
			return PARSED;
		p->payload = p->l4 + header;
		p->summed = SUM_TCP;
		p->sum = p->l4 + 16;
		if (inside && marks(p->dscp))
			read_int(s, p, end);
	}
	return PARSED;
}

// parse reads the front of a frame. inside: INT is looked for.
GLOBAL int parse(struct packet *p, bool inside)
{
	struct scratch *s = scratch();
	if (!s || !p)
		return BROKEN;
	u16 ether_type = parse_link(s, p, 0);
	if (!p->l3)
		return BROKEN;
	p->v6 = ether_type == ETHERTYPE_IPV6;
	if (!p->v6 && ether_type != ETHERTYPE_IPV4)
		return NOT_READ;
	return parse_ip(s, p, LAST_L4, inside);
}
