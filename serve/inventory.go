package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/waybill-int/waybill/internal/datadir"
)

const (
	inventoryName = "inventory.json"
	// saveInventory is how often at most what sources said is written.
	saveInventory = time.Minute
)

// openInventory takes what sources said before the last process ended. A damaged file is moved aside: it is asked for
// again.
func (s *Server) openInventory(dir *datadir.Dir) error {
	s.inventoryDir = dir
	text, err := os.ReadFile(dir.Path(inventoryName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("data: %w", err)
	}
	if err := s.inventory.Restore(text); err != nil {
		aside, moveErr := dir.MoveAside(inventoryName)
		if moveErr != nil {
			return fmt.Errorf("data: %w", moveErr)
		}
		s.log.Error("what sources of the inventory said cannot be read and was moved aside", "error", err, "file",
			aside)
	}
	s.useInventory()
	return nil
}

// useInventory puts what is known into effect.
func (s *Server) useInventory() {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	configured, err := s.current.configured(s.inventory.Inventory())
	if err != nil {
		s.log.Error("the inventory was not taken into effect", "error", err)
		return
	}
	s.Collector.Configure(configured)
	if s.keeper != nil {
		s.keeper.store.SetNames(configured.Names)
	}
}

// keepInventory asks the sources of the inventory until ctx is done, and writes what they say.
func (s *Server) keepInventory(ctx context.Context) {
	changed := make(chan struct{}, 1)
	s.inventory.Changed = func() {
		s.useInventory()
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.inventory.Run(ctx)
	}()
	for s.inventoryDir != nil {
		select {
		case <-done:
			s.writeInventory(changed)
			return
		case <-time.After(saveInventory):
			s.writeInventory(changed)
		}
	}
	<-done
}

// writeInventory writes what sources said, if that changed.
func (s *Server) writeInventory(changed <-chan struct{}) {
	select {
	case <-changed:
	default:
		return
	}
	text, err := s.inventory.Save()
	if err == nil {
		err = s.inventoryDir.Write(inventoryName, text)
	}
	if err != nil {
		s.log.Error("what sources of the inventory said was not written; it is asked for again after a restart",
			"error", err)
	}
}
