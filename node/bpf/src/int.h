// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
// INT in the versions that the programs know, as package embed reads it.
#pragma once

#include "packet.h"

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
	p->dscp_before = get8(s, p->shim + 3) >> 2;
	if (first >> 4) {
		p->type = first >> 4;
		p->npt = first >> 2 & 3;
		length = SHIM + 4 * get8(s, p->shim + 1);
		if (p->shim + length > end || !undoable(s, p))
			return;
	} else { // a shim up to INT 1.0
		length = 4 * get8(s, p->shim + 2);
		if (length < SHIM || p->shim + length > end || carrier != BY_DSCP)
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
