package main

import (
	"testing"
	"time"
)

func TestExpiry(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	if at, err := expiry("2w", now); err != nil || !at.Equal(now.AddDate(0, 0, 14)) {
		t.Errorf("got %v, %v", at, err)
	}
}
