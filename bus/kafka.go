package bus

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

const (
	// datagramsTopic has messages, in one partition: they are numbered by their places in it.
	datagramsTopic = "waybill.datagrams"
	// positionsTopic has what the analyzer says to collectors, each by its name.
	positionsTopic = "waybill.positions"
	// positionsKept is for how long the brokers have to keep that.
	positionsKept = 10 * time.Minute
	// heardFor is how long collectors are answered of which nothing comes, and maxHeard bounds them.
	heardFor = time.Minute
	maxHeard = 4096
)

// A kafkaLink is a connection to brokers of Kafka.
type kafkaLink struct {
	config  *Config
	options []kgo.Opt
	client  *kgo.Client
	admin   *kadm.Client
	open    atomic.Int64 // connections
	changed func(is bool, url string, err error)
	ended   context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	mu    sync.Mutex
	heard map[string]time.Time // collectors, and when they were heard last

	asking  sync.Once
	answers chan []byte // the newest to this collector
}

func (c *Config) openKafka(changed func(is bool, url string, err error)) (link, error) {
	k := &kafkaLink{config: c, changed: changed, heard: map[string]time.Time{}, answers: make(chan []byte, 1)}
	var brokers []string
	for _, url := range c.URLs {
		brokers = append(brokers, strings.TrimPrefix(url, kafkaScheme))
	}
	k.options = []kgo.Opt{
		kgo.SeedBrokers(brokers...), kgo.ClientID("waybill"), kgo.WithHooks(k), kgo.DialTimeout(5 * time.Second),
		kgo.MetadataMinAge(250 * time.Millisecond), // a topic that was not there may be there now
		kgo.RetryBackoffFn(func(tries int) time.Duration {
			return min(100*time.Millisecond<<min(tries, 8), time.Second)
		}),
	}
	if c.TLS != nil {
		k.options = append(k.options, kgo.DialTLSConfig(c.TLS))
	}
	if c.Credentials != "" {
		text, err := os.ReadFile(c.Credentials)
		if err != nil {
			return nil, fmt.Errorf("bus: credentials: %w", err)
		}
		user, password, ok := strings.Cut(strings.TrimSpace(string(text)), ":")
		if !ok || user == "" || password == "" {
			return nil, errors.New("bus: credentials: the file has no USER:PASSWORD")
		}
		k.options = append(k.options, kgo.SASL(scram.Auth{User: user, Pass: password}.AsSha512Mechanism()))
	}
	var err error
	k.client, err = kgo.NewClient(append(k.options,
		kgo.RequiredAcks(kgo.AllISRAcks()), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0),
		kgo.ProducerBatchCompression(kgo.NoCompression()), // messages are compressed
		kgo.RecordDeliveryTimeout(ackTimeout), kgo.AllowIdempotentProduceCancellation(),
	)...)
	if err != nil {
		return nil, fmt.Errorf("bus: %w", err)
	}
	k.admin = kadm.NewClient(k.client)
	k.ended, k.end = context.WithCancel(context.Background())
	return k, nil
}

// OnBrokerConnect implements kgo.HookBrokerConnect.
func (k *kafkaLink) OnBrokerConnect(at kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if err == nil && k.open.Add(1) == 1 {
		k.changed(true, kafkaScheme+net.JoinHostPort(at.Host, strconv.Itoa(int(at.Port))), nil)
	}
}

// OnBrokerDisconnect implements kgo.HookBrokerDisconnect.
func (k *kafkaLink) OnBrokerDisconnect(kgo.BrokerMetadata, net.Conn) {
	if k.open.Add(-1) == 0 && k.ended.Err() == nil {
		k.changed(false, "", errors.New("all connections are closed"))
	}
}

func (k *kafkaLink) connected() bool { return k.open.Load() > 0 }

func (k *kafkaLink) publish(key Key, _ uint64, message []byte, _ string) (func(context.Context) error, error) {
	produced := make(chan error, 1)
	record := &kgo.Record{Topic: datagramsTopic, Key: []byte(key.Collector), Value: message}
	k.client.Produce(k.ended, record, func(_ *kgo.Record, err error) { produced <- err })
	return func(ctx context.Context) error {
		select {
		case err := <-produced:
			k.lookAgain(err)
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}, nil
}

// lookAgain forgets topics that were made anew since, which the library does not notice.
func (k *kafkaLink) lookAgain(err error) {
	if errors.Is(err, kerr.UnknownTopicID) {
		k.client.PurgeTopicsFromProducing(datagramsTopic, positionsTopic)
	}
}

// ask returns what the analyzer said last to a collector, which is always the same: it says that twice a second.
func (k *kafkaLink) ask(collector string) ([]byte, error) {
	k.asking.Do(func() { k.running.Go(func() { k.listen(collector) }) })
	select {
	case answer := <-k.answers:
		return answer, nil
	case <-time.After(2 * time.Second):
		return nil, errors.New("bus: no answer from the analyzer")
	case <-k.ended.Done():
		return nil, k.ended.Err()
	}
}

// listen notes what the analyzer says to a collector.
func (k *kafkaLink) listen(collector string) {
	for k.ended.Err() == nil {
		at := kgo.NewOffset().AtEnd()
		client, err := kgo.NewClient(append(k.options, kgo.ConsumeResetOffset(at),
			kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{positionsTopic: {0: at}}))...)
		if err != nil {
			return // the same options were right before
		}
		for err == nil {
			fetches := client.PollFetches(k.ended)
			fetches.EachRecord(func(r *kgo.Record) {
				if string(r.Key) != collector {
					return
				}
				select {
				case <-k.answers: // an older one
				default:
				}
				k.answers <- r.Value
			})
			err = fetches.Err()
		}
		client.Close() // the topic may be made anew
		select {
		case <-k.ended.Done():
		case <-time.After(pollEvery):
		}
	}
}

// answer answers the collectors of which messages come: they need not ask.
func (k *kafkaLink) answer(f func(collector string) []byte) (func(), error) {
	ctx, stop := context.WithCancel(k.ended)
	k.running.Go(func() {
		ticker := time.NewTicker(pollEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			var list []*kgo.Record
			for _, collector := range k.recent() {
				list = append(list, &kgo.Record{Topic: positionsTopic, Key: []byte(collector), Value: f(collector)})
			}
			k.lookAgain(k.client.ProduceSync(ctx, list...).FirstErr()) // what is not delivered is said again
		}
	})
	return stop, nil
}

// hear notes that a message of a collector came.
func (k *kafkaLink) hear(collector string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.heard[collector]; ok || len(k.heard) < maxHeard {
		k.heard[collector] = time.Now()
	}
}

// recent returns the collectors of which messages came lately, and forgets the others.
func (k *kafkaLink) recent() (list []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for collector, at := range k.heard {
		if time.Since(at) > heardFor {
			delete(k.heard, collector)
		} else {
			list = append(list, collector)
		}
	}
	return list
}

// makeTopic makes a topic of one partition, or makes it as configured.
func (k *kafkaLink) makeTopic(ctx context.Context, name string, settings map[string]string) error {
	replicas := max(k.config.Stream.Replicas, 1)
	if replicas > 2 {
		settings["min.insync.replicas"] = strconv.Itoa(replicas/2 + 1)
	}
	configs, alter := map[string]*string{}, []kadm.AlterConfig{}
	for key, value := range settings {
		configs[key] = &value
		alter = append(alter, kadm.AlterConfig{Op: kadm.SetConfig, Name: key, Value: &value})
	}
	_, err := k.admin.CreateTopic(ctx, 1, int16(replicas), configs, name)
	if !errors.Is(err, kerr.TopicAlreadyExists) {
		return err
	}
	answers, err := k.admin.AlterTopicConfigs(ctx, alter, name)
	if err == nil {
		for _, a := range answers {
			err = errors.Join(err, a.Err)
		}
	}
	return err
}

func (k *kafkaLink) consume(ctx context.Context, c *consumption) error {
	asking, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	// What is not confirmed is kept, unless there is too much of it: then collectors have to send it again.
	err := errors.Join(
		k.makeTopic(asking, datagramsTopic, map[string]string{
			"retention.ms": "-1", "retention.bytes": strconv.FormatInt(k.config.Stream.MaxBytes, 10),
			"max.message.bytes": strconv.Itoa(MaxMessageBytes + 1024),
		}),
		k.makeTopic(asking, positionsTopic, map[string]string{
			"retention.ms": strconv.FormatInt(positionsKept.Milliseconds(), 10),
		}),
	)
	if err != nil {
		return err
	}
	topics, err := k.admin.ListTopics(asking, datagramsTopic)
	if err == nil {
		err = topics[datagramsTopic].Err
	}
	if err != nil {
		return err
	}
	ends, err := k.admin.ListEndOffsets(asking, datagramsTopic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return err
	}
	end, _ := ends.Lookup(datagramsTopic, 0)
	from := c.begin(topics[datagramsTopic].ID.String(), uint64(end.Offset))
	client, err := kgo.NewClient(append(k.options,
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{
			datagramsTopic: {0: kgo.NewOffset().At(int64(from) - 1)},
		}),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), // what was there is gone
	)...)
	if err != nil {
		return err
	}
	broken := make(chan error, 1)
	taking, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for taking.Err() == nil {
			fetches := client.PollFetches(taking)
			fetches.EachPartition(func(p kgo.FetchTopicPartition) {
				for _, r := range p.Records {
					if taking.Err() != nil {
						return
					}
					k.hear(string(r.Key))
					c.take(uint64(r.Offset)+1, uint64(max(p.HighWatermark-r.Offset-1, 0)), r.Value)
				}
			})
			if err := fetches.Err(); err != nil && taking.Err() == nil {
				broken <- err
				return
			}
		}
	})
	defer func() {
		stop()
		done.Wait()
		client.Close()
	}()
	return c.tend(ctx, broken, func(p purgeable) {
		if p.upTo == 0 {
			return
		}
		var offsets kadm.Offsets
		offsets.AddOffset(datagramsTopic, 0, int64(p.upTo), -1)
		_, _ = k.admin.DeleteRecords(ctx, offsets) // the next one does more
	})
}

func (k *kafkaLink) close() {
	k.end()
	k.running.Wait()
	k.client.Close()
}
