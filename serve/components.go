package serve

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// A component is a part of the server that works from Start to Stop, which returns when nothing is left to do for it.
type component interface {
	Start()
	Stop() error
}

// tasks are a component: functions that run until their contexts are done, the last one first.
type tasks struct {
	list  []func(context.Context)
	stops []func()
}

// background returns a component that runs the functions of a list.
func background(list ...func(context.Context)) *tasks { return &tasks{list: list} }

// Start implements component.
func (t *tasks) Start() {
	for _, f := range t.list {
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { f(ctx) })
		t.stops = append(t.stops, func() { cancel(); running.Wait() })
	}
}

// Stop implements component.
func (t *tasks) Stop() error {
	for _, stop := range slices.Backward(t.stops) {
		stop()
	}
	t.stops = nil
	return nil
}

// atStop is a component that does nothing by itself until it is stopped.
type atStop func()

// Start implements component.
func (atStop) Start() {}

// Stop implements component.
func (f atStop) Stop() error { f(); return nil }

// components lists the parts of the server in the order in which they start: each one stands on those before it, and
// stops before them. So a report that was received reaches the tables, what they hold the store, and all of it the
// disk.
func (s *Server) components() []component {
	var list []component
	if s.tenure != nil {
		list = append(list, s.tenure)
	}
	list = append(list, background(s.dialects.run, s.keepInventory))
	if s.raw != nil {
		list = append(list, background(s.raw.ring.Run))
	}
	if s.keeper != nil {
		list = append(list, &s.exports)
	}
	if s.keeper != nil && s.bus == nil {
		list = append(list, s.keeper)
	}
	if s.checkpoints != nil {
		list = append(list, s.checkpoints)
	}
	if s.keeper != nil && s.bus != nil { // it writes the checkpoints
		list = append(list, s.keeper)
	}
	list = append(list, background(s.shardTasks()...),
		background(s.scan, s.incidents.Watch, s.reloadOnHangup, s.sayRefused))
	if s.alerts != nil {
		list = append(list, background(func(ctx context.Context) { s.alerts.Run(ctx) }))
	}
	if s.mitigation != nil {
		list = append(list, background(s.mitigate))
	}
	list = append(list, &receiving{server: s})
	if s.demo != nil {
		list = append(list, atStop(s.demo.Stop))
	}
	return append(list, s.endpoint)
}

// Run starts all components, and stops them when ctx is done or one of them has failed. After ErrBeginAnew some of them
// may still work, and the process should end.
func (s *Server) Run(ctx context.Context) error {
	s.failures = make(chan error, len(s.Receivers)+1)
	list := s.components()
	for _, c := range list {
		c.Start()
	}
	s.sayHello()
	var err error
	select {
	case <-ctx.Done():
	case <-s.otherTables:
		err = errors.Join(ErrBeginAnew, errOtherTables)
	case err = <-s.failures:
	case gone := <-s.tablesGone():
		return errors.Join(ErrBeginAnew, gone)
	case other := <-s.tenure.lost():
		return errors.Join(ErrBeginAnew, other)
	}
	s.receiving.Store(false)
	stopped := make(chan error)
	go func() {
		for _, c := range slices.Backward(list) {
			err = errors.Join(err, c.Stop())
		}
		stopped <- err
	}()
	select {
	case err = <-stopped:
	case gone := <-s.tablesGone(): // parts that ask for them stop no more
		return errors.Join(ErrBeginAnew, gone)
	case other := <-s.tenure.lost(): // which has what is not written here
		return errors.Join(ErrBeginAnew, other)
	}
	if s.tables != nil {
		s.tables.Close()
	}
	s.sayGoodbye()
	return err
}
