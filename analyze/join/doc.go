// Package join keeps what came of a packet until the rest of it has come. Postcards (INT-XD, INT-MX) tell of one hop
// each, an intermediate report (INT 2.1 §5.3) of the older hops only, and a follow-up packet (INT 2016 §4.2) of one
// that the stack of the packet itself lacks.
//
// Packets are found by flow and packet identity, and their hops put in the order of the TTL in the fragments. Nothing
// is waited for longer than the window, and the number of packets that wait is bounded: one more takes the place of an
// older one, whose path is then made of what had come. What comes of it later is added to its hop, and is no packet of
// its own.
package join
