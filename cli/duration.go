package cli

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/waybill-int/waybill/filter"
)

// A durationFlag is a flag that takes what filters take for a duration: 500ms, 1h30m, 7d, 2w.
type durationFlag struct{ to *time.Duration }

// DurationVar adds a flag for a duration; v has its default.
func DurationVar(f *pflag.FlagSet, to *time.Duration, name string, v time.Duration, usage string) {
	*to = v
	f.Var(durationFlag{to}, name, usage)
}

func (d durationFlag) Set(text string) (err error) {
	v, err := filter.ParseDuration(text)
	if err == nil {
		*d.to = v
	}
	return err
}

func (d durationFlag) String() string {
	if d.to == nil { // pflag asks what no value looks like
		return time.Duration(0).String()
	}
	return d.to.String()
}

func (durationFlag) Type() string { return "duration" }
