// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
// VXLAN, VXLAN-GPE and Geneve: INT in them, and the packets that they carry.
#pragma once

#include "parse.h"

#define TUNNEL 8 // bytes of the header of any of them, without options
#define PORT_VXLAN 4789
#define PORT_GPE 4790
#define PORT_GENEVE 6081
#define GPE_I 0x08
#define GPE_P 0x04
#define GPE_VERSION 0x30
#define GPE_NEXT 3 // offset of Next Protocol
#define NEXT_IPV4 1
#define NEXT_IPV6 2
#define NEXT_ETHERNET 3
#define NEXT_2016 5
#define SHIM_G 0x8000
#define ETHERTYPE_TEB 0x6558
#define GENEVE_WORDS 31   // of the data of an option
#define GENEVE_OPTIONS 63 // words of all options
#define CHAIN 4           // shims or options that are looked at
#define OPTIONS 16

static __always_inline bool is_gpe_int(u8 next)
{
	if (!next)
		return false;
	return next == (gpe_nexts & 0xFF) || next == (gpe_nexts >> 8 & 0xFF) || next == (gpe_nexts >> 16 & 0xFF) ||
	       next == gpe_nexts >> 24;
}

// gpe_next_of returns the Next Protocol of a VXLAN-GPE header.
static __always_inline u8 gpe_next_of(struct scratch *s, const struct packet *p)
{
	u8 flags = get8(s, p->tunnel_at), next = get8(s, p->tunnel_at + GPE_NEXT);
	bool is_2016 = version == INT_2016 && carrier == IN_GPE && flags & (GPE_I | GPE_P) && next == NEXT_2016;
	return flags & GPE_P || is_2016 ? next : NEXT_ETHERNET;
}

// find_tunnel finds out which tunnel begins behind a UDP header.
static __always_inline void find_tunnel(struct scratch *s, struct packet *p)
{
	u32 at = p->payload, left = p->end - at;
	u8 flags = get8(s, at), next = get8(s, at + GPE_NEXT);
	if (left < TUNNEL || left > p->len)
		return;
	p->tunnel_at = at;
	p->tunnel_id = get32(s, at + 4) >> 8;
	if (p->dst_port == PORT_VXLAN && flags & GPE_I)
		p->tunnel_kind = VXLAN;
	if (p->dst_port == PORT_GPE && (!(flags & GPE_VERSION) || (version == INT_2016 && carrier == IN_GPE &&
								   flags & (GPE_I | GPE_P) && next == NEXT_2016)))
		p->tunnel_kind = VXLAN_GPE;
	if (p->dst_port == PORT_GENEVE && !(flags >> 6) && left >= TUNNEL + 4 * (flags & 0x3F))
		p->tunnel_kind = GENEVE;
}

// take_shim reads the shim or option at an offset as that which nodes look at.
GLOBAL int take_shim(struct packet *p, u32 at, u32 end, u8 type, bool ours)
{
	struct scratch *s = scratch();
	if (!s || !p)
		return 0;
	p->shim = at;
	p->type = type;
	p->stack_end = end;
	p->malformed = !ours || read_contents(s, p);
	return 0;
}

// read_gpe reads the INT behind a VXLAN-GPE header: the header that nodes look at comes first, and destination headers
// behind it (INT 2.1 5.1).
static __always_inline void read_gpe(struct scratch *s, struct packet *p)
{
	u8 next = gpe_next_of(s, p);
	u32 at = p->tunnel_at + TUNNEL;
	for (int i = 0; i < CHAIN && is_gpe_int(next); i++) {
		u8 first = get8(s, at), type = first;
		u32 left = p->end - at, length = 4 * get8(s, at + 2);
		bool known = left >= SHIM && at < HEAD - FRONT;
		bool old = version == INT_2016 || first >> 4 == 0 || (first >> 4 > TYPE_MX && version != INT_20);
		if (!old) {
			type = first >> 4;
			length = SHIM + 4 * get8(s, at + 1);
			p->g |= known && get8(s, at + 2) & 0x80;
		}
		known &= length >= SHIM && length <= left;
		if (!p->present) {
			p->present = true;
			p->start = at;
			p->malformed = true;
			if (known)
				take_shim(p, at, at + length, type, old == (version != INT_20));
		} else if (!known) {
			p->malformed = true;
		} else if (p->type == TYPE_DESTINATION && type != TYPE_DESTINATION && !p->malformed) {
			take_shim(p, at, at + length, type, old == (version != INT_20));
		}
		p->end_int = known ? at + length : 0;
		if (!known)
			return;
		next = p->next = get8(s, at + 3);
		at += length;
	}
	if (is_gpe_int(next)) { // more than anybody sends: it is left alone
		p->malformed = true;
		p->end_int = 0;
	}
}

// read_geneve reads the INT among the options of a Geneve header.
static __always_inline void read_geneve(struct scratch *s, struct packet *p)
{
	u32 at = p->tunnel_at + TUNNEL, end = at + 4 * (get8(s, p->tunnel_at) & 0x3F), sizes = 0;
	for (int i = 0; i < OPTIONS && at < end; i++) {
		u32 size = SHIM + 4 * (get8(s, at + 3) & 0x1F);
		u8 type = get8(s, at + 2);
		bool ours = end - at >= SHIM && get16(s, at) == geneve_class, whole = end - at >= size;
		if (ours && !p->present) {
			p->present = true;
			p->start = at;
			p->malformed = true;
			if (whole)
				take_shim(p, at, at + size, type, true);
		} else if (ours && whole && p->type == TYPE_DESTINATION && type != TYPE_DESTINATION && !p->malformed) {
			take_shim(p, at, at + size, type, true);
		}
		if (!whole) { // there may be more of it
			p->bad_options = true;
			p->malformed = true;
			p->end_int = 0;
			return;
		}
		at += size;
		if (ours) {
			p->end_int = at;
			sizes += size;
		}
	}
	p->bad_options = at < end;
	if (p->present && (at < end || p->end_int - p->start != sizes)) { // others between them: it is left alone
		p->malformed = true;
		p->end_int = 0;
	}
}

// read_tunnel reads the INT in a tunnel. inside: it is looked for.
GLOBAL int read_tunnel(struct packet *p, bool inside)
{
	struct scratch *s = scratch();
	if (!s || !p || p->summed != SUM_UDP)
		return 0;
	find_tunnel(s, p);
	if (inside && carrier == IN_GPE && p->tunnel_kind == VXLAN_GPE)
		read_gpe(s, p);
	if (inside && carrier == IN_GENEVE && p->tunnel_kind == GENEVE)
		read_geneve(s, p);
	return 0;
}

// look_into makes q the packet in the tunnel that p is, as watchlists look at it, if it is an IP packet and no tunnel.
GLOBAL int look_into(const struct packet *p, struct packet *q)
{
	const u32 last = 768;
	struct scratch *s = scratch();
	if (!s || !p || !q || !p->tunnel_kind)
		return false;
	u32 at = p->tunnel_at + TUNNEL;
	u16 ether_type = ETHERTYPE_TEB;
	*q = (struct packet){.len = p->end, .tunnel_kind = p->tunnel_kind, .tunnel_id = p->tunnel_id};
	if (p->tunnel_kind == VXLAN_GPE) {
		u8 next = gpe_next_of(s, p);
		if (next != NEXT_ETHERNET)
			ether_type = next == NEXT_IPV4 || next == NEXT_IPV6 ? ETHERTYPE_IPV4 : 0;
	} else if (p->tunnel_kind == GENEVE) {
		ether_type = get16(s, p->tunnel_at + 2);
		at += 4 * (get8(s, p->tunnel_at) & 0x3F);
	}
	q->l3 = at;
	if (ether_type == ETHERTYPE_TEB) {
		q->l3 = 0;
		ether_type = parse_link(s, q, at);
	}
	if ((ether_type != ETHERTYPE_IPV4 && ether_type != ETHERTYPE_IPV6) || !q->l3)
		return false;
	q->v6 = get8(s, q->l3) >> 4 == 6; // as nodes take it, whatever announces it
	if (parse_ip(s, q, last, false) != PARSED || q->tunnel)
		return false;
	q->dscp = p->dscp;
	q->vlans[0] = p->vlans[0];
	return true;
}

// no_room says whether there is no place for INT in a tunnel.
static __always_inline bool no_room(struct scratch *s, const struct packet *p)
{
	u8 flags = get8(s, p->tunnel_at);
	if (p->bad_length)
		return true;
	if (carrier == IN_GENEVE)
		return p->tunnel_kind != GENEVE || p->bad_options;
	if (p->tunnel_kind == VXLAN) // it can be made VXLAN-GPE, and VXLAN again
		return version != INT_20 || flags != GPE_I || get8(s, p->tunnel_at + GPE_NEXT);
	return p->tunnel_kind != VXLAN_GPE || !(flags & GPE_P);
}
