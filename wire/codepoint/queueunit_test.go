package codepoint

import "testing"

func TestQueueUnit(t *testing.T) {
	for text, want := range map[string]struct {
		bytes uint64 // of 10
		words string
	}{
		"bytes": {10, "bytes"}, "packets": {0, "packets"}, "cells": {0, "cells"}, "unknown": {0, "of an unknown unit"},
		"cells:80": {800, "cells of 80 bytes"}, "cells:65536": {655360, "cells of 65536 bytes"},
	} {
		var u QueueUnit
		if err := u.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		bytes, exact := u.Bytes(10)
		if !exact {
			bytes = 0
		}
		if again, _ := u.MarshalText(); string(again) != text || u.Words() != want.words || bytes != want.bytes {
			t.Errorf("%s: got %s, %s, 10 are %d bytes", text, again, u.Words(), bytes)
		}
	}
	for _, text := range []string{"", "byte", "cells:", "cells:0", "cells:-1", "cells:65537", "packets:2", "cells:4294967376"} {
		var u QueueUnit
		if err := u.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: got %v", text, u)
		}
	}
}
