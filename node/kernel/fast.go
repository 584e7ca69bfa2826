//go:build linux

package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/node/bpf"
)

// fastPorts are ports whose packets may go past the kernel's stack, while the driver of the one that they leave by
// takes frames: that of a veth does while there is an XDP program, or GRO, at its peer. The programs leave the rest to
// the kernel.
type fastPorts struct {
	ports  []bpf.Port
	socket int    // generic netlink, in the namespace of the ports
	family uint16 // netdev
}

// Of the family netdev (uapi/linux/netdev.h).
const (
	netdevGet         = 1 // NETDEV_CMD_DEV_GET
	netdevIfindex     = 1
	netdevXDPFeatures = 3
	takesFrames       = 1 << 2 // NETDEV_XDP_ACT_NDO_XMIT
)

// begin makes those fast that can be, in the network namespace of this thread.
func (f *fastPorts) begin(p *bpf.Programs) (err error) {
	f.socket, err = unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_GENERIC)
	if err != nil {
		return fmt.Errorf("ask for drivers: %w", err)
	}
	for i := range f.ports {
		on, err := net.InterfaceByIndex(f.ports[i].Ifindex)
		if err != nil {
			return errors.Join(err, f.close())
		}
		copy(f.ports[i].MAC[:], on.HardwareAddr)
	}
	f.family = unix.GENL_ID_CTRL
	answer, err := f.ask(unix.CTRL_CMD_GETFAMILY, unix.CTRL_ATTR_FAMILY_NAME, append([]byte("netdev"), 0))
	if id := answer[unix.CTRL_ATTR_FAMILY_ID]; err == nil && len(id) >= 2 {
		f.family = binary.NativeEndian.Uint16(id)
		return f.look(p)
	}
	return errors.Join(fmt.Errorf("fast: this kernel does not say which drivers take frames: %w", err), f.close())
}

// look makes each port fast, or not, as its driver is now.
func (f *fastPorts) look(p *bpf.Programs) error {
	for i := range f.ports {
		port := &f.ports[i]
		answer, err := f.ask(netdevGet, netdevIfindex, binary.NativeEndian.AppendUint32(nil, uint32(port.Ifindex)))
		features := answer[netdevXDPFeatures]
		port.Fast = err == nil && len(features) >= 8 && binary.NativeEndian.Uint64(features)&takesFrames != 0
		if err := p.AddPort(*port); err != nil {
			return err
		}
	}
	return nil
}

// ask sends a command with one attribute, and returns those of the answer.
func (f *fastPorts) ask(command uint8, attribute uint16, value []byte) (answer map[uint16][]byte, err error) {
	b := binary.NativeEndian.AppendUint32(nil, 0) // the length
	b = binary.NativeEndian.AppendUint16(b, f.family)
	b = binary.NativeEndian.AppendUint16(b, unix.NLM_F_REQUEST)
	b = append(b, make([]byte, 8)...) // number and port
	b = append(b, command, 1, 0, 0)
	b = binary.NativeEndian.AppendUint16(b, uint16(unix.SizeofNlAttr+len(value)))
	b = binary.NativeEndian.AppendUint16(b, attribute)
	b = append(b, value...)
	b = append(b, make([]byte, -len(b)&3)...)
	binary.NativeEndian.PutUint32(b, uint32(len(b)))
	if err := unix.Sendto(f.socket, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	text := make([]byte, 1<<14)
	n, _, err := unix.Recvfrom(f.socket, text, 0)
	if err != nil {
		return nil, err
	}
	messages, err := syscall.ParseNetlinkMessage(text[:n])
	if err != nil || len(messages) == 0 || len(messages[0].Data) < unix.GENL_HDRLEN {
		return nil, errors.Join(err, errors.New("no answer"))
	}
	m := &messages[0]
	if m.Header.Type == unix.NLMSG_ERROR {
		return nil, unix.Errno(-int32(binary.NativeEndian.Uint32(m.Data)))
	}
	answer = map[uint16][]byte{}
	for rest := m.Data[unix.GENL_HDRLEN:]; len(rest) >= unix.SizeofNlAttr; {
		size := int(binary.NativeEndian.Uint16(rest))
		if size < unix.SizeofNlAttr || size > len(rest) {
			break
		}
		kind := binary.NativeEndian.Uint16(rest[2:]) &^ (unix.NLA_F_NESTED | unix.NLA_F_NET_BYTEORDER)
		answer[kind] = rest[unix.SizeofNlAttr:size]
		rest = rest[min(len(rest), (size+3)&^3):]
	}
	return answer, nil
}

func (f *fastPorts) close() error {
	if f.socket == 0 {
		return nil
	}
	socket := f.socket
	f.socket = 0
	return unix.Close(socket)
}
