package collect

import "sync"

// A dropCounter widens the kernel's 32-bit count of drops, which wraps, to 64 bits. It is right as long as it is asked
// at least once in 2^32 drops. It adds the datagrams that the kernel's count leaves out.
type dropCounter struct {
	mu     sync.Mutex
	last   uint32
	wide   uint64
	total  uint64 // wide and the datagrams that it leaves out
	closed bool
	err    error // why the last reading before close failed
}

// update reads the kernel's count, and what it leaves out, and returns the total. read runs under the lock: two
// readings that were added in the wrong order would look like a wrap. Once close has run, the total stays.
func (c *dropCounter) update(read func() (drops uint32, extra uint64, err error)) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return c.total, c.err
	}
	now, extra, err := read()
	if err != nil {
		return c.total, err
	}
	c.wide += uint64(now - c.last)
	c.last = now
	c.total = c.wide + extra
	return c.total, nil
}

// close reads the kernel's count for the last time; update returns that total, or why there is none, from now on.
func (c *dropCounter) close(read func() (drops uint32, extra uint64, err error)) {
	total, err := c.update(read)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed, c.total, c.err = true, total, err
}
