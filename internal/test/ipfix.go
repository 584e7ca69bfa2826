package test

import (
	"encoding/hex"
	"strings"
)

// IPFIX returns a message of IPFIX, written by hand after RFC 7011 and RFC 5477, of observation domain 7: selector 9
// takes 2 packets of 5. The first flow began 50 s before the export and ended 10 s before it, and 3 of its 10 packets
// were dropped; of the second one, which began 4 s before, all 4 were, by WRED. Both are 10.0.1.1:5000 > 10.0.2.2:6000
// in UDP, and came in by port 5.
func IPFIX() []byte {
	b, err := hex.DecodeString(strings.Join(strings.Fields(`
	000a00ee 6b000000 00000005 00000007
	00030016 0102 0003 0001 012e0004 01310004 01320004
	01020010 00000009 00000002 00000003
	00020044 0100 000f 00080004 000c0004 00070002 000b0002 00040001 000a0004 000e0004 00020008 00010004
	00850004 00590001 012e0001 00980008 00990008 00c00001
	01000074
	0a000101 0a000202 1388 1770 11 00000005 00000006 000000000000000a 000003e8 00000003 40 09
	000001a1f7ff3cb0 000001a1f7ffd8f0 3f
	0a000101 0a000202 1388 1770 11 00000005 00000000 0000000000000004 00000190 00000000 8b 09
	000001a1f7fff060 000001a1f8000000 3f`), ""))
	if err != nil {
		panic(err)
	}
	return b
}
