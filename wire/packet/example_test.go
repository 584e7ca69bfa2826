package packet_test

import (
	"encoding/hex"
	"fmt"
	"log"

	"github.com/waybill-int/waybill/wire/packet"
)

// Reading a frame down to its UDP ports. The structs can be used for the next frame without clearing them.
func Example() {
	frame, err := hex.DecodeString("020000000002020000000001" + "0800" +
		"4500001c000040004011b6cdc0000201c0000202" + "c351223500080000")
	if err != nil {
		log.Fatal(err)
	}
	var (
		ethernet packet.Ethernet
		ip       packet.IPv4
		udp      packet.UDP
	)
	n, err := ethernet.Decode(frame)
	if err != nil {
		log.Fatal(err)
	}
	rest := frame[n:]
	if n, err = ip.Decode(rest); err != nil {
		log.Fatal(err)
	}
	rest = rest[n:]
	if ip.Protocol != packet.ProtoUDP || ip.IsLaterFragment() {
		return
	}
	if _, err = udp.Decode(rest); err != nil {
		log.Fatal(err)
	}
	fmt.Println(udp.SrcPort, udp.DstPort)
	// Output: 50001 8757
}

// A node that puts 4 bytes into a UDP payload updates the checksum for each thing that changes: the bytes, the UDP
// length, and the same length in the pseudo header.
func ExampleUpdateChecksum() {
	src, dst := [4]byte{10, 0, 1, 1}, [4]byte{10, 0, 2, 2}
	udp := packet.UDP{SrcPort: 40000, DstPort: 53, Length: 12}
	payload := []byte{0, 1, 2, 3}
	full := func(payload []byte) uint16 {
		header := udp
		header.Checksum = 0
		sum := packet.PseudoIPv4(src, dst, packet.ProtoUDP, int(header.Length))
		sum = packet.Sum(header.Append(nil), sum)
		return packet.UDPChecksum(^packet.Fold(packet.Sum(payload, sum)))
	}
	udp.Checksum = full(payload)

	inserted := []byte{0xab, 0xcd, 0xef, 0x01}
	oldLength, newLength := []byte{0, 12}, []byte{0, 16}
	checksum := packet.UpdateChecksum(udp.Checksum, nil, inserted)
	checksum = packet.UpdateChecksum(checksum, oldLength, newLength) // in the UDP header
	checksum = packet.UpdateChecksum(checksum, oldLength, newLength) // in the pseudo header
	checksum = packet.UDPChecksum(checksum)

	udp.Length = 16
	fmt.Println(checksum == full(append(inserted, payload...)))
	// Output: true
}
