package serve

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two servers do not share a directory, and what cannot be written or read is said in one line at the start.
func TestDataDirectory(t *testing.T) {
	open := func(data string) error {
		c := DefaultConfig()
		c.Listen, c.HTTP, c.Data = []string{"udp://127.0.0.1:0"}, "127.0.0.1:0", data
		s, err := New(t.Context(), &c, io.Discard)
		if err == nil {
			s.endpoint.listener.Close()
			s.checkpoints.Stop()
			s.keeper.close()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			for _, r := range s.Receivers {
				r.Run(ctx) // which closes its socket
			}
		}
		return err
	}
	data := t.TempDir()
	c := DefaultConfig()
	c.Listen, c.HTTP, c.Data = []string{"udp://127.0.0.1:0"}, "127.0.0.1:0", data
	s, err := New(t.Context(), &c, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	if err := open(data); err == nil || !strings.Contains(err.Error(), "another process uses it") {
		t.Errorf("a second server: %v", err)
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := open(data); err != nil {
		t.Errorf("after it stopped: %v", err)
	}
	file := filepath.Join(data, checkpointName)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	newer := bytes.Replace(content, []byte("checkpoint 1 "), []byte("checkpoint 2 "), 1)
	if err := os.WriteFile(file, newer, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(data); err == nil || !strings.Contains(err.Error(), "written by a newer version of Waybill") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("a newer checkpoint: %v", err)
	}
	if kept, _ := os.ReadFile(file); !bytes.Equal(kept, newer) {
		t.Error("a newer checkpoint was changed")
	}
	for i := range content { // damaged at each place, and cut off there
		damaged := bytes.Clone(content)
		damaged[i] ^= 1
		for _, bad := range [][]byte{damaged, content[:i]} {
			if _, err := decodeCheckpoint(bad); err == nil && !bytes.Equal(bad, content) {
				t.Fatalf("damaged at byte %d of %q: no error", i, content)
			}
		}
	}
	if err := os.WriteFile(file, content[:len(content)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(data); err != nil {
		t.Errorf("a damaged checkpoint: %v", err)
	}
	if aside, _ := filepath.Glob(file + ".damaged-*"); len(aside) != 1 {
		t.Errorf("moved aside: %v", aside)
	}
	if err := open(file); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("a file as directory: %v", err)
	}
}

// While it runs, a directory that cannot be written to is no reason to stop; it is said once.
func TestDataDirectoryGoesAway(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	c := DefaultConfig()
	c.Listen, c.HTTP, c.Data = []string{"udp://127.0.0.1:0"}, "127.0.0.1:0", data
	var log bytes.Buffer
	s, err := New(t.Context(), &c, &log)
	if err != nil {
		t.Fatal(err)
	}
	defer s.endpoint.listener.Close()
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	s.checkpoints.attempt()
	s.checkpoints.attempt()
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	s.checkpoints.attempt()
	if n := strings.Count(log.String(), "the checkpoint cannot be written"); n != 1 ||
		!strings.Contains(log.String(), "can be written again") {
		t.Errorf("said %d times:\n%s", n, log.String())
	}
	if s.checkpoints.failures.Load() != 2 || s.checkpoints.savedNs.Load() == 0 {
		t.Errorf("%d failures", s.checkpoints.failures.Load())
	}
}
