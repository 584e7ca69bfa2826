//go:build linux

package kernel

import (
	"encoding/binary"
	"fmt"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// lower returns the interfaces that frames of an interface pass before it: what a VLAN, macvlan or tunnel is on, ports
// of a bridge. Those of a bond, whose programs run at its ports, are none.
func lower(name string) (names []string) {
	own, err := net.InterfaceByName(name)
	if err != nil || driver(name) == "bonding" {
		return nil
	}
	text, err := syscall.NetlinkRIB(unix.RTM_GETLINK, unix.AF_UNSPEC)
	if err != nil {
		return nil
	}
	messages, err := syscall.ParseNetlinkMessage(text)
	if err != nil {
		return nil
	}
	for i := range messages {
		attributes, err := syscall.ParseNetlinkRouteAttr(&messages[i])
		if err != nil || messages[i].Header.Type != unix.RTM_NEWLINK {
			continue
		}
		index := int(binary.NativeEndian.Uint32(messages[i].Data[4:]))
		link, elsewhere, called := 0, false, ""
		for _, a := range attributes {
			switch a.Attr.Type {
			case unix.IFLA_IFNAME:
				called = unix.ByteSliceToString(a.Value)
			case unix.IFLA_LINK:
				link = int(binary.NativeEndian.Uint32(a.Value))
			case unix.IFLA_LINK_NETNSID:
				elsewhere = true
			case unix.IFLA_MASTER:
				if int(binary.NativeEndian.Uint32(a.Value)) == own.Index {
					names = append(names, called)
				}
			}
		}
		if index != own.Index || link == 0 || link == index || elsewhere || driver(name) == "veth" {
			continue
		}
		if on, err := net.InterfaceByIndex(link); err == nil {
			names = append(names, on.Name)
		}
	}
	return names
}

// joinedBelow returns an interface below that joins packets (GRO) before they come to name, "" if there is none. At
// name itself none are joined in front of an XDP program.
func joinedBelow(name string) string {
	for _, below := range lower(name) {
		if on, err := ethtool(below, ethtoolGRO); err == nil && on != 0 {
			return below
		}
		if found := joinedBelow(below); found != "" {
			return found
		}
	}
	return ""
}

// refuseJoined says why the node cannot be at a port: INT in packets that were joined cannot be found any more, and
// would come to hosts.
func (c *Config) refuseJoined(p *Port) error {
	below := joinedBelow(p.Interface)
	if c.node.Mode == "xd" || below == "" {
		return nil
	}
	return fmt.Errorf("interface %s: packets are joined (GRO) before they come to it, and INT in them would stay in "+
		"the data of hosts; turn that off: ethtool -K %s gro off", p.Interface, below)
}
