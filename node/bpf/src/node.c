// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
// An INT node in the kernel: package node, as far as packets are concerned. What is reported of them, and when, decides
// a node.Node in user space, which gets those that can matter as events.
#include "congestion.h"
#include "early.h"
#include "record.h"

#define AF_INET 2
#define AF_INET6 10
#define TCX_NEXT -1
#define TCX_DROP 2

char __license[] SEC("license") = "Dual MIT/GPL";

// A way is where a packet goes.
struct way {
	bool forwarded, local;
	u32 port; // 0: none that is configured, which is taken for an edge
	bool edge;
	bool fast; // nothing is left for the kernel to do
	u32 mtu;
};

static __always_inline void fill_lookup(struct scratch *s, const struct packet *p, u32 l3, struct bpf_fib_lookup *fib)
{
	*fib = (struct bpf_fib_lookup){
		.family = p->v6 ? AF_INET6 : AF_INET,
		.l4_protocol = p->protocol,
		.sport = bpf_htons(p->src_port),
		.dport = bpf_htons(p->dst_port),
		.ifindex = l3,
	};
	if (p->v6) {
		fib->flowinfo = bpf_htonl(get32(s, p->l3) & 0x0FFFFFFF);
		for (u32 i = 0; i < 4; i++) {
			fib->ipv6_src[i] = bpf_htonl(get32(s, p->l3 + 8 + 4 * i));
			fib->ipv6_dst[i] = bpf_htonl(get32(s, p->l3 + 24 + 4 * i));
		}
	} else {
		fib->tos = get8(s, p->l3 + 1);
		fib->ipv4_src = bpf_htonl(get32(s, p->l3 + 12));
		fib->ipv4_dst = bpf_htonl(get32(s, p->l3 + 16));
	}
}

// find_way asks the kernel's routing tables, as the kernel will when the packet is passed on.
GLOBAL int find_way(struct xdp_md *ctx, const struct packet *p, u32 l3, struct way *w)
{
	struct scratch *s = scratch();
	u32 ifindex;
	if (!s || !p || !w)
		return 0;
	w->edge = true;
	if (testing) {
		struct test *t = test();
		if (!t || !t->out)
			return 0;
		ifindex = t->out;
		w->mtu = t->mtu;
	} else {
		struct bpf_fib_lookup fib;
		long r;
		fill_lookup(s, p, l3, &fib);
		r = bpf_fib_lookup(ctx, &fib, sizeof(fib), fast && w->fast ? 0 : BPF_FIB_LOOKUP_SKIP_NEIGH);
		if (fast && w->fast && r == BPF_FIB_LKUP_RET_NO_NEIGH) { // the kernel has to ask for it
			w->fast = false;
			fill_lookup(s, p, l3, &fib); // what was asked has changed
			r = bpf_fib_lookup(ctx, &fib, sizeof(fib), BPF_FIB_LOOKUP_SKIP_NEIGH);
		}
		if (r == BPF_FIB_LKUP_RET_NOT_FWDED || r == BPF_FIB_LKUP_RET_FWD_DISABLED)
			w->local = true;
		if (r)
			return 0;
		ifindex = fib.ifindex;
		w->mtu = fib.mtu_result;
		__builtin_memcpy(s->macs, fib.dmac, 6);
		__builtin_memcpy(s->macs + 6, fib.smac, 6);
	}
	if (p->ttl <= 1)
		return 0;
	w->forwarded = true;
	s->out = ifindex;
	struct port *out = find_port(ifindex);
	if (out) {
		w->port = out->id;
		w->edge = out->edge;
	}
	w->fast &= out && out->fast && ifindex != ctx->ingress_ifindex && p->total <= w->mtu;
	return 0;
}

// find_l3 returns the interface by which the kernel will take a packet that came by a port; 0: it has none for its
// VLAN.
static __always_inline u32 find_l3(struct xdp_md *ctx, const struct packet *p, const struct port *in)
{
	struct vlan v = {.ifindex = ctx->ingress_ifindex, .ids = {p->vlans[0], p->vlans[1]}};
	if (testing || !(v.ids[0] | v.ids[1]))
		return in->l3;
	u32 *device = bpf_map_lookup_elem(&vlans, &v);
	return device ? *device : 0;
}

// may_hurry says whether a packet is one that the kernel would do nothing about but to forward it, if there is a way.
static __always_inline bool may_hurry(struct scratch *s, const struct packet *p, const struct port *in)
{
	u32 differ = get32(s, 0) ^ bpf_ntohl(*(u32 *)in->mac);
	differ |= get16(s, 4) ^ bpf_ntohs(*(u16 *)(in->mac + 4));
	return in->fast && !differ && p->l3 == ETHERNET &&
	       (p->v6 ? p->protocol_at == ETHERNET + 6 : get8(s, ETHERNET) == 0x45);
}

// hurry sends a packet straight to the port that it leaves by, as the kernel would have made it.
GLOBAL int hurry(struct xdp_md *ctx, const struct packet *p, const struct way *w)
{
	struct scratch *s = scratch();
	u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	if (!s || !p || !w || !w->fast || !w->forwarded || data + ETHERNET + IPV4 > end || end - data != bpf_xdp_get_buff_len(ctx))
		return XDP_PASS;
	if (p->v6) {
		data[ETHERNET + 7]--;
	} else {
		u16 *sum = (u16 *)(data + ETHERNET + 10);
		u32 c = bpf_ntohs(*sum) + 0x0100; // RFC 1141
		*sum = bpf_htons(c + (c >= 0xFFFF));
		data[ETHERNET + 8]--;
	}
	__builtin_memcpy(data, s->macs, sizeof(s->macs));
	count(KERNEL_FAST);
	return bpf_redirect(s->out, 0);
}

// keep stores the front of a packet for a report, as it came, and returns where.
static __always_inline struct event *keep(struct xdp_md *ctx, const struct packet *p, struct state *st, u32 payload)
{
	u32 zero = 0, n = HEAD;
	u64 *next = bpf_map_lookup_elem(&next_event, &zero);
	if (!next)
		return 0;
	u64 id = __sync_fetch_and_add(next, 1) + 1;
	u32 slot = id & (num_slots - 1);
	struct event *e = bpf_map_lookup_elem(&slots, &slot);
	if (!e)
		return 0;
	if (truncate) // of a packet in a tunnel all headers: they say which flow it is
		n = (payload + (tunnels() && truncate < INNER ? INNER : truncate) + 3) & ~3;
	if (n > p->len)
		n = p->len;
	if (n > HEAD)
		n = HEAD;
	if (n < ETHERNET)
		return 0;
	e->id = id;
	e->in_port = st->in_port;
	e->arrived = st->arrived;
	e->len = p->len;
	e->kept = n;
	e->reason = e->record = e->record_len = e->met = 0;
	if (bpf_xdp_load_bytes(ctx, 0, e->bytes, n))
		return 0;
	st->event = id;
	return e;
}

// hand_over gives an event to the program that reports, or says that there is no room.
static __always_inline bool hand_over(struct event *e, u32 n)
{
	return !bpf_ringbuf_output(&events, e, EVENT_HEADER + n, 0);
}

// tell hands over an event, and counts it.
static __always_inline void tell(struct event *e)
{
	u32 n = e->kept;
	if (n <= HEAD)
		count(hand_over(e, n) ? KERNEL_EVENTS : KERNEL_RING_FULL);
}

// tell_now is for a packet that does not come to an egress.
static __always_inline void tell_now(struct event *e, const struct way *w)
{
	e->departed = e->enqueued = now(0);
	e->queue_bytes = 0;
	e->out_port = w->port;
	e->mtu = 0;
	e->queue = e->ttl = 0;
	tell(e);
}

// remember stores what the egress has to know of a packet.
static __always_inline bool remember(struct xdp_md *ctx, struct state *st)
{
	st->magic = STATE_MAGIC;
	if (testing) {
		struct test *t = test();
		if (t)
			t->state = *st;
		return t;
	}
	if (bpf_xdp_adjust_meta(ctx, -(int)sizeof(*st)))
		goto without;
	void *meta = (void *)(long)ctx->data_meta, *data = (void *)(long)ctx->data;
	if (meta + sizeof(*st) > data)
		goto without;
	__builtin_memcpy(meta, st, sizeof(*st));
	return true;
without:
	count(KERNEL_NO_METADATA);
	return false;
}

// put_front writes the first n bytes of the packet back.
static __always_inline bool put_front(struct xdp_md *ctx, struct scratch *s, u32 at, u32 n)
{
	asm volatile("" : "+r"(n));
	if (n < ETHERNET || n > EDITED)
		return false;
	return !bpf_xdp_store_bytes(ctx, at, s->head, n);
}

// insert makes the packet longer by n bytes at an offset. The front is as it is to be.
static __always_inline bool insert(struct xdp_md *ctx, struct scratch *s, u32 at, u32 n)
{
	if (bpf_xdp_adjust_head(ctx, -(int)n)) {
		count(KERNEL_NOT_EDITED);
		return false;
	}
	n &= 0xFC;
	return n && put_front(ctx, s, 0, at) && !bpf_xdp_store_bytes(ctx, at, s->insert, n);
}

// set_record notes where the record stands that begins at a word of what was inserted.
static __always_inline void set_record(struct scratch *s, const struct packet *p, struct state *st, u32 at, u32 word,
				       u16 bitmap)
{
	st->record = at - p->l3;
	st->bitmap = bitmap;
	st->written = sum_words(&s->insert[word & 31], width(plain(bitmap)));
	if (has_sum(s, p)) {
		st->sum = p->sum - p->l3;
		st->how |= p->summed == SUM_UDP ? SUM_OF_UDP : 0;
	}
}

static __always_inline void clean(struct xdp_md *ctx, struct scratch *s, const struct packet *p)
{
	if (!marks(p->dscp))
		return;
	set_dscp(s, p, cleaned(p->dscp));
	put_front(ctx, s, 0, p->l4);
	count(CLEANED);
}

// no_carrier says whether a packet cannot have INT, and counts why.
static __always_inline bool no_carrier(struct scratch *s, const struct packet *p)
{
	bool not = tunnels() ? no_room(s, p) : !fresh(p) && (!p->summed || p->bad_length);
	if (!p->fragment && !not)
		return false;
	count(NOT_INSERTED);
	count(p->fragment ? WHY_IS_FRAGMENT : WHY_NO_CARRIER);
	return true;
}

// new_shim returns a shim, or the header of an option, that covers so many words, and says what was there before.
static __always_inline u32 new_shim(struct scratch *s, const struct packet *p, u32 type, u32 words)
{
	if (carrier == IN_GENEVE)
		return (u32)geneve_class << 16 | type << 8 | words;
	u32 shim = version == INT_20 ? type << 28 | words << 16 : type << 24 | (words + 1) << 8;
	if (carrier == IN_GPE && p->tunnel_kind == VXLAN)
		return shim | SHIM_G | NEXT_ETHERNET;
	if (carrier == IN_GPE)
		return shim | get8(s, p->tunnel_at + GPE_NEXT);
	if (carrier == BY_DSCP)
		return shim | cleaned(p->dscp) << 2;
	return shim | (fresh(p) ? NPT_PROTOCOL << 26 | p->protocol : NPT_PORT << 26 | p->dst_port);
}

// set_options changes Opt Len of Geneve for n bytes more.
static __always_inline u64 set_options(struct scratch *s, const struct packet *p, int n)
{
	return edit8(s, p, p->tunnel_at, get8(s, p->tunnel_at) + (n >> 2));
}

// options_full says whether Geneve cannot count n bytes more.
static __always_inline bool options_full(struct scratch *s, const struct packet *p, u32 n)
{
	return carrier == IN_GENEVE && (get8(s, p->tunnel_at) & 0x3F) + n / 4 > GENEVE_OPTIONS;
}

// mark announces n bytes of INT.
static __always_inline u64 mark(struct scratch *s, const struct packet *p, int n)
{
	if (carrier == IN_GENEVE)
		return set_options(s, p, n);
	if (carrier == IN_GPE) {
		u64 delta = edit8(s, p, p->tunnel_at + GPE_NEXT, gpe_next);
		if (p->tunnel_kind == VXLAN)
			delta += edit8(s, p, p->tunnel_at, GPE_I | GPE_P) + set_port(s, p, PORT_GPE);
		return delta;
	}
	if (carrier != BY_DSCP)
		return set_port(s, p, int_port);
	set_dscp(s, p, (p->dscp & ~dscp_mask) | (dscp_value & dscp_mask));
	return 0;
}

// unmark undoes mark.
static __always_inline u64 unmark(struct scratch *s, const struct packet *p, int n)
{
	if (carrier == IN_GENEVE)
		return set_options(s, p, -n);
	if (carrier == IN_GPE && !p->g)
		return edit8(s, p, p->tunnel_at + GPE_NEXT, p->next);
	if (carrier == IN_GPE)
		return edit8(s, p, p->tunnel_at + GPE_NEXT, 0) +
		       edit8(s, p, p->tunnel_at, get8(s, p->tunnel_at) & ~GPE_P) + set_port(s, p, PORT_VXLAN);
	if (carrier != BY_DSCP)
		return set_port(s, p, p->next);
	set_dscp(s, p, cleaned((p->dscp & ~dscp_mask) | (p->dscp_before & dscp_mask)));
	return 0;
}

// new_header returns the first word of an INT header.
static __always_inline u32 new_header(const struct action *a, u32 record, bool with)
{
	if (version == INT_2016)
		return (record / 4) << 16 | (u32)a->max_hops << 8 | with;
	u32 header = (version == INT_20 ? 2 : 1) << 28;
	if (a->mode != MODE_MD)
		return header;
	if (record && !with)
		header |= flag_m() << 16;
	return header | (record / 4) << 8 | (u32)(a->max_hops - with);
}

// is_partial says whether the checksum of a packet is still to be computed, by a network card or by the kernel in its
// stead: it is that of the pseudo header then, and the kernel has noted where L4 begins, which must not move. Packets
// of sockets come so by veth and tap. One in 65,536 others has that sum as well, and one in 65,536 of them is right as
// it is: then tells what else came by the port.
GLOBAL int is_partial(struct xdp_md *ctx, const struct packet *p, struct port *in)
{
	struct scratch *s = scratch();
	if (!s || !p || !in || !has_sum(s, p))
		return false;
	u32 at = p->l3 + (p->v6 ? 8 : 12), words = p->v6 ? 8 : 2, l4 = p->l4;
	u32 length = p->summed == SUM_UDP ? get16(s, l4 + 4) : p->end - l4, n = l4 + length;
	u64 c = p->protocol + length;
	for (u32 i = 0; i < 8 && i < words; i++)
		c += get32(s, at + 4 * i);
	if (fold(c) != get16(s, p->sum))
		return false;
	asm volatile("" : "+r"(n));
	if (in->partial || n < ETHERNET || n > HEAD - 4 || bpf_xdp_load_bytes(ctx, 0, s->head, n))
		return true;
	for (u32 i = 0; i < 3; i++)
		put8(s, n + i, 0);
	asm volatile("" : "+r"(l4));
	if (fold(c + sum(&s->head[l4 & 0xFF], (length + 3) & 0x7FC)) == 0xFFFF)
		return false;
	in->partial = true;
	return true;
}

// source inserts INT; false: the packet gets none.
GLOBAL int source(struct xdp_md *ctx, const struct packet *p, const struct action *a, const struct way *w,
		  struct state *st)
{
	struct scratch *s = scratch();
	if (!s || !p || !a || !w || !st)
		return false;
	bool md = a->mode == MODE_MD;
	bool device = md && device_domain;
	bool udp = fresh(p);
	u32 front = SHIM + (udp ? UDP : 0), at = udp ? p->l4 : tunnels() ? p->tunnel_at + TUNNEL : p->payload;
	u32 fixed = front + int_header() + (device ? DEVICE : 0), record = md ? width(a->bitmap) : 0, n;
	enum counter why = WHY_MTU;
	bool with = record;
	if (no_carrier(s, p))
		return false;
	if (w->mtu && p->total + fixed > w->mtu)
		goto not;
	if (w->mtu && p->total + fixed + record > w->mtu)
		with = false;
	n = fixed + (with ? record : 0);
	if (p->total + n > 0xFFFF + (p->v6 ? IPV6 : 0) || options_full(s, p, n)) {
		why = WHY_CARRIER_FULL;
		goto not;
	}
	struct hop own = {.in_port = st->in_port, .out_port = w->port, .arrived = st->arrived, .bottom = true};
	u32 word = 0;
	if (udp) { // the source port spreads flows over paths (INT 2.1 5.7.2)
		add(s, &word, (0xC000 | (u16)(flow_hash(s, p) >> 50)) << 16 | int_port);
		add(s, &word, (p->end - p->l4 + n) << 16);
	}
	add(s, &word, new_shim(s, p, md ? TYPE_MD : TYPE_MX, (n - front) / 4));
	add(s, &word, new_header(a, record, with));
	add(s, &word, (u32)a->bitmap << 16 | device_domain);
	if (version == INT_20)
		add(s, &word, device_domain ? DEVICE_BIT << 16 | ds_flags : 0);
	if (with)
		add_record(word, record / 4, a->bitmap, &own);
	if (device) { // behind the record, as all that is of the source only
		word += with ? record / 4 : 0;
		add(s, &word, get32(s, MAC));
		add(s, &word, (u32)get16(s, MAC + 4) << 16);
	}
	if (udp) {
		resize_ip(s, p, n);
		set_protocol(s, p, PROTO_UDP);
	} else {
		finish(s, p, sum(s->insert, n & 0xFC) + resize(s, p, n) + mark(s, p, n));
	}
	if (with)
		set_record(s, p, st, at + front + int_header(), (front + int_header()) / 4, a->bitmap);
	st->how |= BOTTOM;
	if (udp)
		st->sum = 0;
	if (!insert(ctx, s, at, n)) { // it is as it was
		st->record = 0;
		st->event = 0;
		return true;
	}
	st->how |= SOURCE;
	count(INSERTED);
	if (md && !with)
		count(INSERTED_EMPTY);
	if (record && !with)
		count(WHY_MTU);
	return true;
not:
	count(NOT_INSERTED);
	count(why);
	return false;
}

// set_flag says in the INT header why this node adds no record.
static __always_inline void set_flag(struct xdp_md *ctx, struct scratch *s, const struct packet *p, u16 flag,
				     enum counter done, enum counter why)
{
	u32 header = p->shim + SHIM;
	u16 flags = p->flags | flag;
	count(why);
	if (p->flags & flag) {
		count(NOT_PUSHED);
		return;
	}
	finish(s, p, edit8(s, p, header, flags >> 8) + edit8(s, p, header + 1, flags));
	put_front(ctx, s, 0, header + 4);
	count(done);
}

// shim_full says whether the length in the shim, or in the option of Geneve, cannot count n bytes more.
static __always_inline bool shim_full(struct scratch *s, const struct packet *p, u32 n)
{
	u8 words = get8(s, p->shim + shim_length());
	if (carrier == IN_GENEVE)
		return (words & 0x1F) + n / 4 > GENEVE_WORDS;
	return words + n / 4 > 255;
}

// pop_stack takes the stack out of a packet that has no room for the record of this node, which takes its place if it
// fits then (INT 2.1 5.3). What was taken out is reported at the egress. false: the packet is as it was.
GLOBAL int pop_stack(struct xdp_md *ctx, const struct packet *p, const struct way *w, struct state *st)
{
	struct scratch *s = scratch();
	if (!s || !p || !w || !st)
		return false;
	u32 header = p->shim + SHIM, stack = header + int_header(), removed = p->stack_end - stack, n = 4 * p->hop_ml;
	if (p->source_only || p->stack_end <= stack || removed > 1024 || stack > EDITED || n > 4 * 31 || removed < n)
		return false;
	struct event *e = keep(ctx, p, st, behind(p));
	if (!e || e->kept < p->stack_end) {
		st->event = 0;
		return false;
	}
	asm volatile("" : "+r"(removed));
	asm volatile("" : "+r"(stack));
	if (stack > EDITED || removed > 1024) { // for the verifier
		st->event = 0;
		return false;
	}
	u64 delta = (u16)~sum(&e->bytes[stack], removed & 0x7FC);
	struct hop own = {.in_port = st->in_port, .out_port = w->port, .arrived = st->arrived};
	if (p->total - removed + n > w->mtu) {
		n = 0;
	} else {
		add_record(0, n / 4, p->bitmap, &own);
		set_record(s, p, st, stack, 0, p->bitmap);
		delta += sum(s->insert, n & 0x7C) + edit8(s, p, header + 3, get8(s, header + 3) - 1);
	}
	u32 shorter = removed - n, length = p->shim + shim_length();
	delta += edit8(s, p, length, get8(s, length) - shorter / 4);
	if (carrier == IN_GENEVE)
		delta += set_options(s, p, -(int)shorter);
	finish(s, p, delta + resize(s, p, -(int)shorter));
	count(POPPED_STACK);
	if (shorter && (!put_front(ctx, s, shorter, stack) || bpf_xdp_adjust_head(ctx, shorter))) {
		st->record = 0;
		st->event = 0;
		return true;
	}
	if (!shorter)
		put_front(ctx, s, 0, stack);
	n &= 0x7C;
	if (n)
		bpf_xdp_store_bytes(ctx, stack, s->insert, n);
	return true;
}

// transit adds the record of this node. true: it has no room for it, and may_pop: nothing was done.
GLOBAL int transit(struct xdp_md *ctx, const struct packet *p, const struct way *w, struct state *st, bool may_pop)
{
	struct scratch *s = scratch();
	if (!s || !p || !w || !st)
		return 0;
	u32 n = 4 * p->hop_ml, header = p->shim + SHIM, stack = header + int_header();
	enum counter why;
	if (p->malformed || p->bad_length)
		why = WHY_MALFORMED_INT;
	else if (p->type == TYPE_DESTINATION)
		why = WHY_DESTINATION_ONLY;
	else if (p->fragment)
		why = WHY_IS_FRAGMENT;
	else if (!n)
		why = WHY_NOTHING_ASKED;
	else if (!p->remaining)
		goto last;
	else if (w->mtu && p->total + n > w->mtu && version == INT_2016) // it has no flag for that
		why = WHY_MTU;
	else if (w->mtu && p->total + n > w->mtu)
		goto too_long;
	else if (p->total + n > 0xFFFF + (p->v6 ? IPV6 : 0) || shim_full(s, p, n) || options_full(s, p, n) ||
		 stack > EDITED)
		why = WHY_CARRIER_FULL;
	else
		goto push;
	count(NOT_PUSHED);
	count(why);
	return 0;
last:
	set_flag(ctx, s, p, flag_e(), MARKED_HOP_LIMIT, WHY_HOP_LIMIT);
	return 0;
too_long:
	if (may_pop)
		return true;
	set_flag(ctx, s, p, flag_m(), MARKED_MTU, WHY_MTU);
	return 0;
push:;
	struct hop own = {
		.in_port = st->in_port,
		.out_port = w->port,
		.arrived = st->arrived,
		.departed = fast && w->fast ? now(1) : 0, // and there is no queue
		.bottom = p->first,
	};
	add_record(0, n / 4, p->bitmap, &own);
	st->how |= p->first ? BOTTOM : 0;
	set_record(s, p, st, stack, 0, p->bitmap);
	u64 delta = n <= 4 * RECORD && n == width(plain(p->bitmap)) ? st->written : sum(s->insert, n & 0x7C);
	delta += edit8(s, p, header + 3, get8(s, header + 3) + (version == INT_2016 ? 1 : -1));
	u32 length = p->shim + shim_length();
	delta += edit8(s, p, length, get8(s, length) + n / 4);
	if (carrier == IN_GENEVE)
		delta += set_options(s, p, n);
	delta += resize(s, p, n);
	finish(s, p, delta);
	if (insert(ctx, s, stack, n))
		count(PUSHED);
	else
		st->record = 0;
	return 0;
}

// sink removes INT. false: the packet does not go on.
GLOBAL int sink(struct xdp_md *ctx, const struct packet *p, const struct way *w, struct state *st)
{
	struct scratch *s = scratch();
	if (!s || !p || !w || !st)
		return true;
	u32 start = p->start, n = p->end_int - start;
	// A destination header with C is that of a follow-up packet, and has metadata.
	bool readable = !p->malformed && (p->type != TYPE_DESTINATION || p->discard) && !p->fragment;
	struct event *e = keep(ctx, p, st, behind(p));
	count(STRIPPED);
	if (p->malformed || p->fragment)
		count(STRIPPED_BAD);
	if (readable && p->discard) { // as it is, so that who follows drops knows that it is no packet of a user
		if (e)
			tell_now(e, w);
		count(DISCARDED);
		return false;
	}
	if (!p->end_int || p->fragment || !e || start > EDITED || n > 1024 + UDP || n < SHIM) {
		st->event = 0;
		count(KERNEL_NOT_STRIPPED);
		return true;
	}
	if (e->kept < p->end_int) { // truncated less than that: for the sum
		st->event = 0;
		count(KERNEL_NOT_STRIPPED);
		return true;
	}
	asm volatile("" : "+r"(n));
	if (fresh(p)) {
		resize_ip(s, p, -(int)n);
		set_protocol(s, p, p->next);
	} else {
		finish(s, p, (u16)~sum(&e->bytes[start], n & 0x7FC) + resize(s, p, -(int)n) + unmark(s, p, n));
	}
	if (!put_front(ctx, s, n, start) || bpf_xdp_adjust_head(ctx, n)) {
		st->event = 0;
		count(KERNEL_NOT_STRIPPED);
		return true;
	}
	if (!readable)
		st->how |= QUEUE_ONLY;
	if (!readable && (!num_queues || !w->forwarded))
		st->event = 0;
	if (st->event && !w->forwarded) {
		tell_now(e, w);
		st->event = 0;
	}
	if (p->discard)
		count(DISCARDED);
	return !p->discard;
}

// discard tells of a packet that is dropped: by a filter, or for INT that comes from outside.
GLOBAL int discard(struct xdp_md *ctx, const struct packet *p, u32 in_port, u16 reason)
{
	struct state st = {.in_port = in_port, .arrived = now(0)};
	struct way w = {};
	if (!p)
		return 0;
	count(reason == FILTERED ? KERNEL_FILTERED : EDGE_INT);
	if (bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > RING / 2) { // events come first
		count(KERNEL_DROPS_UNTOLD);
		return 0;
	}
	struct event *e = keep(ctx, p, &st, behind(p));
	if (e) {
		e->reason = reason;
		tell_now(e, &w);
	}
	st.event = FILTERED_EVENT; // some drivers free the packet as one that was dropped for no reason
	remember(ctx, &st);
	return 0;
}

// before makes q what p was without INT, as far as filters look at it.
static __always_inline void before(struct xdp_md *ctx, const struct packet *p, struct packet *q)
{
	__be16 ports[2] = {};
	*q = *p;
	if (!p->present || !p->end_int || carrier == BY_DSCP)
		return;
	if (p->npt == NPT_PORT) {
		q->dst_port = p->next;
		return;
	}
	q->protocol = p->next;
	if (q->protocol == PROTO_TCP || q->protocol == PROTO_UDP || q->protocol == PROTO_SCTP)
		bpf_xdp_load_bytes(ctx, p->end_int, ports, sizeof(ports));
	q->src_port = bpf_ntohs(ports[0]);
	q->dst_port = bpf_ntohs(ports[1]);
}

static __always_inline struct action *find_action(const struct packet *p, u32 in_port)
{
	int at = match(p, in_port);
	struct action *a = at < 0 ? 0 : bpf_map_lookup_elem(&actions, &at);
	return a && a->sample ? a : 0;
}

// noted says whether the egress, or a drop report, has something to do about a packet besides its queue.
static __always_inline bool noted(const struct state *st) { return st->record || st->event || st->clone; }

// pass_by passes a packet that nothing is done to.
static __always_inline int pass_by(struct xdp_md *ctx, const struct port *in, const struct packet *p, struct way *w)
{
	if (fast && w->fast) {
		find_way(ctx, p, in->l3, w);
		return hurry(ctx, p, w);
	}
	if (queue_times) {
		struct state st = {.in_port = in->id, .arrived = now(0)};
		remember(ctx, &st);
	}
	return XDP_PASS;
}

SEC("xdp.frags")
int arrive(struct xdp_md *ctx)
{
	struct port *in = find_port(ctx->ingress_ifindex);
	struct scratch *s = scratch();
	if (!in || !s)
		return XDP_PASS;
	count(ARRIVED);
	if (in->edge)
		count(FROM_EDGE);
	if (!(fast && in->fast) && passes(ctx, in->edge))
		return XDP_PASS;
	struct packet p = {.len = bpf_xdp_get_buff_len(ctx)};
	struct way w = {};
	u32 n = p.len < FRONT ? p.len : FRONT;
	asm volatile("" : "+r"(n));
	void *data = (void *)(long)ctx->data;
	if (data + FRONT <= (void *)(long)ctx->data_end) {
		__builtin_memcpy(s->head, data, FRONT);
	} else if (n < ETHERNET || n > FRONT || bpf_xdp_load_bytes(ctx, 0, s->head, n)) {
		count(UNREADABLE);
		return XDP_PASS;
	}
	// Where a DSCP alone announces it, there is no INT in what comes from outside; a port nobody else uses.
	switch (parse(&p, domain_mode != MODE_XD && (carrier != BY_DSCP || !in->edge || accept_edge))) {
	case NOT_READ:
		count(KERNEL_NOT_READ);
		return pass_by(ctx, in, &p, &w);
	case BROKEN:
		count(UNREADABLE);
		return pass_by(ctx, in, &p, &w);
	case PARSED:
		break;
	}
	if (tunnels() && p.tunnel) {
		n = p.len < HEAD ? p.len : HEAD;
		asm volatile("" : "+r"(n));
		if (n < ETHERNET || n > HEAD || bpf_xdp_load_bytes(ctx, 0, s->head, n))
			return XDP_PASS;
		read_tunnel(&p, domain_mode != MODE_XD);
	}
	struct packet q;
	if (has_filters && bpf_ktime_get_boot_ns() < filters_end) {
		before(ctx, &p, &q);
		if (filtered(&q, in->id)) {
			discard(ctx, &p, in->id, FILTERED);
			return XDP_DROP;
		}
	}
	if (p.present && in->edge && !accept_edge) {
		discard(ctx, &p, in->id, FOREIGN_INT);
		return XDP_DROP;
	}
	bool outside = in->edge && !p.present;
	bool unclean = outside && domain_mode != MODE_XD && marks(p.dscp);
	w.fast = fast && may_hurry(s, &p, in);
	if (!p.present && !outside && !has_xd)
		return pass_by(ctx, in, &p, &w);
	struct action *a = 0;
	struct packet *flow = &p;
	if (!p.present && p.tunnel) {
		flow = tunnels() && look_into(&p, &q) ? &q : 0;
		if (!flow)
			count(KERNEL_TUNNEL);
	}
	if (!p.present && flow)
		a = find_action(flow, in->id);
	if (a && !outside && a->mode != MODE_XD)
		a = 0; // whether it gets INT was decided at the source
	if (a && a->sample > 1 && !take(&p, flow, a)) {
		count(UNSAMPLED);
		a = 0;
	}
	if (a)
		count(WATCHED);
	else if (!p.present && !unclean)
		return pass_by(ctx, in, &p, &w);

	struct state st = {
		.in_port = in->id,
		.arrived = now(0),
		.how = a ? CHOSEN : 0,
		.clone = clones && outside && in->clone, // it may be
	};
	u32 l3 = find_l3(ctx, &p, in);
	if (l3)
		find_way(ctx, &p, l3, &w);
	if (!w.forwarded) {
		count(KERNEL_NOT_FORWARDED);
		if (p.present && w.local && !sink(ctx, &p, &w, &st))
			return XDP_DROP;
		return XDP_PASS;
	}
	st.mtu = w.mtu;
	bool turned = outside && w.edge;
	if (turned)
		count(TURNED);
	if (a && (turned || a->mode != MODE_MD))
		keep(ctx, &p, &st, p.payload);
	if (turned) {
		st.clone = 0;
	} else if (clones && st.clone) {
		st.clone = 0;
		if (a && a->mode == MODE_MD && !no_carrier(s, &p)) {
			st.clone = a->max_hops;
			st.bitmap = a->bitmap;
		}
		clean(ctx, s, &p);
	} else if (outside) {
		if (a && a->mode != MODE_XD && !fresh(&p) && is_partial(ctx, &p, in)) {
			count(NOT_INSERTED);
			count(KERNEL_PARTIAL);
			st.event = 0;
			a = 0;
		}
		if (!a || a->mode == MODE_XD || !source(ctx, &p, a, &w, &st)) {
			if (a && a->mode != MODE_XD)
				st.event = 0;
			clean(ctx, s, &p);
		}
	} else if (!p.present) {
	} else if (w.edge) {
		if (!sink(ctx, &p, &w, &st))
			return XDP_DROP;
	} else if (p.type == TYPE_MX && !p.malformed) {
		keep(ctx, &p, &st, behind(&p));
	} else {
		if (transit(ctx, &p, &w, &st, pop) && !pop_stack(ctx, &p, &w, &st))
			transit(ctx, &p, &w, &st, false);
	}
	if (fast && w.fast && !st.event && !st.clone) {
		int done = hurry(ctx, &p, &w);
		if (done != XDP_PASS)
			return done;
	}
	if (noted(&st)) {
		if (remember(ctx, &st))
			count(KERNEL_NOTED);
	} else if (queue_times || (num_queues && st.how & (CHOSEN | SOURCE))) {
		remember(ctx, &st);
	}
	return XDP_PASS;
}

// recall returns what was remembered of a packet, once.
static __always_inline bool recall(struct __sk_buff *skb, struct state *st, struct bpf_dynptr *meta)
{
	if (testing) {
		struct test *t = test();
		if (!t)
			return false;
		*st = t->state;
		t->state.magic = 0;
		return st->magic == STATE_MAGIC;
	}
	if (bpf_dynptr_from_skb_meta(skb, 0, meta))
		return false;
	const struct state *kept = bpf_dynptr_slice(meta, 0, 0, sizeof(*kept));
	if (!kept || kept->magic != STATE_MAGIC)
		return false;
	*st = *kept;
	return true;
}

// backlog returns the bytes that wait in the queue of the interface that the packet is about to enter.
static __always_inline u64 backlog(struct __sk_buff *skb)
{
	if (testing) {
		struct test *t = test();
		return t ? t->queue_bytes : 0;
	}
	struct sk_buff___w *k = bpf_cast_to_kern_ctx(skb);
	return k->dev->_tx->qdisc->qstats.backlog;
}

// ip_at returns where the IP header is. The kernel carries the outermost VLAN tag beside the packet, and perhaps not
// the one that it came with.
static __always_inline u32 ip_at(struct __sk_buff *skb)
{
	u32 at = ETHERNET;
	__be16 ether_type = skb->protocol;
	for (int i = 0; i < TAGS && is_vlan(bpf_ntohs(ether_type)); i++) {
		at += TAG;
		if (bpf_skb_load_bytes(skb, at - 2, &ether_type, sizeof(ether_type)))
			break;
	}
	return at;
}

// fill completes the record of this node by what is known now.
static __always_inline void fill(struct __sk_buff *skb, struct scratch *s, const struct state *st,
				 const struct hop *own)
{
	u32 n = width(plain(st->bitmap)), l3 = ip_at(skb), at = l3 + st->record;
	u16 before;
	asm volatile("" : "+r"(n));
	asm volatile("" : "+r"(at));
	if (n < 4 || n > 4 * RECORD || at > HEAD)
		goto moved;
	u32 *record = (void *)(long)skb->data + at;
	if ((void *)(record + RECORD) <= (void *)(long)skb->data_end)
		before = sum_words(record, n);
	else if (!bpf_skb_load_bytes(skb, at, s->head, n))
		before = sum_words((u32 *)s->head, n);
	else
		goto moved;
	if (before != st->written)
		goto moved;
	add_record(0, n / 4, plain(st->bitmap), own);
	if (bpf_skb_store_bytes(skb, at, s->insert, n, 0))
		goto moved;
	u32 diff = replaced(before, sum_words(s->insert, n));
	if (st->sum)
		bpf_l4_csum_replace(skb, l3 + st->sum, 0, bpf_htons(fold(diff)),
				    st->how & SUM_OF_UDP ? BPF_F_MARK_MANGLED_0 : 0);
	return;
moved:
	count(KERNEL_MOVED);
}

// report hands the packet to the program that reports, unless it took too long.
static __always_inline void report(struct __sk_buff *skb, struct scratch *s, const struct state *st,
				   const struct hop *own, u8 met)
{
	u32 slot = st->event & (num_slots - 1);
	struct event *e = bpf_map_lookup_elem(&slots, &slot);
	if (!e || e->id != st->event) {
		count(KERNEL_OVERWRITTEN);
		return;
	}
	e->departed = own->departed;
	e->enqueued = st->enqueued;
	e->queue_bytes = own->queue_bytes;
	e->out_port = own->out_port;
	e->mtu = st->mtu;
	e->met = met | (st->how & QUEUE_ONLY ? MET_UNWATCHED : 0);
	e->queue = e->ttl = 0;
	u32 l3 = ip_at(skb), n = l3 + IPV4;
	asm volatile("" : "+r"(n));
	if (n >= ETHERNET && n <= FRONT && !bpf_skb_load_bytes(skb, 0, s->head, n)) {
		__builtin_memcpy(e->mac, s->head, sizeof(e->mac));
		e->ttl = get8(s, l3 + (get8(s, l3) >> 4 == 6 ? 7 : 8));
	}
	tell(e);
}

// load_frame copies so many bytes of the packet, with the VLAN tag that the kernel carries beside it.
static __always_inline bool load_frame(struct __sk_buff *skb, u8 *to, u32 n)
{
	if (!skb->vlan_present)
		return n >= ETHERNET && n <= HEAD && !bpf_skb_load_bytes(skb, 0, to, n);
	n -= TAG;
	if (n < ETHERNET || n > HEAD - TAG || bpf_skb_load_bytes(skb, 0, to, ETHERNET - 2))
		return false;
	*(u16 *)(to + ETHERNET - 2) = skb->vlan_proto;
	*(u16 *)(to + ETHERNET) = bpf_htons(skb->vlan_tci);
	n -= ETHERNET - 2;
	return n > 0 && n <= HEAD - ETHERNET - 2 && !bpf_skb_load_bytes(skb, ETHERNET - 2, to + ETHERNET + 2, n);
}

// report_leaving hands over a packet whose queue is congested, and that nothing was kept of, as it leaves.
GLOBAL int report_leaving(struct __sk_buff *skb, const struct state *st, const struct hop *own, u8 met)
{
	u32 zero = 0, n = skb->len + (skb->vlan_present ? TAG : 0), l3 = ip_at(skb) + (skb->vlan_present ? TAG : 0);
	u64 *next = bpf_map_lookup_elem(&next_event, &zero);
	if (!next || !st || !own)
		return 0;
	u64 id = __sync_fetch_and_add(next, 1) + 1;
	u32 slot = id & (num_slots - 1);
	struct event *e = bpf_map_lookup_elem(&slots, &slot);
	if (!e)
		return 0;
	e->id = id;
	e->len = n;
	if (n > HEAD)
		n = HEAD;
	e->kept = n;
	asm volatile("" : "+r"(n));
	if (!load_frame(skb, e->bytes, n))
		return 0;
	e->in_port = own->in_port;
	e->out_port = own->out_port;
	e->arrived = own->arrived;
	e->enqueued = st->enqueued;
	e->departed = own->departed;
	e->queue_bytes = own->queue_bytes;
	e->mtu = st->mtu;
	e->queue = e->ttl = e->reason = 0;
	e->record = st->record ? l3 + st->record : 0;
	e->record_len = st->record ? width(plain(st->bitmap)) : 0;
	e->met = met | MET_LEAVING | (st->how & SOURCE ? MET_SOURCE : 0) | (st->how & CHOSEN ? 0 : MET_UNWATCHED);
	tell(e);
	return 0;
}

// watch_queue is for a packet without a note, where its queue begins: when it came is not known.
GLOBAL int watch_queue(struct __sk_buff *skb, u32 port)
{
	if (!find_queue(port))
		return 0;
	struct state st = {};
	u32 from = testing ? TEST_IN : skb->ingress_ifindex;
	struct port *in = from ? find_port(from) : 0;
	struct hop own = {.in_port = in ? in->id : 0, .out_port = port, .queue_bytes = backlog(skb)};
	u8 met = observe(own.out_port, own.queue_bytes, 0, in);
	if (!(met & MET_QUOTA))
		return 0;
	st.enqueued = own.departed = now(1);
	report_leaving(skb, &st, &own, met);
	return 0;
}

// enqueue is for an interface whose packets wait in front of that where depart is: a bridge of one port.
SEC("tcx/egress")
int enqueue(struct __sk_buff *skb)
{
	struct state st;
	struct bpf_dynptr meta;
	if (testing)
		return TCX_NEXT;
	if (!recall(skb, &st, &meta)) {
		struct port *out = num_queues ? find_port(skb->ifindex) : 0;
		if (out)
			watch_queue(skb, out->id);
		return TCX_NEXT;
	}
	st.enqueued = now(1);
	st.queue_bytes = backlog(skb);
	bpf_dynptr_write(&meta, 0, &st, sizeof(st), 0);
	return TCX_NEXT;
}

#define CLONED 64 // bytes of payload in a clone

// pseudo returns the sum of the pseudo header of a packet whose L4 part has n bytes.
static __always_inline u64 pseudo(struct scratch *s, const struct packet *p, u32 n)
{
	return sum(&s->head[(p->l3 + (p->v6 ? 8 : 12)) & 0x3F], p->v6 ? 32 : 8) + n + p->protocol;
}

// resize_clone gives a clone its length; what is in it is written after that. A packet of this machine may have its
// checksum computed later, and the kernel has noted from where on: it forgets that when something is written to a
// packet that begins behind there.
static __always_inline bool resize_clone(struct __sk_buff *skb, struct scratch *s, u32 l4, u32 length)
{
	const u32 partial = 3;
	u32 cut = (l4 + 4) & 0xFF;
	if (BPF_CORE_READ_BITFIELD_PROBED((struct sk_buff___w *)bpf_cast_to_kern_ctx(skb), ip_summed) != partial)
		return !bpf_skb_change_tail(skb, length, 0);
	return !bpf_skb_change_tail(skb, length + cut, 0) && !bpf_skb_adjust_room(skb, -(int)cut, BPF_ADJ_ROOM_MAC, 0) &&
	       !bpf_skb_store_bytes(skb, 0, s->head, ETHERNET, BPF_F_RECOMPUTE_CSUM);
}

// make_probe puts INT into a clone, and cuts off most of its payload.
GLOBAL int make_probe(struct __sk_buff *skb, u32 out_port)
{
	struct scratch *s = scratch();
	struct packet p = {.len = skb->len};
	if (!s)
		return false;
	u32 n = p.len < FRONT ? p.len : FRONT;
	asm volatile("" : "+r"(n));
	if (n < ETHERNET || n > FRONT || bpf_skb_load_bytes(skb, 0, s->head, n))
		return false;
	if (parse(&p, false) != PARSED || !p.summed || p.payload > p.end)
		return false;
	u16 bitmap = s->probe.bitmap;
	u32 record = width(bitmap), fixed = SHIM + int_header(), length = fixed + record;
	u32 end = p.summed == SUM_UDP ? p.l4 + get16(s, p.l4 + 4) : p.end, rest = end - p.payload;
	if (rest > CLONED)
		rest = CLONED;
	struct hop own = {
		.in_port = s->probe.in_port,
		.out_port = out_port,
		.arrived = s->probe.arrived,
		.departed = now(1),
		.queue_bytes = s->probe.queue_bytes,
	};
	u32 word = 0, header = 2 << 28 | (FLAG_D << 24) | (record / 4) << 8 | (u32)(s->probe.max_hops - !!record);
	add(s, &word, TYPE_MD << 28 | ((length - SHIM) / 4) << 16 | cleaned(p.dscp) << 2);
	add(s, &word, header);
	add(s, &word, (u32)bitmap << 16);
	add(s, &word, 0);
	if (record)
		add_record(word, record / 4, bitmap, &own);
	word = (length + rest) / 4;
	add(s, &word, 0); // what the checksum covers is even
	length &= 0x7C;
	asm volatile("" : "+r"(rest));
	if (rest > 0 && rest <= CLONED && bpf_skb_load_bytes(skb, p.payload, (u8 *)s->insert + length, rest))
		return false;

	u32 whole = p.payload + length + rest, l4_header = p.payload - p.l4, at = p.payload;
	bool has = has_sum(s, &p);
	if (!resize_clone(skb, s, p.l4, whole))
		return false;
	resize(s, &p, (int)(whole - p.end));
	if (p.summed == SUM_UDP)
		put16(s, p.l4 + 4, whole - p.l4);
	set_dscp(s, &p, (p.dscp & ~dscp_mask) | (dscp_value & dscp_mask));
	if (has) {
		u32 l4 = p.l4, sums = (length + rest + 3) & 0xFC;
		asm volatile("" : "+r"(l4));
		asm volatile("" : "+r"(l4_header));
		put16(s, p.sum, 0);
		u16 c = ~fold(pseudo(s, &p, whole - p.l4) + sum(&s->head[l4 & 0xFF], l4_header & 0x3C) + sum(s->insert, sums));
		put16(s, p.sum, p.summed == SUM_UDP && !c ? 0xFFFF : c);
	}
	asm volatile("" : "+r"(at));
	n = length + rest;
	asm volatile("" : "+r"(n));
	if (at < ETHERNET || at > FRONT || n < 4 || n > sizeof(s->insert))
		return false;
	return !bpf_skb_store_bytes(skb, 0, s->head, at, 0) && !bpf_skb_store_bytes(skb, at, s->insert, n, 0);
}

// send_clone sends a clone of the packet, which comes to depart before this returns.
static __always_inline void send_clone(struct __sk_buff *skb, struct scratch *s, u32 out_port)
{
	if (testing) { // the packet becomes the clone
		if (!make_probe(skb, out_port))
			count(KERNEL_NOT_CLONED);
		return;
	}
	s->probe.wanted = true;
	if (bpf_clone_redirect(skb, skb->ifindex, 0) || s->probe.wanted)
		count(KERNEL_NOT_CLONED);
	s->probe.wanted = false;
}

// segments returns how many packets a network card will make of one.
static __always_inline u32 segments(struct __sk_buff *skb, const struct packet *p)
{
	u32 n = skb->gso_segs, size = skb->gso_size;
	if (n > 1 || !size) // some drivers say the size alone
		return n ? n : 1;
	return (p->end - p->payload + size - 1) / size;
}

// originate is for a packet that came by no port: of this machine, or of a container in it.
static __always_inline void originate(struct __sk_buff *skb, struct scratch *s, u32 out_port)
{
	struct packet p = {.len = skb->len};
	u32 n = p.len < FRONT ? p.len : FRONT;
	u64 socket = bpf_get_socket_cookie(skb);
	if (socket && (socket == own_sockets[0] || socket == own_sockets[1]))
		return; // reports are not what is to be watched
	asm volatile("" : "+r"(n));
	if (n < ETHERNET || n > FRONT || bpf_skb_load_bytes(skb, 0, s->head, n))
		return;
	if (parse(&p, false) != PARSED)
		return;
	if (skb->vlan_present)
		p.vlans[0] = skb->vlan_tci & 0x0FFF;
	u32 packets = segments(skb, &p);
	count_some(ARRIVED, packets);
	count_some(FROM_EDGE, packets);
	if (marks(p.dscp)) {
		set_dscp(s, &p, cleaned(p.dscp));
		bpf_skb_store_bytes(skb, p.l3, &s->head[p.l3 & 0x3F], IPV4, 0); // all of the header that changes
		p.dscp = cleaned(p.dscp);
		count_some(CLEANED, packets);
	}
	if (p.tunnel) {
		count_some(KERNEL_TUNNEL, packets);
		return;
	}
	struct action *a = find_action(&p, 0);
	if (!a || a->mode != MODE_MD)
		return;
	if (a->sample > 1 && !take(&p, &p, a)) {
		count_some(UNSAMPLED, packets);
		return;
	}
	count_some(WATCHED, packets);
	if (no_carrier(s, &p))
		return;
	s->probe = (struct probe){.max_hops = a->max_hops, .bitmap = a->bitmap, .queue_bytes = backlog(skb)};
	send_clone(skb, s, out_port);
}

SEC("tcx/egress")
int depart(struct __sk_buff *skb)
{
	struct state st;
	struct bpf_dynptr meta;
	u32 ifindex = skb->ifindex;
	struct scratch *s = scratch();
	if (testing) {
		struct test *t = test();
		ifindex = t ? t->out : 0;
	}
	if (!s)
		return TCX_NEXT;
	struct port *out = find_port(ifindex);
	if (!out)
		return TCX_NEXT;
	if ((clones || local) && s->probe.wanted) {
		s->probe.wanted = false;
		if (!make_probe(skb, out->id)) {
			count(KERNEL_NOT_CLONED);
			return TCX_DROP; // only the clone
		}
		count(INSERTED);
		count(COPIES);
		return TCX_NEXT;
	}
	if (!recall(skb, &st, &meta)) {
		if (local && !out->edge && (!skb->ingress_ifindex || !find_port(skb->ingress_ifindex)))
			originate(skb, s, out->id);
		if (num_queues && out->l3 == out->ifindex)
			watch_queue(skb, out->id);
		return TCX_NEXT;
	}
	if (noted(&st))
		count(KERNEL_NOTED_LEFT);
	u32 spent = STATE_SPENT;
	if (!testing)
		bpf_dynptr_write(&meta, 0, &spent, sizeof(spent), 0);
	struct hop own = {
		.in_port = st.in_port,
		.out_port = out->id,
		.arrived = st.arrived,
		.departed = now(1),
		.queue_bytes = st.queue_bytes,
		.bottom = st.how & BOTTOM,
	};
	if (testing) {
		struct test *t = test();
		st.enqueued = t ? t->enqueued : 0;
		own.queue_bytes = backlog(skb);
	}
	if (!st.enqueued) {
		st.enqueued = own.departed;
		own.queue_bytes = backlog(skb);
	}
	u8 met = 0;
	if (num_queues)
		met = observe(own.out_port, own.queue_bytes,
			      own.departed > st.enqueued ? own.departed - st.enqueued : 0, true);
	if (st.record)
		fill(skb, s, &st, &own);
	if (st.event && (met & MET_QUOTA || !(st.how & QUEUE_ONLY)))
		report(skb, s, &st, &own, met);
	else if (!st.event && met & MET_QUOTA)
		report_leaving(skb, &st, &own, met);
	if (clones && st.clone) {
		s->probe = (struct probe){
			.max_hops = st.clone,
			.bitmap = st.bitmap,
			.in_port = st.in_port,
			.arrived = st.arrived,
			.queue_bytes = own.queue_bytes,
		};
		send_clone(skb, s, out->id);
	}
	return TCX_NEXT;
}

// dropped is called for every packet that the kernel drops, in all network namespaces.
SEC("tp_btf/kfree_skb")
int dropped(u64 *ctx)
{
	struct sk_buff___w *skb = (void *)ctx[0];
	u32 reason = ctx[2], zero = 0, data = ETHERNET;
	struct net_device___w *dev = BPF_CORE_READ(skb, dev);
	if (reason < 2 || !dev || BPF_CORE_READ(dev, nd_net.net, ns.inum) != netns)
		return 0;
	u32 at = BPF_CORE_READ(dev, ifindex), from = BPF_CORE_READ(skb, skb_iif);
	struct port *in = find_port(from), *out = find_port(at);
	u32 in_id = in ? in->id : 0, out_id = out ? out->id : 0;
	u16 protocol = bpf_ntohs(BPF_CORE_READ(skb, protocol));
	struct sock___w *sk = BPF_CORE_READ(skb, sk);
	u64 cookie = sk ? BPF_CORE_READ(sk, __sk_common.skc_cookie.counter) : 0;
	if (cookie && (cookie == own_sockets[0] || cookie == own_sockets[1]))
		return 0; // a report of a lost report would be lost, too
	if (!(in_id + out_id) || (protocol != ETHERTYPE_IPV4 && protocol != ETHERTYPE_IPV6))
		return 0;
	u16 network = BPF_CORE_READ(skb, network_header), mac = BPF_CORE_READ(skb, mac_header);
	unsigned char *head = BPF_CORE_READ(skb, head);
	u32 tail = BPF_CORE_READ(skb, tail), n = tail - network;
	struct event *e = bpf_map_lookup_elem(&drops, &zero);
	if (!e || tail < network || network == 0xFFFF)
		return 0;
	struct state st = {};
	if (mac != 0xFFFF && mac >= sizeof(st))
		bpf_probe_read_kernel(&st, sizeof(st), head + mac - sizeof(st));
	if (st.magic == STATE_MAGIC && st.event == FILTERED_EVENT && now(1) - st.arrived < 1000000)
		return 0;
	if ((st.magic != STATE_MAGIC && st.magic != STATE_SPENT) || st.in_port != in_id)
		st = (struct state){};
	if (st.magic == STATE_MAGIC && noted(&st))
		count(KERNEL_NOTED_DROPPED);
	if (bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > RING / 2) { // events come first
		count(KERNEL_DROPS_UNTOLD);
		return 0;
	}
	e->id = 0;
	e->departed = e->enqueued = now(1);
	e->arrived = st.arrived ? st.arrived : e->departed;
	e->queue_bytes = at != from ? BPF_CORE_READ(dev, _tx, qdisc, qstats.backlog) : 0;
	e->in_port = in_id;
	e->out_port = out_id == in_id ? 0 : out_id; // not known yet
	e->mtu = e->queue = e->ttl = 0;
	e->reason = reason >= NO_CARRIER ? 2 : reason;
	if (e->out_port && BPF_CORE_READ(dev, state) & 1 << NO_CARRIER_BIT)
		e->reason = NO_CARRIER;
	e->record = st.record ? ETHERNET + st.record : 0;
	e->record_len = st.record ? width(st.bitmap) : 0;
	if (n > HEAD - ETHERNET)
		n = HEAD - ETHERNET;
	__builtin_memset(e->bytes, 0, ETHERNET - 2);
	*(u16 *)&e->bytes[ETHERNET - 2] = bpf_htons(protocol);
	if (bpf_probe_read_kernel(&e->bytes[ETHERNET], n, head + network))
		return 0;
	if (protocol == ETHERTYPE_IPV4 ? e->bytes[ETHERNET + 16] >> 4 == 14 : e->bytes[ETHERNET + 24] == 0xFF)
		return 0; // multicast: who does not want it drops it
	if (mac != 0xFFFF && mac + ETHERNET == network)
		bpf_probe_read_kernel(e->bytes, ETHERNET - 2, head + mac);
	e->met = st.how & SOURCE ? MET_SOURCE : 0;
	if (e->out_port && e->reason == reason && overflows(reason))
		e->met |= overflow(e->out_port);
	struct skb_shared_info___w *shared = (void *)head + BPF_CORE_READ(skb, end);
	e->segments = BPF_CORE_READ(shared, gso_segs);
	e->kept = data + n;
	e->len = data + BPF_CORE_READ(skb, len) + (BPF_CORE_READ(skb, data) - head) - network; // some of it may be in pages
	n = e->kept;
	if (n > HEAD || e->len < n || e->len > 0xFFFF + IPV6 + ETHERNET)
		return 0;
	count_some(hand_over(e, n) ? KERNEL_DROPS : KERNEL_DROPS_UNTOLD, e->segments ? e->segments : 1);
	return 0;
}

// slow makes a port one whose packets the kernel forwards, when its driver does not take them, and counts what was lost.
static __always_inline void slow(struct net_device___w *dev, u32 ifindex, u32 packets, int error)
{
	struct port *out = find_port(ifindex);
	if (!out || BPF_CORE_READ(dev, nd_net.net, ns.inum) != netns)
		return;
	if (error)
		out->fast = false;
	count_some(KERNEL_FAST_DROPPED, packets);
}

// sent is called for packets that drivers were given in all network namespaces.
SEC("tp_btf/xdp_devmap_xmit")
int sent(u64 *ctx)
{
	struct net_device___w *to = (void *)ctx[1];
	int drops = ctx[3], error = ctx[4];
	if (drops > 0 && to)
		slow(to, BPF_CORE_READ(to, ifindex), drops, error);
	return 0;
}

// not_sent is called for a packet that no driver was given.
SEC("tp_btf/xdp_redirect_err")
int not_sent(u64 *ctx)
{
	struct net_device___w *from = (void *)ctx[0];
	if (from)
		slow(from, ctx[6], 1, ctx[3]);
	return 0;
}
