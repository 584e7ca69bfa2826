package collect

import "testing"

func TestSplitAddress(t *testing.T) {
	f := func(address, network, hostPort string) {
		t.Helper()
		gotNetwork, gotHostPort, err := splitAddress(address)
		if err != nil || gotNetwork != network || gotHostPort != hostPort {
			t.Errorf("%s: got %q %q %v, want %q %q", address, gotNetwork, gotHostPort, err, network, hostPort)
		}
	}
	f("udp://:8555", "udp", ":8555")
	f("udp://[::1]:8555", "udp", "[::1]:8555")
	f("[fe80::1%eth0]:8555", "udp", "[fe80::1%eth0]:8555")
	f("127.0.0.1:0", "udp", "127.0.0.1:0")
	f("udp://0.0.0.0:8555", "udp4", "0.0.0.0:8555")
	f("xdp://eth0:8555", "xdp", "eth0:8555")
	f("packet://eth0:8555", "packet", "eth0:8555")
	f("collector.example:65535", "udp", "collector.example:65535")
}

func TestSplitAddressErrors(t *testing.T) {
	f := func(address, want string) {
		t.Helper()
		if _, _, err := splitAddress(address); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", address, err, want)
		}
	}
	f("", `address "": want HOST:PORT, [IPV6]:PORT or :PORT`)
	f("8555", `address "8555": want HOST:PORT, [IPV6]:PORT or :PORT`)
	f("::1:8555", `address "::1:8555": want HOST:PORT, [IPV6]:PORT or :PORT`)
	f("tcp://:8555", `address "tcp://:8555": want udp://, xdp:// or packet://, got tcp://`)
	f("udp://:8555/", `address "udp://:8555/": port "8555/" is not a number from 0 to 65535`)
	f(":65536", `address ":65536": port "65536" is not a number from 0 to 65535`)
	f(":", `address ":": port "" is not a number from 0 to 65535`)
}
