package collect

import (
	"errors"
	"math"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// Offsets in struct __sk_buff (linux/bpf.h), what a socket filter sees of a packet.
const (
	skbLen     = 0   // bytes from the UDP header on
	skbGSOSize = 176 // bytes of each datagram of a run but the last; 0 if the packet is one datagram
)

// attachRunFilter attaches a filter to the socket fd that keeps every packet and adds up, in the only element of the
// map that it returns, the datagrams that runs have beyond their first. The kernel runs it before it looks for room in
// the receive buffer. It needs Linux 5.7 and CAP_BPF or root.
func attachRunFilter(fd int) (*ebpf.Map, error) {
	extra, err := ebpf.NewMap(&ebpf.MapSpec{
		Name: "waybill_runs", Type: ebpf.Array, KeySize: 4, ValueSize: 8,
		MaxEntries: 1,
	})
	if err != nil {
		return nil, err
	}
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "waybill_runs", Type: ebpf.SocketFilter, Instructions: runFilter(extra.FD()),
	})
	if err == nil {
		// The socket holds the program, and the program the map, once it is attached.
		err = errors.Join(
			os.NewSyscallError("setsockopt SO_ATTACH_BPF",
				unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ATTACH_BPF, program.FD())),
			program.Close())
	}
	if err != nil {
		extra.Close()
		return nil, err
	}
	return extra, nil
}

// runFilter is the filter. A run of n bytes in datagrams of size bytes has (n-1)/size datagrams beyond the first, as
// its last datagram may be shorter. __sk_buff.gso_segs has the number too, but is 0 in runs from a virtual machine on
// this host. A long datagram from there that is yet to be fragmented (UFO) looks like a run, and nothing here tells it.
func runFilter(extraFD int) asm.Instructions {
	const udpHeader = 8
	return asm.Instructions{
		asm.LoadMem(asm.R2, asm.R1, skbGSOSize, asm.Word),
		asm.JEq.Imm(asm.R2, 0, "keep"),
		asm.LoadMem(asm.R3, asm.R1, skbLen, asm.Word),
		asm.JLE.Imm(asm.R3, udpHeader, "keep"),
		asm.Sub.Imm(asm.R3, udpHeader+1),
		asm.Div.Reg(asm.R3, asm.R2),
		asm.LoadMapValue(asm.R1, extraFD, 0),
		asm.StoreXAdd(asm.R1, asm.R3, asm.DWord),
		asm.LoadImm(asm.R0, math.MaxUint32, asm.DWord).WithSymbol("keep"), // as many bytes as there are
		asm.Return(),
	}
}
