package client

import (
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/telemetry"
)

// What the API answers and takes.
type (
	AlertList          = types.AlertList
	AlertTest          = types.AlertTest
	AlertTestResults   = types.AlertTestResults
	AttackAnswer       = types.AttackAnswer
	AttackList         = types.AttackList
	BurstAnswer        = types.BurstAnswer
	BurstGroup         = types.BurstGroup
	BurstGroups        = types.BurstGroups
	BurstList          = types.BurstList
	IncidentAnswer     = types.IncidentAnswer
	IncidentList       = types.IncidentList
	SilenceIncident    = types.SilenceIncident
	ClockList          = types.ClockList
	CableList          = types.CableList
	Cluster            = types.Cluster
	Inventory          = types.Inventory
	Completions        = types.Completions
	DecodeAnswer       = types.DecodeAnswer
	DecodeCommands     = types.DecodeCommands
	DecodedBits        = types.DecodedBits
	DecodedField       = types.DecodedField
	DecodedLayer       = types.DecodedLayer
	DemoState          = types.DemoState
	DocHits            = types.DocHits
	DocIndex           = types.DocIndex
	DocLink            = types.DocLink
	DocPage            = types.DocPage
	DropHistory        = types.DropHistory
	DropList           = types.DropList
	DropRecord         = types.DropRecord
	EventGroup         = types.EventGroup
	EventGroups        = types.EventGroups
	EventHistory       = types.EventHistory
	EventList          = types.EventList
	ExportList         = types.ExportList
	ExporterHistory    = types.ExporterHistory
	ExporterList       = types.ExporterList
	ExporterRecord     = types.ExporterRecord
	FlowAnswer         = types.FlowAnswer
	FlowHistory        = types.FlowHistory
	FlowList           = types.FlowList
	FlowPathList       = types.FlowPathList
	FlowPathSpan       = types.FlowPathSpan
	FlowRecord         = types.FlowRecord
	ForgetExporters    = types.ForgetExporters
	ForgottenExporters = types.ForgottenExporters
	Frame              = types.Frame
	GroupFrame         = types.GroupFrame
	Head               = types.Head
	Heatmap            = types.Heatmap
	HeatmapStep        = types.HeatmapStep
	HopHistory         = types.HopHistory
	HopList            = types.HopList
	HopRecord          = types.HopRecord
	HostList           = types.HostList
	LinkHistory        = types.LinkHistory
	LinkList           = types.LinkList
	LinkRecord         = types.LinkRecord
	Listener           = types.Listener
	ListenerList       = types.ListenerList
	Reload             = types.Reload
	LossFrame          = types.LossFrame
	LossGroup          = types.LossGroup
	LossGroups         = types.LossGroups
	LossList           = types.LossList
	NewMitigation      = types.NewMitigation
	NewNote            = types.NewNote
	NewSilence         = types.NewSilence
	NodeList           = types.NodeList
	OutputList         = types.OutputList
	PathHistory        = types.PathHistory
	PathID             = types.PathID
	PathList           = types.PathList
	PathRecord         = types.PathRecord
	Port               = types.Port
	PortList           = types.PortList
	Problem            = types.Problem
	Protocol           = types.Protocol
	QueueHistory       = types.QueueHistory
	QueueList          = types.QueueList
	QueueRecord        = types.QueueRecord
	RawReport          = types.RawReport
	ReportAnswer       = types.ReportAnswer
	ReportFlow         = types.ReportFlow
	ReportList         = types.ReportList
	RuleList           = types.RuleList
	Silence            = types.Silence
	SilenceList        = types.SilenceList
	Table              = types.Table
	Topology           = types.Topology
	Validation         = types.Validation
	View               = types.View
	ViewList           = types.ViewList
	NewView            = types.NewView
)

// What answers are made of.
type (
	Acknowledgement  = telemetry.Acknowledgement
	Alert            = telemetry.Alert
	AlertResolution  = telemetry.AlertResolution
	AlertState       = telemetry.AlertState
	Attack           = telemetry.Attack
	AttackSource     = telemetry.AttackSource
	Mitigation       = telemetry.Mitigation
	MitigationAction = telemetry.MitigationAction
	MitigationRule   = telemetry.MitigationRule
	Burst            = telemetry.Burst
	BurstDetail      = telemetry.BurstDetail
	BurstPoint       = telemetry.BurstPoint
	Clock            = telemetry.Clock
	Cable            = telemetry.Cable
	ClockOffset      = telemetry.ClockOffset
	Completeness     = telemetry.Completeness
	Congestion       = telemetry.Congestion
	Culprit          = telemetry.Culprit
	Delay            = telemetry.Delay
	Distribution     = telemetry.Distribution
	Drop             = telemetry.Drop
	Endpoints        = telemetry.Endpoints
	Event            = telemetry.Event
	Incident         = telemetry.Incident
	EventKind        = telemetry.EventKind
	Evidence         = telemetry.Evidence
	Exporter         = telemetry.Exporter
	FilterCandidate  = telemetry.FilterCandidate
	FilterError      = telemetry.FilterError
	Flow             = telemetry.Flow
	FlowPath         = telemetry.FlowPath
	Host             = telemetry.Host
	HostPlace        = telemetry.HostPlace
	Link             = telemetry.Link
	Loss             = telemetry.Loss
	LossCount        = telemetry.LossCount
	LossInterval     = telemetry.LossInterval
	Node             = telemetry.Node
	NodeHop          = telemetry.NodeHop
	Sample           = telemetry.Sample
	NodePort         = telemetry.NodePort
	PortCounters     = telemetry.PortCounters
	OutputStatus     = telemetry.OutputStatus
	Path             = telemetry.Path
	PathHop          = telemetry.PathHop
	Queue            = telemetry.Queue
	QueueDepth       = telemetry.QueueDepth
	ReportFate       = telemetry.ReportFate
	RuleStatus       = telemetry.RuleStatus
	Severity         = telemetry.Severity
	TestResult       = telemetry.TestResult
	TopologyNode     = telemetry.TopologyNode
	Unseen           = telemetry.Unseen
	Utilization      = telemetry.Utilization
	Victim           = telemetry.Victim
)

// Severities of events, and how many kinds of them there are.
const (
	Warning       = telemetry.Warning
	Critical      = telemetry.Critical
	NumEventKinds = telemetry.NumEventKinds
)

// States and resolutions of alerts.
const (
	AlertPending  = telemetry.AlertPending
	AlertFiring   = telemetry.AlertFiring
	AlertResolved = telemetry.AlertResolved
	AlertEnded    = telemetry.AlertEnded
)

// GroupFields returns what the records of a list of a time range can be added up by (Query.GroupBy); nil if a list has
// no records.
func GroupFields(list string) []string { return types.GroupFields(list) }

// OrderFields returns what the records of a list of a time range can be ordered by (Query.Order); nil if a list has no
// records.
func OrderFields(list string) []string { return types.OrderFields(list) }
