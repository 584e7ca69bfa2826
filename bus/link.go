package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"
)

// A link is a connection to a bus. It comes back by itself, for as long as that takes.
type link interface {
	// publish hands over a message, which must not change until it is acknowledged: what it returns waits for that.
	// again tells the attempts apart to send a message that the bus has lost.
	publish(key Key, number uint64, message []byte, again string) (acknowledged func(context.Context) error, err error)
	// ask returns what the analyzer answers to a collector, as JSON.
	ask(collector string) ([]byte, error)
	// answer answers all that ask, until stop is called.
	answer(f func(collector string) []byte) (stop func(), err error)
	// consume takes the messages of the stream, which it makes if it is not there, until ctx is done or something is in
	// the way. After that nothing is taken.
	consume(ctx context.Context, c *consumption) error
	connected() bool
	close()
}

// A consumption is what becomes of the messages of a stream.
type consumption struct {
	// begin is called first, with which stream it is and the number of its newest message; it returns the one to begin
	// with. They are numbered from 1.
	begin func(stream string, newest uint64) (from uint64)
	// take takes the next message. behind are those that the stream has behind it.
	take func(sequence, behind uint64, content []byte)
	// elsewhere takes them instead, until ctx is done or something is in the way; nil: nobody does.
	elsewhere func(ctx context.Context, stream string) error
	// tick is called once a second.
	tick func()
	// confirmed returns what the stream may forget.
	confirmed func() purgeable
}

// purgeEvery is how often what is confirmed is taken out of the stream.
const purgeEvery = 2 * time.Second

// tend ticks, and has what is confirmed taken out of the stream, until ctx is done or something breaks.
func (c *consumption) tend(ctx context.Context, broken <-chan error, purge func(purgeable)) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	purged := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-broken:
			return err
		case now := <-ticker.C:
			c.tick()
			if now.Sub(purged) < purgeEvery {
				continue
			}
			purged = now
			purge(c.confirmed())
		}
	}
}

// open opens a link, which need not succeed at once. changed is called when it is connected, with the server, and when
// the connection is lost, with the reason.
func (c *Config) open(changed func(is bool, url string, err error)) (link, error) {
	if c.isKafka() {
		return c.openKafka(changed)
	}
	return c.openNATS(changed)
}

// kafkaScheme begins the addresses of brokers of Kafka.
const kafkaScheme = "kafka://"

func (c *Config) isKafka() bool { return IsKafka(c.URLs) }

// IsKafka reports whether addresses are those of brokers of Kafka.
func IsKafka(urls []string) bool { return len(urls) > 0 && strings.HasPrefix(urls[0], kafkaScheme) }

// CheckURLs refuses addresses of brokers of Kafka that are none, or beside servers of NATS.
func CheckURLs(urls []string) error {
	for _, u := range urls {
		if kafka := strings.HasPrefix(u, kafkaScheme); kafka != strings.HasPrefix(urls[0], kafkaScheme) {
			return errors.New("want servers of NATS or brokers of Kafka, not both")
		} else if kafka {
			if _, _, err := net.SplitHostPort(strings.TrimPrefix(u, kafkaScheme)); err != nil || strings.Contains(u, "@") {
				return fmt.Errorf("got %q, want kafka://HOST:PORT; credentials is a file with USER:PASSWORD", u)
			}
		}
	}
	return nil
}

// logChanges returns what logs that the bus is there, or not.
func logChanges(log *slog.Logger, without string) func(is bool, url string, err error) {
	return func(is bool, url string, err error) {
		if is {
			log.Info("connected to the bus", "url", url)
		} else {
			log.Warn("no connection to the bus; "+without, "error", err)
		}
	}
}
