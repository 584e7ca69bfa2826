package collect

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// splitAddress turns "udp://HOST:PORT" or "HOST:PORT" into the network and the address that package net wants, and
// "xdp://INTERFACE:PORT" or "packet://INTERFACE:PORT" into its parts.
func splitAddress(address string) (network, hostPort string, err error) {
	network, hostPort = "udp", address
	if scheme, rest, found := strings.Cut(address, "://"); found {
		if scheme != network && scheme != networkXDP && scheme != networkPacket {
			return "", "", fmt.Errorf("address %q: want udp://, xdp:// or packet://, got %s://", address, scheme)
		}
		network, hostPort = scheme, rest
	}
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return "", "", fmt.Errorf("address %q: want HOST:PORT, [IPV6]:PORT or :PORT", address)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", "", fmt.Errorf("address %q: port %q is not a number from 0 to 65535", address, port)
	}
	// Package net takes every unspecified address as "all addresses of both families"; 0.0.0.0 asks for IPv4.
	if host == "0.0.0.0" {
		network = "udp4"
	}
	return network, hostPort, nil
}

// PortOf returns the port of an address that Listen takes, without listening on it.
func PortOf(address string) (uint16, error) {
	_, hostPort, err := splitAddress(address)
	if err != nil {
		return 0, err
	}
	_, text, _ := net.SplitHostPort(hostPort)
	port, err := strconv.ParseUint(text, 10, 16)
	return uint16(port), err
}
