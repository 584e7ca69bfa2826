// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
// A first look at usual packets, which most of them need no second one after.
#pragma once

#include "watch.h"

#define NO_SAMPLE (~0U)

#define NET16(at) bpf_ntohs(*(u16 *)(data + (at)))
#define NET64(at) ((u64)bpf_ntohl(*(u32 *)(data + (at))) << 32 | bpf_ntohl(*(u32 *)(data + (at) + 4)))

// passes says that nothing is done about a packet: it is one of TCP or UDP without VLAN tags, options and INT, and
// sampling leaves it out, or no watchlist is for it. false: it has to be looked at.
GLOBAL int passes(struct xdp_md *ctx, bool edge)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	bool asked = edge || has_xd;
	u32 sample = least_sample, last, n = IPV6;
	u16 ether_type;
	u8 dscp, protocol;
	if (queue_times || has_filters || (asked && sample < 2) || data + ETHERNET + IPV4 + UDP > end)
		return false;
	ether_type = NET16(ETHERNET - 2);
	if (ether_type == ETHERTYPE_IPV4) {
		u16 first = NET16(ETHERNET);
		if (first >> 8 != 0x45 || NET16(ETHERNET + 6) & 0x3FFF)
			return false;
		n = IPV4;
		last = NET16(ETHERNET + 2);
		dscp = (first & 0xFF) >> 2;
		protocol = *(u8 *)(data + ETHERNET + 9);
	} else if (ether_type == ETHERTYPE_IPV6 && data + ETHERNET + IPV6 + UDP <= end) {
		u16 first = NET16(ETHERNET);
		if (first >> 12 != 6)
			return false;
		last = IPV6 + NET16(ETHERNET + 4);
		dscp = first >> 6 & 0x3F;
		protocol = *(u8 *)(data + ETHERNET + 6);
	} else {
		return false;
	}
	if (last < n + (protocol == PROTO_TCP ? 20 : UDP) || data + ETHERNET + last > end || marks(dscp) ||
	    (protocol != PROTO_TCP && protocol != PROTO_UDP))
		return false;
	u8 *l4 = data + ETHERNET + n;
	if (l4 + UDP > (u8 *)end)
		return false;
	u16 port = bpf_ntohs(*(u16 *)(l4 + 2));
	if (protocol == PROTO_UDP && (is_tunnel(port) || (carrier < BY_DSCP && port == int_port)))
		return false;
	if (!asked || sample == NO_SAMPLE)
		return true;

	u64 h, ports = (u64)bpf_ntohs(*(u16 *)l4) << 48 | (u64)port << 32, mapped = 0xFFFFULL << 32; // see packet_hash
	if (n == IPV4) {
		u64 both = NET64(ETHERNET + 12);
		h = hash_of(0, mapped | both >> 32, 0, mapped | (u32)both, ports, protocol << 8);
		h = mix_in(h, NET16(ETHERNET + 4));
	} else if (data + ETHERNET + IPV6 <= end) { // for the verifier
		h = hash_of(NET64(ETHERNET + 8), NET64(ETHERNET + 16), NET64(ETHERNET + 24), NET64(ETHERNET + 32), ports,
			    protocol << 8);
	} else {
		return false;
	}
	for (u32 i = 0; i < 4 && n + 8 * i + 8 <= last; i++, l4 += 8) {
		if (l4 + 8 > (u8 *)end)
			return false;
		h = mix_in(h, *(u64 *)l4);
	}
	if (is_one_of(h, sample))
		return false;
	count(KERNEL_UNSAMPLED);
	return true;
}
