// Names of the API's types. They are generated from its OpenAPI document, by "npm run types" into types.gen.ts; what is more here is what the
// document does not say.
import type { components } from './types.gen';

type Schemas = components['schemas'];

/** What all lists say of now, and what they say of a time range. What is not known is missing. */
export interface Head {
  generated_at: string;
  total: number;
  completeness?: Completeness;
}
export interface Frame {
  since: string;
  until: string;
  resolution_ns: number;
  next_cursor?: string;
}
export type List<Name extends string, T> = Head & Record<Name, T[] | null>;
export type History<Name extends string, T> = Head & Frame & Record<Name, T[] | null>;

export type View = Schemas['View'];
export type Alert = Schemas['Alert'];
export type AlertOutput = Schemas['OutputStatus'];
export type AlertRule = Schemas['RuleStatus'];
export type Attack = Schemas['Attack'];
export type AttackSource = Schemas['AttackSource'];
export type Arrival = Schemas['NodeArrival'];
export type Burst = Schemas['Burst'];
export type BurstDetail = Schemas['BurstDetail'];
export type BurstPoint = Schemas['BurstPoint'];
export type Candidate = Schemas['Candidate'];
export type Clock = Schemas['Clock'];
export type Completeness = Schemas['Completeness'];
export type Culprit = Schemas['Culprit'];
export type DecodeAnswer = Schemas['DecodeAnswer'];
export type DecodedField = Schemas['DecodedField'];
export type DecodedLayer = Schemas['DecodedLayer'];
export type Delay = Schemas['Delay'];
export type DemoState = Schemas['DemoState'];
export type Distribution = Schemas['Distribution'];
export type DocHits = Schemas['DocHits'];
export type DocIndex = Schemas['DocIndex'];
export type DocLink = Schemas['DocLink'];
export type DocPage = Schemas['DocPage'];
export type Drop = Schemas['Drop'];
export type DropRecord = Schemas['DropRecord'];
export type Endpoints = Schemas['Endpoints'];
export type Event = Schemas['Event'];
export type Exporter = Schemas['Exporter'];
export type ExporterRecord = Schemas['ExporterRecord'];
export type FilterError = Schemas['Error'];
export type Flow = Schemas['Flow'];
export type FlowPath = Schemas['FlowPath'];
export type FlowRecord = Schemas['FlowRecord'];
export type Heatmap = Schemas['Heatmap'];
export type HeatmapStep = Schemas['HeatmapStep'];
export type HopRecord = Schemas['HopRecord'];
export type Incident = Schemas['Incident'];
export type Cluster = Schemas['Cluster'];
export type Inventory = Schemas['Inventory'];
export type InventoryNode = Schemas['InventoryNode'];
export type InventoryPort = Schemas['InventoryPort'];
export type Link = Schemas['Link'];
export type LinkRecord = Schemas['LinkRecord'];
export type LinkLoss = Schemas['LinkLoss'];
export type Listener = Schemas['Listener'];
export type Loss = Schemas['Loss'];
export type LossList = Schemas['LossList'];
export type Mitigation = Schemas['Mitigation'];
export type Node = Schemas['Node'];
export type NodeHop = Schemas['NodeHop'];
export type NodePort = Schemas['NodePort'];
export type PortCounters = Schemas['PortCounters'];
export type Path = Schemas['Path'];
export type PathHop = Schemas['PathHop'];
export type PathRecord = Schemas['PathRecord'];
export type PathTime = Schemas['FlowPathSpan'];
export type PathTimes = Schemas['FlowPathList'];
export type Queue = Schemas['Queue'];
export type QueueDepth = Schemas['QueueDepth'];
export type QueueRecord = Schemas['QueueRecord'];
export type RawReport = Schemas['RawReport'];
export type RawReportDetail = Schemas['ReportAnswer'];
export type ReportFate = Schemas['ReportFate'];
export type Sample = Schemas['Sample'];
export type Session = Schemas['Identity'];
export type Silence = Schemas['Silence'];
export type Told = Schemas['Told'];
export type Topology = Schemas['Topology'];
export type TopologyNode = Schemas['TopologyNode'];
export type Utilization = Schemas['Utilization'];
export type Verdict = Schemas['Verdict'];
export type Victim = Schemas['Victim'];
