package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// reloadOnHangup reads the configuration, tokens and certificates again on SIGHUP, until ctx is done.
func (s *Server) reloadOnHangup(ctx context.Context) {
	onHangup(ctx, s.guard, s.endpoint.secure, func() { _, _ = s.Reload(ctx, "SIGHUP") }) // which logs what is wrong
}

// onHangup reads tokens and certificates again on SIGHUP, and then calls also, until ctx is done. Changes of the files
// are noticed without it, too.
func onHangup(ctx context.Context, guard *auth.Guard, secure *auth.TLS, also func()) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			if guard.Tokens != nil {
				guard.Tokens.Reload()
			}
			if secure != nil {
				secure.Reload()
			}
			also()
		}
	}
}

// Reload reads the configuration again, whole and strictly, and then puts into effect all of it that can change while
// the server runs. If anything in it is wrong, nothing changes. by is who wants it, for the log.
func (s *Server) Reload(ctx context.Context, by string) (*types.Reload, error) {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	next, err := s.Config.again()
	if err == nil {
		err = s.take(ctx, next)
	}
	if err != nil {
		s.log.Error("the configuration was not reloaded; everything stays as it was", "by", by, "error", err)
		return nil, err
	}
	s.beginAnewWith(next)
	answer := s.current.compare(next)
	s.current = next
	s.log.Info("the configuration was reloaded", "by", by, "changed", strings.Join(answer.Changed, "; "),
		"needs_restart", strings.Join(answer.NeedsRestart, ", "))
	return answer, nil
}

// again returns the configuration as it would be at a start now.
func (c *Config) again() (*Config, error) {
	if c.Again == nil {
		return nil, errors.New("this server has no configuration that it could read again")
	}
	return c.Again()
}

// take puts a configuration into effect. What can fail comes first.
func (s *Server) take(ctx context.Context, next *Config) error {
	settings, err := next.settings()
	if err != nil {
		return err
	}
	if _, err := next.configured(nil); err != nil {
		return err
	}
	if err := s.checkTables(next); err != nil {
		return err
	}
	finishOutputs, err := s.openOutputs(next)
	if err != nil {
		return err
	}
	if s.alerts != nil && next.rules != nil {
		if err := s.alerts.Reload(ctx, next.rules); err != nil {
			finishOutputs(false)
			return err
		}
	}
	s.scanner.ConfigureAttacks(next.attackConfig())
	if s.mitigation != nil {
		s.mitigation.Configure(next.Mitigation.limits())
	}
	s.settings.Store(settings)
	for _, r := range s.Receivers {
		r.Use(settings)
	}
	if s.tables != nil {
		s.tables.Use(settings.Points)
	}
	configured, _ := next.configured(s.inventory.Use(next.inventory))
	s.Collector.Configure(configured)
	if !reflect.DeepEqual(s.current.policy, next.policy) {
		for _, shard := range s.Collector.Owners {
			if next.policy == nil {
				shard.SetPolicy(nil)
			} else {
				shard.SetPolicy(next.policy)
			}
		}
	}
	if s.keeper != nil {
		s.keeper.store.SetNames(configured.Names)
	}
	finishOutputs(true)
	s.level.Set(next.Log.Level.Level)
	return nil
}

// settings returns what receivers need.
func (c *Config) settings() (*collect.Settings, error) {
	permits, err := c.permits()
	return &collect.Settings{Points: c.Points, AllowList: permits}, err
}

// configured returns what is known of nodes, with an inventory; nil: none.
func (c *Config) configured(v *telemetry.Inventory) (k analyze.Configured, err error) {
	k.Names, k.Inventory = c.namesWith(v), v
	if k.Sampling, err = c.samplingByNode(); err != nil {
		return k, err
	}
	if k.UtilizationUnits, err = c.utilizationUnits(); err != nil {
		return k, err
	}
	k.QueueUnits, err = c.queueUnits()
	return k, err
}

// points returns the code points and dialects as they are now.
func (s *Server) points() *codepoint.Config { return s.settings.Load().Points }

// compare says what is different in next, and which of that does not take effect before the next start.
func (c *Config) compare(next *Config) *types.Reload {
	answer := &types.Reload{Changed: []string{}, NeedsRestart: []string{}}
	note := func(key, how string) { answer.Changed = append(answer.Changed, key+": "+how) }
	compareKeys("", reflect.ValueOf(*c), reflect.ValueOf(*next), func(key string, reloads bool, how string) {
		switch {
		case key == "policy", key == "inventory": // a file, which may have changed under its name
		case key == "alerts" && (c.rules == nil || next.rules == nil):
			answer.NeedsRestart = append(answer.NeedsRestart, key)
		case key == "alerts":
		case key == "export.outputs" && c.Data == "": // nothing makes records
			answer.NeedsRestart = append(answer.NeedsRestart, key)
		case reloads:
			note(key, how)
		default:
			answer.NeedsRestart = append(answer.NeedsRestart, key)
		}
	})
	if !reflect.DeepEqual(c.policy, next.policy) {
		if next.policy == nil {
			note("policy", "none")
		} else {
			note("policy", fmt.Sprintf("%d nodes, %d rules", next.policy.Nodes(), next.policy.Rules()))
		}
	}
	if !reflect.DeepEqual(c.inventory, next.inventory) {
		if next.inventory == nil {
			note("inventory", "none")
		} else {
			v := next.inventory.Known()
			how := fmt.Sprintf("%d nodes, %d hosts", len(v.Nodes), len(v.Hosts))
			if n := len(next.inventory.Sources); n > 0 {
				how += fmt.Sprintf(", %d to ask", n)
			}
			note("inventory", how)
		}
	}
	if c.rules != nil && next.rules != nil && !sameText(c.rules, next.rules) {
		note("alerts", fmt.Sprintf("%d rules, %d outputs", len(next.rules.Rules), len(next.rules.Outputs)))
	}
	before, after := c.Points.Map(), next.Points.Map()
	keys := maps.Clone(before)
	maps.Copy(keys, after)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if how := difference(reflect.ValueOf(before[key]), reflect.ValueOf(after[key])); how != "" {
			note(key, how)
		}
	}
	return answer
}

// sameText reports whether two values are the same in a file.
func sameText(a, b any) bool {
	textA, errA := conf.Format(a)
	textB, errB := conf.Format(b)
	return errA == nil && errB == nil && string(textA) == string(textB)
}

// compareKeys calls f for each key that is different, with what is.
func compareKeys(at string, before, after reflect.Value, f func(key string, reloads bool, how string)) {
	for i := range before.NumField() {
		field := before.Type().Field(i)
		key, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if key == "" || key == "-" {
			continue
		}
		a, b := before.Field(i), after.Field(i)
		if inner := reflect.TypeFor[LogLevel](); a.Kind() == reflect.Struct && a.Type() != inner {
			compareKeys(at+key+".", a, b, f)
		} else if how := difference(a, b); how != "" {
			f(at+key, field.Tag.Get("reload") != "", how)
		}
	}
}

// difference says what is different in two values; "": nothing.
func difference(a, b reflect.Value) string {
	if a.IsValid() && b.IsValid() && a.Kind() == b.Kind() {
		switch a.Kind() {
		case reflect.Map:
			return differentKeys(a, b)
		case reflect.Pointer:
			if !a.IsNil() && !b.IsNil() {
				if reflect.DeepEqual(a.Interface(), b.Interface()) {
					return ""
				}
				return "changed"
			} else if b.IsNil() && !a.IsNil() {
				return "removed"
			} else if a.IsNil() && !b.IsNil() {
				return "added"
			}
		case reflect.Slice:
			if a.Len()+b.Len() == 0 {
				return ""
			}
		}
		if reflect.DeepEqual(a.Interface(), b.Interface()) {
			return ""
		}
	}
	switch {
	case !a.IsValid() && !b.IsValid():
		return ""
	case !b.IsValid():
		return "removed"
	case b.Kind() == reflect.Slice && a.IsValid():
		return fmt.Sprintf("%d, were %d", b.Len(), a.Len())
	case b.Kind() == reflect.Map || b.Kind() == reflect.Slice:
		return fmt.Sprintf("%d added", b.Len())
	case !a.IsValid():
		return fmt.Sprint(b.Interface())
	}
	return fmt.Sprintf("%v, was %v", b.Interface(), a.Interface())
}

// differentKeys counts what is different in two maps.
func differentKeys(a, b reflect.Value) string {
	var added, removed, changed int
	for _, key := range b.MapKeys() {
		switch v := a.MapIndex(key); {
		case !v.IsValid():
			added++
		case !reflect.DeepEqual(v.Interface(), b.MapIndex(key).Interface()):
			changed++
		}
	}
	for _, key := range a.MapKeys() {
		if !b.MapIndex(key).IsValid() {
			removed++
		}
	}
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{added, "added"}, {removed, "removed"}, {changed, "changed"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprint(part.n, " ", part.what))
		}
	}
	return strings.Join(parts, ", ")
}
