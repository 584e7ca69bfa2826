// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
// INT in the versions that the programs know, as package embed reads it.
#pragma once

#include "packet.h"

// int_header returns the length of the INT header.
static __always_inline u32 int_header(void) { return version == INT_20 ? 12 : 8; }

// shim_length returns where in the shim its Length stands, which counts the shim itself up to INT 1.0.
static __always_inline u32 shim_length(void) { return version == INT_20 ? 1 : 2; }

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
	return 4 * (n + (bitmap >> 9 & 1));
}

// read_10 reads the header of INT 1.0 behind the shim, and says whether it breaks a rule.
static __always_inline bool read_10(struct scratch *s, struct packet *p)
{
	u32 header = p->shim + SHIM, body = p->end_int - header - int_header(), record;
	if (p->end_int < header + int_header() || get8(s, header) >> 4 != 1)
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
	if (p->end_int < header + int_header() || get8(s, header) >> 4 != 2)
		return true;
	p->flags = get16(s, header);
	p->discard = p->flags >> 8 & FLAG_D;
	p->hop_ml = get8(s, header + 2) & 0x1F;
	p->remaining = get8(s, header + 3);
	p->bitmap = get16(s, header + 4);
	u16 domain = get16(s, header + 6);
	u32 record = 4 * p->hop_ml, body = p->end_int - header - int_header(), base = width(p->bitmap);
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

// read_mx does so with an INT-MX header.
static __always_inline bool read_mx(struct scratch *s, struct packet *p)
{
	u32 header = p->shim + SHIM;
	if (p->end_int < header + int_header() || get8(s, header) >> 4 != 2)
		return true;
	p->discard = get8(s, header) & FLAG_D;
	return false;
}

// read_contents reads what the shim or option covers, and says whether it breaks a rule.
static __always_inline bool read_contents(struct scratch *s, struct packet *p)
{
	if (p->type == TYPE_MD)
		return version == INT_10 ? read_10(s, p) : read_md(s, p);
	if (p->type == TYPE_MX && version == INT_20)
		return read_mx(s, p);
	return p->type != TYPE_DESTINATION;
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
	p->end_int = p->shim + length;
	if (old == (version != INT_20))
		p->malformed = read_contents(s, p);
}
