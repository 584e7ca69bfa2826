package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// usualBurst is the truth.burst_above that scenarios have if they do not say otherwise, in bytes.
const usualBurst = 30_000

// writeServeConfig prints a configuration of waybill serve for the reports of s: what announces INT in the packets that
// they hold, what the switches are called, and what a burst is where the scenario has its own measure.
func writeServeConfig(w io.Writer, s *scenario.Scenario) error {
	config, err := node.Load(s.INT.Text)
	if err != nil {
		return err
	}
	text, err := codePointsText(&config)
	if err != nil {
		return err
	}
	dialect, err := codepoint.FindDialect(cmp.Or(string(config.Dialect), "waybill"))
	if err != nil {
		return err
	}
	lines := []string{"# What waybill serve has to know of scenario " + s.Name + ".", text + "names:"}
	units, uses := []string{}, []string{}
	for i, spec := range s.Graph.Switches {
		name, err := conf.Format(spec.Name) // with quotes, if it would be a number without
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("  %d: %s", i+1, strings.TrimSpace(string(name))))
		uses = append(uses, fmt.Sprintf("  %q: %s", fmt.Sprint(i+1), codepoint.HundredthsOfPercent))
		units = append(units, fmt.Sprintf("  %q: %s", fmt.Sprint(i+1), codepoint.UnitBytes))
	}
	if dialect.QueueUnit != codepoint.UnitBytes { // which switches of the fabric count, whatever they are taken for
		lines = append(append(lines, "queue_unit:"), units...)
	}
	if dialect.UtilizationUnit == 0 {
		lines = append(append(lines, "utilization_unit:"), uses...)
	}
	if above, below := uint64(s.Truth.BurstAbove), uint64(s.Truth.BurstBelow); above > 0 && above != usualBurst {
		lines = append(lines, fmt.Sprintf("bursts: {above: %d, below: %d}", above, below))
	}
	_, err = fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// codePointsText returns, as lines of YAML, the code points of a domain that are not what serve has without a
// configuration.
func codePointsText(config *node.Config) (string, error) {
	points, err := config.CodePoints()
	if err != nil {
		return "", err
	}
	c, usual := codepoint.Config{Points: points}, codepoint.New().Map()
	dialect := cmp.Or(string(config.Dialect), "waybill")
	rule, err := codepoint.ParseRule("any", dialect)
	if err != nil {
		return "", err
	}
	c.Rules = []codepoint.Rule{rule}
	differ := c.Map()
	for key, value := range differ {
		if fmt.Sprint(usual[key]) == fmt.Sprint(value) {
			delete(differ, key)
		}
	}
	if len(differ) == 0 {
		return "", nil
	}
	text, err := conf.Format(differ)
	return string(text), err
}
