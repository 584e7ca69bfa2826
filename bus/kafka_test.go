package bus

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/waybill-int/waybill/internal/test"
)

// startKafka starts three brokers that keep everything three times.
func startKafka(t *testing.T, options ...kfake.Opt) (c Config, brokers *kfake.Cluster) {
	t.Helper()
	brokers, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(3)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(brokers.Close)
	for _, address := range brokers.ListenAddrs() {
		c.URLs = append(c.URLs, "kafka://"+address)
	}
	c.Stream.Replicas = 3
	return c, brokers
}

// An analyzer that is stopped goes on where it was, also in a topic that is another one than before: what that has not,
// collectors send again. Each datagram is taken once.
func TestKafkaGoesOn(t *testing.T) {
	c, brokers := startKafka(t)
	one := startCollector(t, c, "one", t.TempDir()) // before there is a topic
	defer one.stop()
	one.send(t, numbered("one", 1, 4000))
	a := startAnalyzer(t, c, nil)
	defer a.stop()
	test.Eventually(t, "what came before the topic", func() bool { return a.count() == 4000 })
	var p *Positions
	a.Hold(func(now *Positions) { p = now })
	a.Confirm(p)
	test.Eventually(t, "an empty spool", func() bool {
		a.Hold(func(now *Positions) { a.mu.Lock(); p = now; a.mu.Unlock() })
		a.Confirm(p)
		return one.Stats().SpoolBytes < 2000
	})
	admin, err := kgo.NewClient(kgo.SeedBrokers(brokers.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	client := kadm.NewClient(admin)
	test.Eventually(t, "a topic without what is confirmed", func() bool {
		starts, err := client.ListStartOffsets(t.Context(), datagramsTopic)
		first, _ := starts.Lookup(datagramsTopic, 0)
		return err == nil && first.Offset > 0
	})
	a.stop()

	one.send(t, numbered("one", 4001, 4000))
	goOn := func() *testAnalyzer {
		b := startAnalyzer(t, c, p)
		b.taken, b.order = a.taken, a.order
		return b
	}
	b := goOn()
	test.Eventually(t, "what came while nobody took it", func() bool { return b.count() == 8000 })
	b.Hold(func(now *Positions) { p = now }) // which it does not confirm
	b.stop()

	one.send(t, numbered("one", 8001, 4000))
	published := one.Stats().Published
	test.Eventually(t, "all is published", func() bool { return one.Stats().Published >= published+4 })
	for _, topic := range []string{datagramsTopic, positionsTopic} { // the brokers have lost everything
		if _, err := client.DeleteTopic(t.Context(), topic); err != nil {
			t.Fatal(err)
		}
	}
	d := goOn()
	defer d.stop()
	one.send(t, numbered("one", 12001, 4000))
	test.Eventually(t, "what the brokers had lost", func() bool { return d.count() == 16000 })
	d.check(t, 16000)
	if n := d.Collectors()[0]; n.Lost != 0 || one.Stats().Republished == 0 {
		t.Errorf("got %+v, and %+v of the collector", n, one.Stats())
	}
}

// Who has no password is refused, and the connection is secured.
func TestKafkaSecure(t *testing.T) {
	authority, dir := test.NewAuthority(t), t.TempDir()
	authority.Issue("127.0.0.1", 2, filepath.Join(dir, "cert"), filepath.Join(dir, "key"))
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "cert"), filepath.Join(dir, "key"))
	if err != nil {
		t.Fatal(err)
	}
	c, _ := startKafka(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "waybill", "it's a secret"),
		kfake.TLS(&tls.Config{Certificates: []tls.Certificate{pair}}))
	c.TLS = &tls.Config{RootCAs: authority.Pool()}
	none := startAnalyzer(t, c, nil)
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("waybill:it's a secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Credentials = file
	one := startCollector(t, c, "one", "")
	defer one.stop()
	a := startAnalyzer(t, c, nil)
	defer a.stop()
	one.send(t, numbered("one", 1, 100))
	test.Eventually(t, "datagrams", func() bool { return a.count() == 100 })
	if none.stop(); none.count() > 0 {
		t.Errorf("%d datagrams came without a password", none.count())
	}
	c.Credentials = filepath.Join(t.TempDir(), "none")
	if _, err := OpenConsumer(ConsumerConfig{Bus: c, Log: testLog(t)}); err == nil ||
		!strings.Contains(err.Error(), "credentials") {
		t.Errorf("got %v", err)
	}
}
