package collect

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// Where the kernel refuses runs of datagrams, here because it must not compute checksums, they are sent one by one.
func TestSenderWithoutSegmentation(t *testing.T) {
	s := listen(t, Config{Address: "127.0.0.1:0"})[0]
	out, err := dial(t.Context(), s.Addr().String(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer out.close()
	var optionErr error
	err = out.transport.raw.Control(func(fd uintptr) {
		optionErr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_NO_CHECK, 1)
	})
	if err != nil || optionErr != nil {
		t.Fatal(err, optionErr)
	}
	var want []string
	for i, size := range []int{1, 20, 20, 20, 3, 40, 40} {
		want = append(want, string(pattern(size, byte(i))))
		out.queue(pattern(size, byte(i)))
	}
	if err := out.flush(); err != nil {
		t.Fatal(err)
	}
	if out.transport.segment {
		t.Error("the kernel took a run: this test tests nothing")
	}
	if got := texts(receive(t, s, len(want))); !slices.Equal(got, want) || out.summary.Sent != uint64(len(want)) {
		t.Errorf("got %q, counted %+v, want %q", got, out.summary, want)
	}
}
