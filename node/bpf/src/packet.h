// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
// Reading packets, as package embed does. Offsets are from the start of the frame, whose front is in scratch.head: an
// offset is cut to HEAD where it is used, so that no packet, whatever it says of itself, makes a read go astray.
#pragma once

#include "maps.h"

#define ETHERNET 14
#define MAC 6 // of the sender
#define UDP 8
#define TAG 4
#define TAGS 2 // VLAN tags that are read at most
#define FRONT 200 // enough for Ethernet, two tags, IP, TCP, shim and INT header with all options
#define EDITED 768 // of a packet, at most, in front of what is inserted or removed
#define INNER 384   // bytes of headers in a tunnel
#define LAST_L4 (FRONT - 60 - SHIM - 12) // where a L4 header may begin at most
#define EXTENSIONS 6 // IPv6 extension headers that are read at most
#define IPV4 20
#define IPV6 40

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86DD
#define ETHERTYPE_VLAN 0x8100
#define ETHERTYPE_SERVICE_VLAN 0x88A8
#define ETHERTYPE_QINQ 0x9100
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

#define DEVICE 8 // bytes of the device that sent a packet: its MAC address and two zeros
#define COMPLEMENT 0x0001 // bit of the Instruction Bitmap
#define DEVICE_BIT 0x8000

#define NPT_PORT 1
#define NPT_PROTOCOL 2

#define FLAG_D 0x08 // in the first byte of the INT header

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
	u32 l3, l4, payload, end;
	u32 protocol_at; // offset of what says the protocol
	u32 sum; // offset of the checksum
	u32 total; // of the IP packet
	bool v6;
	u16 vlans[TAGS]; // ids in the tags, the outermost first; 0: none
	u16 src_port, dst_port;
	u8 protocol, dscp, ttl;
	u8 summed;
	bool fragment, later, bad_length, tunnel;

	// What the tunnel is, and where its header begins; of a packet in it, and its id.
	u8 tunnel_kind;
	bool bad_options; // of Geneve: cut off, or too many
	u32 tunnel_at, tunnel_id;

	// INT. end_int 0: nobody can say where it ends, or what the packet was before.
	bool present, malformed, discard;
	u8 type, npt;
	bool g;   // it was VXLAN, and was made VXLAN-GPE for INT
	u16 next; // what the packet was: its port with NPT 1, its protocol with NPT 2, Next Protocol in VXLAN-GPE
	u32 start, shim, stack_end, end_int;
	u8 hop_ml, remaining;
	u16 flags;  // the first two bytes of the header
	bool source_only; // there are metadata of the source alone, or may be
	bool first; // 2016: no node has added a record
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

// tunnels says whether INT is in tunnels.
static __always_inline bool tunnels(void) { return carrier >= IN_GPE; }

// fresh says whether INT in a packet has a UDP header of its own.
static __always_inline bool fresh(const struct packet *p)
{
	if (carrier >= BY_DSCP)
		return false;
	return p->present ? p->npt == NPT_PROTOCOL : carrier == BY_NEW_UDP || p->protocol != PROTO_UDP;
}

// behind returns where a packet goes on that INT was taken from, its L4 header included.
static __always_inline u32 behind(const struct packet *p)
{
	if (!p->end_int)
		return p->payload;
	return p->end_int + (fresh(p) ? 60 : 0);
}

static __always_inline u8 dscp_class(const struct packet *p)
{
	if (!p->present)
		return cleaned(p->dscp);
	return cleaned((p->dscp & ~dscp_mask) | (p->dscp_before & dscp_mask));
}

static __always_inline bool is_vlan(u16 ether_type)
{
	return ether_type == ETHERTYPE_VLAN || ether_type == ETHERTYPE_SERVICE_VLAN || ether_type == ETHERTYPE_QINQ;
}
