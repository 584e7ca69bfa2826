package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
)

// A Local reads the directory of data of a server that does not run, and writes files in the format of its store.
type Local interface {
	// Tables returns the names of the tables.
	Tables() []string
	// SQL answers a statement with up to limit rows.
	SQL(ctx context.Context, dir, statement string, limit int) (*client.Table, error)
	// WriteParquet writes a file of rows, which are JSON objects one a line, as another in Parquet, with columns of
	// these types.
	WriteParquet(ctx context.Context, rows, file string, names, types []string) error
}

// AskCommands returns the commands that ask what the network does.
func AskCommands(local Local) []*cobra.Command {
	return []*cobra.Command{
		newTopCommand(), newTopologyCommand(), newNodesCommand(), newLinksCommand(), newHopsCommand(),
		newQueuesCommand(),
		newClocksCommand(), newCablesCommand(),
		newHostsCommand(), newFlowsCommand(), newPathsCommand(), newPathCommand(),
		newTraceCommand(),
		newDropsCommand(), newAttacksCommand(),
		newBurstsCommand(), newEventsCommand(), newIncidentsCommand(), newAlertsCommand(),
		newSilenceCommand(),
		newSQLCommand(local), newExportCommand(local),
		newContextCommand(), newInventoryCommand(),
	}
}

// ServerCommands returns the commands that change how a server works.
func ServerCommands() []*cobra.Command { return []*cobra.Command{newReloadCommand()} }

// AccountCommands returns the commands that ask what became of the reports.
func AccountCommands() []*cobra.Command {
	return []*cobra.Command{
		newExportersCommand(), newLossCommand(), newReportsCommand(), newOutputsCommand(), newClusterCommand(),
	}
}
