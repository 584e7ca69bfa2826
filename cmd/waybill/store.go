package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/cli"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/serve"
)

// newStoreCommand works on the records that a server has kept, while it does not run.
func newStoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "store",
		Short:   "copy the records that a server has kept",
		Long:    `Store works on the records of a server that does not run.`,
		Example: `  waybill store copy /var/lib/waybill /etc/waybill/waybill.yaml`,
		Args:    command.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newStoreCopyCommand())
	return cmd
}

func newStoreCopyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "copy FROM TO",
		Short: "copy records from files to ClickHouse",
		Long: `Copy copies all records from the files of DuckDB in FROM, the directory of data of a server that does not run, to the ClickHouse
that store.clickhouse of TO says, a configuration of waybill serve. The database has to be empty. FROM stays as it is, but for what a
server that was killed left in its journal: that is put into its files first.

A copy that was cut off, in whatever way, goes on where it was when the same command is started again: every record is there once. At the
end the records of each table are counted in both; what is older than the configuration keeps is neither copied nor counted.`,
		Example: `  # stop the server, copy, and start it with the configuration that names ClickHouse
  systemctl stop waybill
  waybill store copy /var/lib/waybill /etc/waybill/waybill.yaml
  systemctl start waybill

  # the password of ClickHouse in a variable
  WAYBILL_CLICKHOUSE_PASSWORD=secret waybill store copy /var/lib/waybill waybill.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return command.Usage(fmt.Errorf(
					"got %d arguments, want FROM, a directory of data, and TO, a configuration with store.clickhouse",
					len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := loadServeConfig(cmd, args[1], new(serve.Config), new(pointFlags))
			if err != nil {
				return command.Usage(err)
			}
			return copyStore(cmd, args[0], c)
		},
	}
}

func copyStore(cmd *cobra.Command, from string, c *serve.Config) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	progress, finish := copyProgress(cmd.ErrOrStderr())
	list, err := serve.CopyStore(ctx, from, c, cmd.ErrOrStderr(), progress)
	finish()
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted; the same command goes on where it was")
	case err != nil && len(list) == 0:
		return err
	}
	var rows [][]cli.Cell
	for _, t := range list {
		cell := cli.PlainCell
		if t.From != t.To {
			cell = cli.AlarmCell
		}
		rows = append(rows, []cli.Cell{cli.PlainCell(t.Name), cell(fmt.Sprint(t.From)), cell(fmt.Sprint(t.To))})
	}
	return errors.Join(err,
		new(cli.Listing).Print(cmd.OutOrStdout(), list, []string{"TABLE", "FROM", "TO"}, rows))
}

// copyProgress shows how many records were copied: a bar on a terminal, and a line once in a while elsewhere.
func copyProgress(to io.Writer) (show func(done, all int64), finish func()) {
	if !command.IsTerminal(to) {
		next := time.Now().Add(progressEvery)
		return func(done, all int64) {
			if now := time.Now(); now.After(next) {
				next = now.Add(progressEvery)
				fmt.Fprintf(to, "copied %d of %d records\n", done, all)
			}
		}, func() {}
	}
	bar := progressbar.NewOptions64(1, progressbar.OptionSetWriter(to), progressbar.OptionSetDescription("copying"),
		progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish())
	return func(done, all int64) {
		bar.ChangeMax64(max(all, 1))
		_ = bar.Set64(done) // a terminal that cannot be written to is no reason to stop
	}, func() { _ = bar.Finish() }
}

// progressEvery is the time between two lines of progress.
const progressEvery = 10 * time.Second
