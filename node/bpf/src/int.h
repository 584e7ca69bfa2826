// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
// INT in the versions that the programs know, as package embed reads it.
#pragma once

#include "packet.h"

// int_header returns the length of the INT header.
static __always_inline u32 int_header(void) { return version == INT_20 ? 12 : 8; }

// shim_length returns where in the shim, or in the option of Geneve, its Length stands. In a shim up to INT 1.0 it
// counts the shim itself.
static __always_inline u32 shim_length(void)
{
	if (carrier == IN_GENEVE)
		return 3;
	return version == INT_20 ? 1 : 2;
}

// flag_e and flag_m return the masks of flags in the first two bytes of the INT header.
static __always_inline u16 flag_e(void) { return version == INT_10 ? 0x0100 : 0x0400; }

static __always_inline u16 flag_m(void) { return version == INT_10 ? 0x0080 : 0x0200; }

// width returns the bytes of a record with the metadata of a bitmap: a word for each bit, and another one for level 2
// interfaces, and from INT 2.0 on for timestamps (INT 2.1 5.8).
static __always_inline u32 width(u16 bitmap)
{
	u32 n = bitmap;
	n -= n >> 1 & 0x5555;
	n = (n & 0x3333) + (n >> 2 & 0x3333);
	n = (n + (n >> 4)) & 0x0F0F;
	n = (n + (n >> 8)) & 0x1F;
	if (version == INT_20)
		n += (bitmap >> 11 & 1) + (bitmap >> 10 & 1);
	if (version != INT_2016)
		n += bitmap >> 9 & 1;
	return 4 * n;
}

// plain returns a bitmap without the checksum complement, which a node here leaves unused.
static __always_inline u16 plain(u16 bitmap) { return version == INT_2016 ? bitmap : bitmap & ~COMPLEMENT; }

// has_bottom says whether the bottom of stack bit is in the last one of so many words, and only there.
GLOBAL int has_bottom(u32 at, u32 words)
{
	struct scratch *s = scratch();
	for (u32 i = 0; s && i < 256 && i < words; i++)
		if (get8(s, at + 4 * i) >> 7 != (i == words - 1))
			return false;
	return true;
}

// read_2016 reads the header of June 2016 behind the shim, and says whether it breaks a rule.
static __always_inline bool read_2016(struct scratch *s, struct packet *p)
{
	u32 header = p->shim + SHIM, body = p->stack_end - header - int_header();
	if (p->stack_end < header + int_header() || get8(s, header) >> 6)
		return true;
	p->flags = get16(s, header);
	p->discard = p->flags & 0x0800; // C: a copy
	p->hop_ml = get8(s, header + 1) & 0x1F;
	u8 most = get8(s, header + 2), hops = get8(s, header + 3);
	p->remaining = hops < most ? most - hops : 0;
	p->first = !hops;
	p->bitmap = get16(s, header + 4);
	return width(p->bitmap) != 4 * p->hop_ml || body != 4 * p->hop_ml * hops || hops > most ||
	       !has_bottom(header + int_header(), body / 4);
}

// read_follow_up looks whether a destination header is that of a follow-up packet (INT 2016 4.2).
static __always_inline void read_follow_up(struct scratch *s, struct packet *p)
{
	u32 header = p->shim + SHIM;
	if (p->stack_end < header + int_header() || get8(s, header) >> 6 ||
	    width(get16(s, header + 4)) != 4 * (get8(s, header + 1) & 0x1F))
		return;
	p->discard = get8(s, header) & 0x08;
}

// read_10 reads the header of INT 1.0 behind the shim, and says whether it breaks a rule.
static __always_inline bool read_10(struct scratch *s, struct packet *p)
{
	u32 header = p->shim + SHIM, body = p->stack_end - header - int_header(), record;
	if (p->stack_end < header + int_header() || get8(s, header) >> 4 != 1)
		return true;
	p->flags = get16(s, header);
	p->discard = p->flags & 0x0200; // C: a copy
	p->hop_ml = get8(s, header + 2) & 0x1F;
	p->remaining = get8(s, header + 3);
	p->bitmap = get16(s, header + 4);
	record = 4 * p->hop_ml;
	return record != width(p->bitmap) || (record ? body % record : body);
}

// read_md reads the INT-MD header behind the shim, and says whether it breaks a rule.
static __always_inline bool read_md(struct scratch *s, struct packet *p)
{
	u32 header = p->shim + SHIM;
	if (p->stack_end < header + int_header() || get8(s, header) >> 4 != 2)
		return true;
	p->flags = get16(s, header);
	p->discard = p->flags >> 8 & FLAG_D;
	p->hop_ml = get8(s, header + 2) & 0x1F;
	p->remaining = get8(s, header + 3);
	p->bitmap = get16(s, header + 4);
	u16 domain = get16(s, header + 6);
	u32 record = 4 * p->hop_ml, body = p->stack_end - header - int_header(), base = width(p->bitmap);
	bool ours = device_domain && domain == device_domain;
	p->source_only = domain && !ours;
	if (ours && get16(s, header + 8) & DEVICE_BIT) {
		if (body < DEVICE)
			return true;
		body -= DEVICE;
		p->source_only = true;
	}
	if (record < base || (!domain && record > base))
		return true;
	if (!record)
		return body && (!domain || ours);
	// What source-only metadata another domain has is not known here: a remainder is taken for them.
	return (!domain || ours) && body % record;
}

// read_mx does so with an INT-MX header.
static __always_inline bool read_mx(struct scratch *s, struct packet *p)
{
	u32 header = p->shim + SHIM;
	if (p->stack_end < header + int_header() || get8(s, header) >> 4 != 2)
		return true;
	p->discard = get8(s, header) & FLAG_D;
	return false;
}

// read_contents reads what the shim or option covers, and says whether it breaks a rule.
static __always_inline bool read_contents(struct scratch *s, struct packet *p)
{
	if (p->type == TYPE_MD && version == INT_2016)
		return read_2016(s, p);
	if (p->type == TYPE_MD)
		return version == INT_10 ? read_10(s, p) : read_md(s, p);
	if (p->type == TYPE_MX && version == INT_20)
		return read_mx(s, p);
	if (version == INT_2016)
		read_follow_up(s, p);
	return p->type != TYPE_DESTINATION && !(p->type == TYPE_MX && carrier == IN_GENEVE);
}

// undoable says whether the shim tells what the packet was before INT, and where INT begins.
static __always_inline bool undoable(struct scratch *s, struct packet *p)
{
	if (carrier == BY_DSCP)
		return !p->npt;
	if (p->npt == NPT_PORT)
		p->next = get16(s, p->shim + 2);
	if (p->npt != NPT_PROTOCOL)
		return p->npt == NPT_PORT;
	p->next = get8(s, p->shim + 3);
	p->start = p->l4;
	return true;
}

// read_int reads the INT behind the L4 header.
static __always_inline void read_int(struct scratch *s, struct packet *p, u32 end)
{
	u8 first = get8(s, p->payload);
	u32 length;
	p->present = true;
	p->start = p->shim = p->payload;
	p->malformed = true;
	if (end < p->shim + SHIM)
		return;
	// The first nibble tells the shim of INT 2.x, with its type, from that of older versions; otherwise it is no type.
	bool old = first >> 4 == 0 || (first >> 4 > TYPE_MX && version != INT_20);
	p->dscp_before = get8(s, p->shim + 3) >> 2;
	p->type = old ? first : first >> 4;
	p->npt = old ? 0 : first >> 2 & 3;
	length = old ? 4 * get8(s, p->shim + 2) : SHIM + 4 * get8(s, p->shim + 1);
	if (length < SHIM || p->shim + length > end || (old && carrier != BY_DSCP) || !undoable(s, p))
		return;
	p->end_int = p->stack_end = p->shim + length;
	if (old == (version != INT_20))
		p->malformed = read_contents(s, p);
}
