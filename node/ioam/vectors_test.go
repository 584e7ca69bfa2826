package ioam

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/wire/ioam"
)

// TestVectors makes the packets of the vectors again: without IOAM, then through the source and the nodes whose records
// they hold.
func TestVectors(t *testing.T) {
	d := testDomain()
	for _, v := range test.Vectors(t, "ioam_ipv6_*") {
		t.Run(v.Name, func(t *testing.T) {
			if v.Name == "ioam_ipv6_e2e" { // in destination options, which are for the host
				out, r := d.Decapsulate(nil, parse(t, v.Bytes))
				if r.Why != NoIOAM {
					t.Errorf("got %+v", r)
				}
				wantSame(t, "packet", out, v.Bytes)
				return
			}
			options := found(t, v.Bytes)
			if len(options) != 1 || options[0].Malformed != 0 {
				t.Fatalf("got %+v", options)
			}
			wantSame(t, "packet", again(t, d, v.Bytes, &options[0]), v.Bytes)
		})
	}
}

// again removes the option o from frame and makes it anew.
func again(t *testing.T, d *Domain, frame []byte, o *Option) []byte {
	t.Helper()
	plain := decapsulate(t, d, frame)
	if len(found(t, plain)) != 0 {
		t.Fatalf("IOAM is left: %x", plain)
	}
	if o.Type == ioam.TypeDEX {
		return encapsulate(t, d, plain, &Request{
			Type: o.Type, NamespaceID: o.NamespaceID, TraceType: o.DEX.TraceType, HasFlowID: true, HasSequence: true,
			FlowID: o.DEX.FlowID, Sequence: o.DEX.Sequence,
		}, nil)
	}
	nodes, err := o.Nodes()
	if err != nil {
		t.Fatal(err)
	}
	var list []ioam.Node
	words := int(o.Trace.RemainingLen)
	for n := new(ioam.Node); nodes.Next(n); {
		list = append([]ioam.Node{*n}, list...)
		words += n.LenFor(o.Trace.Type) / 4
	}
	q := &Request{
		Type: o.Type, NamespaceID: o.NamespaceID, TraceType: o.Trace.Type, RemainingLen: uint8(words),
		Loopback: o.Trace.Loopback, Active: o.Trace.Active,
	}
	made := encapsulate(t, d, plain, q, nil)
	for i := range list {
		made = transit(t, d, made, &list[i], 0, Added, Done)
	}
	if o.Trace.Overflow {
		made = transit(t, d, made, node(9), 0, Marked, Overflow)
	}
	return made
}
