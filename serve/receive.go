package serve

import (
	"context"
	"fmt"
	"sync"

	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/collect/flowsample"
)

// owners returns what a receiver hands its reports to.
func (s *Server) owners() []collect.Dispatcher {
	if len(s.shards) == 1 {
		return []collect.Dispatcher{collect.Inline(s.shards[0])}
	}
	owners := make([]collect.Dispatcher, len(s.queues))
	for i, q := range s.queues {
		owners[i] = q
	}
	return owners
}

// exporterLimit returns how many exporters each of the receivers may keep an account of: a sixteenth of the memory.
func exporterLimit(memory uint64, receivers int) int {
	const perExporter = 5000 // bytes, with intervals
	return int(min(max(memory/16/uint64(receivers)/perExporter, 64), 4096))
}

// sayGoodbye tells in one line what came and what was lost.
func (s *Server) sayGoodbye() {
	var received, drops, damaged, malformed, refused uint64
	for _, n := range s.listeners() {
		received += n.Received
		drops += *n.KernelDrops
		damaged += n.Damaged
		malformed += n.Malformed
		refused += n.Refused
	}
	s.log.Info("stopped", "received", received, "kernel_drops", drops, "damaged", damaged, "malformed", malformed,
		"refused", refused)
}

// listeners returns the state of the sockets as the API shows it.
func (s *Server) listeners() []types.Listener {
	list := make([]types.Listener, len(s.Receivers))
	for i, r := range s.Receivers {
		n := r.Stats()
		list[i] = types.Listener{
			Address: n.Address, Received: n.Received, Decoded: n.Decoded, Damaged: n.Damaged, Malformed: n.Malformed,
			Refused: n.Refused, RefusedUnlisted: n.RefusedUnlisted,
			KernelDrops: &n.KernelDrops, ReceiveBufferWanted: n.ReceiveBufferWanted, ReceiveBuffer: n.ReceiveBuffer,
		}
	}
	if s.bus != nil {
		drops := s.bus.consumer.KernelDrops()
		list[0].Address, list[0].KernelDrops = busListen, &drops
	}
	return list
}

// openSockets opens the sockets for reports.
func (s *Server) openSockets() error {
	c := s.Config
	if c.Role == roleAnalyze {
		return nil
	}
	for _, address := range c.Listen {
		_, plain := flowsample.FormatOf(address)
		group, err := collect.Listen(collect.Config{
			Address: plain, Sockets: c.Workers, ReceiveBuffer: c.receiveBuffer(), Coalesce: c.Coalesce,
		})
		if err != nil {
			return err
		}
		for _, socket := range group {
			s.opened = append(s.opened, func() { socket.Close() })
		}
		if err := group[0].Fallback(); err != nil {
			s.log.Warn("frames of the interface cannot be read; reports are received by UDP sockets",
				"address", address, "err", err,
				"help", "xdp needs CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF, and no other XDP program; packet CAP_NET_RAW")
		}
		if wanted, got := group[0].ReceiveBuffer(); got < wanted {
			s.log.Warn(
				"the kernel gave a smaller receive buffer than asked; bursts of reports may be lost (they are counted)",
				"address", address, "asked", wanted, "got", got, "help",
				fmt.Sprintf("sysctl -w net.core.rmem_max=%d", wanted))
		}
		if c.Coalesce && !group[0].Coalesced() {
			s.log.Info(
				"the kernel hands over datagrams one by one, which takes three times as long; runs need Linux 5.7 and root or CAP_BPF",
				"address", address, "help", "setcap cap_bpf,cap_net_admin+ep, or coalesce: false")
		}
		s.sockets = append(s.sockets, group...)
		for range group {
			s.listens = append(s.listens, address)
		}
	}
	return nil
}

// formatOf returns what datagrams a receiver reads, by its place; nil: telemetry reports.
func (s *Server) formatOf(receiver int) *flowsample.Format {
	if len(s.sockets) == 0 {
		return nil // from the bus
	}
	f, _ := flowsample.FormatOf(s.listens[receiver])
	return f
}

// newReceivers makes a receiver for each socket, and the ledger of all.
func (s *Server) newReceivers() error {
	c := s.Config
	memory, _ := parseSize(c.Memory)
	sockets := make([]ledger.Socket, len(s.sockets))
	for i, socket := range s.sockets {
		sockets[i] = ledger.Socket{
			Listen: s.listens[i], Address: socket.String(), Drops: socket.Drops,
		}
		exporters := ledger.NewExporters(exporterLimit(memory, len(sockets)))
		s.Collector.Exporters = append(s.Collector.Exporters, exporters)
		receiver := collect.NewReceiver(socket, s.settings.Load(), exporters, s.owners())
		s.Receivers = append(s.Receivers, receiver)
		if format := s.formatOf(i); format != nil {
			decoder := format.New(s.points())
			receiver.Read(decoder)
			s.samples.add(format, decoder)
		}
	}
	if c.Role == roleAnalyze {
		sockets = append(sockets, s.busSocket())
		exporters := ledger.NewExporters(exporterLimit(memory, 1))
		s.Collector.Exporters = append(s.Collector.Exporters, exporters)
		receiver := collect.NewReceiver(nil, s.settings.Load(), exporters, s.owners())
		if s.tables != nil {
			receiver.RelayTo(s.tables.Relays(), s.tables.Partitions())
		}
		s.Receivers = append(s.Receivers, receiver)
	}
	s.ledger = ledger.New(s.Collector.Exporters, sockets, s.Collector.Names, s.Collector)
	return nil
}

// receiving is the component that receives reports. Stop takes what is still in the sockets.
type receiving struct {
	server *Server
	cancel context.CancelFunc
	all    sync.WaitGroup
}

// Start implements component.
func (r *receiving) Start() {
	var ctx context.Context
	ctx, r.cancel = context.WithCancel(context.Background())
	if r.server.bus != nil {
		r.server.bus.Start()
		r.server.receiving.Store(true)
		return
	}
	for _, receiver := range r.server.Receivers {
		r.all.Go(func() {
			if err := receiver.Run(ctx); err != nil {
				r.server.failures <- err
			}
		})
	}
	r.server.receiving.Store(true)
}

// Stop implements component.
func (r *receiving) Stop() error {
	r.cancel()
	if r.server.bus != nil {
		return r.server.bus.Stop()
	}
	r.all.Wait()
	return nil
}

// sayHello tells where reports are received and questions answered.
func (s *Server) sayHello() {
	if s.bus != nil {
		s.log.Info("receiving telemetry reports from the bus")
	} else {
		for i, r := range s.Receivers {
			what, address := "telemetry reports", collect.URL(r.Stats().Address)
			if f := s.formatOf(i); f != nil {
				what, address = f.Name, f.Scheme+"://"+r.Stats().Address
			}
			s.log.Info("receiving "+what, "address", address)
		}
	}
	s.log.Info("serving console and API", "url", s.URL())
	s.sayWhoMayAsk()
}
