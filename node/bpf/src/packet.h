// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
// Reading packets, as package embed does. Offsets are from the start of the frame, whose front is in scratch.head: an
// offset is cut to HEAD where it is used, so that no packet, whatever it says of itself, makes a read go astray.
#pragma once

#include "maps.h"

#define ETHERNET 14
#define MAC 6 // of the sender
#define FRONT 192 // enough for Ethernet, IP, TCP, shim and INT header with all options
#define LAST_L4 (FRONT - 60 - SHIM - INT_HEADER) // where a L4 header may begin at most
#define EXTENSIONS 6 // IPv6 extension headers that are read at most
#define IPV4 20
#define IPV6 40

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86DD
#define PROTO_HOP_BY_HOP 0
#define PROTO_IPV4 4
#define PROTO_TCP 6
#define PROTO_UDP 17
#define PROTO_IPV6 41
#define PROTO_ROUTING 43
#define PROTO_FRAGMENT 44
#define PROTO_GRE 47
#define PROTO_DEST_OPTIONS 60
#define PROTO_SCTP 132

#define TYPE_MD 1
#define TYPE_DESTINATION 2
#define TYPE_MX 3

#define SHIM 4
#define INT_HEADER 12

#define DEVICE 8 // bytes of the device that sent a packet: its MAC address and two zeros
#define DEVICE_BIT 0x8000

#define FLAG_D 0x08
#define FLAG_E 0x04
#define FLAG_M 0x02

static __always_inline u8 get8(struct scratch *s, u32 offset)
{
	asm volatile("" : "+r"(offset));
	return s->head[offset & MASK];
}

static __always_inline u16 get16(struct scratch *s, u32 offset)
{
	asm volatile("" : "+r"(offset));
	return bpf_ntohs(*(u16 *)&s->head[offset & MASK]);
}

static __always_inline u32 get32(struct scratch *s, u32 offset)
{
	asm volatile("" : "+r"(offset));
	return bpf_ntohl(*(u32 *)&s->head[offset & MASK]);
}

static __always_inline u64 get64(struct scratch *s, u32 offset)
{
	return (u64)get32(s, offset) << 32 | get32(s, offset + 4);
}

static __always_inline void put8(struct scratch *s, u32 offset, u8 v)
{
	asm volatile("" : "+r"(offset));
	s->head[offset & MASK] = v;
}

static __always_inline void put16(struct scratch *s, u32 offset, u16 v)
{
	asm volatile("" : "+r"(offset));
	*(u16 *)&s->head[offset & MASK] = bpf_htons(v);
}

enum summed {
	SUM_NONE,
	SUM_UDP,
	SUM_TCP,
};

// A packet is what is known of one, see embed.Packet.
struct packet {
	u32 len;
	u32 l4, payload, end;
	u32 sum; // offset of the checksum
	u32 total; // of the IP packet
	bool v6;
	u16 src_port, dst_port;
	u8 protocol, dscp, ttl;
	u8 summed;
	bool fragment, later, bad_length, tunnel;

	// INT. end_int 0: nobody can say where it ends, or what the packet was before.
	bool present, malformed, discard;
	u8 type;
	u32 shim, end_int;
	u8 hop_ml, remaining, flags;
	u16 bitmap;
	u8 dscp_before;
};

static __always_inline bool marks(u8 dscp)
{
	return dscp_mask && (dscp & dscp_mask) == (dscp_value & dscp_mask);
}

// cleaned returns a DSCP that does not mark INT.
static __always_inline u8 cleaned(u8 dscp)
{
	return marks(dscp) ? dscp & ~dscp_mask : dscp;
}

static __always_inline u8 dscp_class(const struct packet *p)
{
	if (!p->present)
		return cleaned(p->dscp);
	return cleaned((p->dscp & ~dscp_mask) | (p->dscp_before & dscp_mask));
}

// width returns the bytes of a record with the metadata of a bitmap (INT 2.1 5.8): a word for each bit, and another one
// for timestamps and level 2 interfaces.
static __always_inline u32 width(u16 bitmap)
{
	u32 n = bitmap;
	n -= n >> 1 & 0x5555;
	n = (n & 0x3333) + (n >> 2 & 0x3333);
	n = (n + (n >> 4)) & 0x0F0F;
	n = (n + (n >> 8)) & 0x1F;
	return 4 * (n + (bitmap >> 11 & 1) + (bitmap >> 10 & 1) + (bitmap >> 9 & 1));
}

static __always_inline bool is_tunnel(u16 port)
{
	return port == 4789 || port == 4790 || port == 6081;
}

// read_md reads the INT-MD header behind the shim, and says whether it breaks a rule.
static __always_inline bool read_md(struct scratch *s, struct packet *p)
{
	u32 header = p->shim + SHIM;
	if (p->end_int < header + INT_HEADER || get8(s, header) >> 4 != 2)
		return true;
	p->flags = get8(s, header);
	p->discard = p->flags & FLAG_D;
	p->hop_ml = get8(s, header + 2) & 0x1F;
	p->remaining = get8(s, header + 3);
	p->bitmap = get16(s, header + 4);
	u16 domain = get16(s, header + 6);
	u32 record = 4 * p->hop_ml, body = p->end_int - header - INT_HEADER, base = width(p->bitmap);
	bool ours = device_domain && domain == device_domain;
	if (ours && get16(s, header + 8) & DEVICE_BIT) {
		if (body < DEVICE)
			return true;
		body -= DEVICE;
	}
	if (record < base || (!domain && record > base))
		return true;
	if (!record)
		return body && (!domain || ours);
	// What source-only metadata another domain has is not known here: a remainder is taken for them.
	return (!domain || ours) && body % record;
}

// read_int reads the INT behind the L4 header.
static __always_inline void read_int(struct scratch *s, struct packet *p, u32 end)
{
	u8 first = get8(s, p->payload);
	u32 length;
	p->present = true;
	p->shim = p->payload;
	p->malformed = true;
	if (end < p->shim + SHIM)
		return;
	p->dscp_before = get8(s, p->shim + 3) >> 2;
	if (first >> 4) {
		p->type = first >> 4;
		length = SHIM + 4 * get8(s, p->shim + 1);
		if (p->shim + length > end || (first >> 2 & 3)) // marked by DSCP it has NPT 0
			return;
	} else { // a shim up to INT 1.0
		length = 4 * get8(s, p->shim + 2);
		if (length < SHIM || p->shim + length > end)
			return;
	}
	p->end_int = p->shim + length;
	if (p->type == TYPE_MD) {
		p->malformed = read_md(s, p);
	} else if (p->type == TYPE_MX) {
		p->malformed = length < SHIM + INT_HEADER || get8(s, p->shim + SHIM) >> 4 != 2;
		p->discard = !p->malformed && get8(s, p->shim + SHIM) & FLAG_D;
	} else {
		p->malformed = p->type != TYPE_DESTINATION;
	}
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
	if (p->len < ETHERNET + IPV4 || get8(s, ETHERNET) >> 4 != 4)
		return BROKEN;
	u32 n = 4 * (get8(s, ETHERNET) & 0x0F);
	p->total = get16(s, ETHERNET + 2);
	p->end = ETHERNET + p->total;
	p->l4 = p->payload = ETHERNET + n;
	p->dscp = get8(s, ETHERNET + 1) >> 2;
	p->ttl = get8(s, ETHERNET + 8);
	p->protocol = get8(s, ETHERNET + 9);
	u16 fragment = get16(s, ETHERNET + 6);
	p->fragment = fragment & 0x3FFF;
	p->later = fragment & 0x1FFF;
	return n >= IPV4 && p->total >= n && p->end <= p->len ? PARSED : BROKEN;
}

static __always_inline int parse6(struct scratch *s, struct packet *p)
{
	if (p->len < ETHERNET + IPV6 || get8(s, ETHERNET) >> 4 != 6)
		return BROKEN;
	p->total = IPV6 + get16(s, ETHERNET + 4);
	p->end = ETHERNET + p->total;
	p->l4 = p->payload = ETHERNET + IPV6;
	p->dscp = get16(s, ETHERNET) >> 6 & 0x3F;
	p->ttl = get8(s, ETHERNET + 7);
	p->protocol = get8(s, ETHERNET + 6);
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
		p->protocol = get8(s, p->l4);
		p->l4 = p->payload = p->l4 + n;
		if (p->later)
			return PARSED; // what follows is not a header
		if (p->l4 > LAST_L4)
			return NOT_READ;
	}
	return is_extension(p->protocol) ? NOT_READ : PARSED;
}

// parse reads the front of a frame. inside: INT is looked for.
GLOBAL int parse(struct packet *p, bool inside)
{
	struct scratch *s = scratch();
	if (!s || !p)
		return BROKEN;
	if (p->len < ETHERNET)
		return BROKEN;
	u16 ether_type = get16(s, 12);
	p->v6 = ether_type == ETHERTYPE_IPV6;
	if (!p->v6 && ether_type != ETHERTYPE_IPV4)
		return NOT_READ;
	int parsed = p->v6 ? parse6(s, p) : parse4(s, p);
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
		if (inside && marks(p->dscp) &&
		    (!p->tunnel || (first >> 4 >= 1 && first >> 4 <= 3) || (first >> 4 == 0 && first >= 1 && first <= 2)))
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
