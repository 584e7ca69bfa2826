package auth

import (
	"crypto/tls"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
)

// handshake does one with a server, and returns the serial number of its certificate, and the common name
// that it saw of the client.
func handshake(t *testing.T, server *TLS, client *tls.Config) (serial int64, name string, err error) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", server.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	names := make(chan string, 1)
	go func() {
		defer close(names)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		c := conn.(*tls.Conn)
		if c.Handshake() == nil {
			for _, chain := range c.ConnectionState().VerifiedChains {
				names <- chain[0].Subject.CommonName
				break
			}
			c.Write([]byte{1})
		}
	}()
	conn, err := tls.DialWithDialer(&net.Dialer{}, "tcp", l.Addr().String(), client)
	if err != nil {
		return 0, "", err
	}
	defer conn.Close()
	if _, err := conn.Read(make([]byte, 1)); err != nil { // in TLS 1.3 a refused client learns it with what comes next
		return 0, "", err
	}
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64(), <-names, nil
}

func TestCertificatesAreReadAgain(t *testing.T) {
	ca, other := test.NewAuthority(t), test.NewAuthority(t)
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	var said []error
	if _, err := OpenTLS(cert, key, "", nil); err == nil {
		t.Fatal("opened files that are not there")
	}
	ca.Issue("server", 1, cert, key)
	server, err := OpenTLS(cert, key, "", func(err error) { said = append(said, err) })
	if err != nil {
		t.Fatal(err)
	}
	client, err := ClientTLS(ca.File, "", "")
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, want int64) {
		t.Helper()
		if got, _, err := handshake(t, server, client); err != nil || got != want {
			t.Errorf("%s: got certificate %d, %v; want %d", what, got, err, want)
		}
	}
	check("at first", 1)
	ca.Issue("server", 2, cert, key)
	server.Reload()
	check("another certificate", 2)
	ca.Issue("server", 3, cert, filepath.Join(dir, "other.pem")) // the key does not belong to it
	server.Reload()
	check("half a change", 2)
	if len(said) != 2 || said[0] != nil || said[1] == nil {
		t.Errorf("said %v", said)
	}
	old := client.Clone()
	old.MaxVersion, old.MinVersion = tls.VersionTLS11, tls.VersionTLS10
	if _, _, err := handshake(t, server, old); err == nil {
		t.Error("TLS 1.1 is taken")
	}
	stranger := &tls.Config{RootCAs: other.Pool()}
	if _, _, err := handshake(t, server, stranger); err == nil {
		t.Error("a client that trusts another authority is content")
	}
}

func TestClientCertificates(t *testing.T) {
	ca, other := test.NewAuthority(t), test.NewAuthority(t)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	ca.Issue("server", 1, in("cert"), in("key"))
	ca.Issue("noc", 2, in("noc"), in("noc-key"))
	other.Issue("noc", 3, in("fake"), in("fake-key"))
	server, err := OpenTLS(in("cert"), in("key"), ca.File, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cert, name string
		ok         bool
	}{{"noc", "noc", true}, {"", "", true}, {"fake", "", false}} {
		config := &tls.Config{RootCAs: ca.Pool()}
		if c.cert != "" {
			if config, err = ClientTLS(ca.File, in(c.cert), in(c.cert+"-key")); err != nil {
				t.Fatal(err)
			}
			pair := config.Certificates[0] // also where the server does not ask for such a one
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				return &pair,
					nil
			}
		}
		_, name, err := handshake(t, server, config)
		if (err == nil) != c.ok || name != c.name {
			t.Errorf("%q: got %q, %v", c.cert, name, err)
		}
	}
	for _, files := range [][3]string{
		{ca.File, in("noc"), ""},
		{ca.File, "", in("noc-key")},
		{in("none"), "", ""},
		{in("key"), "", ""},
		{"", in("noc"), in("key")},
	} {
		if _, err := ClientTLS(files[0], files[1], files[2]); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: got %v", files, err)
		}
	}
}
