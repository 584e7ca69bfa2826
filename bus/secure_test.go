package bus

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/waybill-int/waybill/internal/test"
)

// newUser returns the public key of somebody, and the file with the seed.
func newUser(t *testing.T) (public, file string) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	if public, err = pair.PublicKey(); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "seed")
	if err := os.WriteFile(file, seed, 0o600); err != nil {
		t.Fatal(err)
	}
	return public, file
}

// Who has a key that the server knows and trusts its certificate takes part. Nobody else does: a stranger's key, none,
// a connection in the clear, and a certificate that others signed.
func TestSecureBus(t *testing.T) {
	authority, others := test.NewAuthority(t), test.NewAuthority(t)
	dir := t.TempDir()
	authority.Issue("127.0.0.1", 2, filepath.Join(dir, "cert"), filepath.Join(dir, "key"))
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "cert"), filepath.Join(dir, "key"))
	if err != nil {
		t.Fatal(err)
	}
	analyzer, analyzerSeed := newUser(t)
	collector, collectorSeed := newUser(t)
	stranger, strangerSeed := newUser(t)
	address, streams := test.FreePort(t, "tcp"), t.TempDir()
	open := func(keys ...string) *Server {
		s, err := OpenServer(ServerConfig{
			Listen: address, Dir: streams, MaxBytes: 1 << 30, NKeys: keys,
			TLS: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, Log: testLog(t),
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open(analyzer, collector)
	trusting := &tls.Config{RootCAs: authority.Pool(), MinVersion: tls.VersionTLS12}
	config := func(seed string, c *tls.Config) Config {
		return Config{URLs: []string{"nats://" + address}, NKey: seed, TLS: c}
	}
	a := startAnalyzer(t, config(analyzerSeed, trusting), nil)
	defer a.stop()
	refused := map[string]*testCollector{
		"stranger":    startCollector(t, config(strangerSeed, trusting), "stranger", ""),
		"without-key": startCollector(t, config("", trusting), "without-key", ""),
		"clear":       startCollector(t, config(collectorSeed, nil), "clear", ""),
		"distrusting": startCollector(t,
			config(collectorSeed, &tls.Config{RootCAs: others.Pool(), MinVersion: tls.VersionTLS12}), "distrusting", ""),
	}
	for name, c := range refused {
		defer c.stop()
		c.send(t, numbered(name, 1, 100))
	}
	time.Sleep(time.Second) // they have tried some times
	c := startCollector(t, config(collectorSeed, trusting), "collector", "")
	defer c.stop()
	c.send(t, numbered("collector", 1, 1000))
	test.Eventually(t, "all datagrams", func() bool { return a.count() >= 1000 })
	a.check(t, 1000)
	for name, c := range refused {
		if c.Stats().Connected {
			t.Errorf("%s is connected", name)
		}
	}
	// Whose key is known to the server later takes part then, with all that it has kept.
	s.Close()
	s = open(analyzer, collector, stranger)
	defer s.Close()
	test.Eventually(t, "the stranger", func() bool { return a.count() >= 1100 })
	a.check(t, 1100)
}
