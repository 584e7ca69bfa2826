// The records of the API as docs/reference/api.md describes them, for what the console shows. What may be null is not known.

export interface Completeness {
  since?: string;
  ratio: number | null;
  sent: number;
  lost: number;
  lossy: number;
  unknown: number;
  below: Arrival[] | null;
}
export interface Arrival {
  source: string;
  node: number | null;
  name?: string;
  ratio: number;
  sent: number;
  lost: number;
}
export interface Head {
  generated_at: string;
  total: number;
  completeness?: Completeness;
}
export type List<Name extends string, T> = Head & Record<Name, T[] | null>;

/** Durations in ns, but for a queue's depth, which is in the unit of the device. */
export interface Distribution {
  count: number;
  min: number;
  mean: number;
  max: number;
  p50: number;
  p99: number;
  relative_error: number;
}
export interface Delay {
  ns?: Distribution;
  uncertainty_ns?: number;
  clamped?: number;
  unknown?: string;
}
export interface Queue {
  id: number;
  mean: number;
  max: number;
  last?: number;
}
export interface Endpoints {
  src: string;
  dst: string;
  src_port: number;
  dst_port: number;
  protocol: string;
  tunnel?: string;
  tunnel_id?: number;
}
export interface PathHop {
  node: number | null;
  name?: string;
  ingress_port: number | null;
  egress_port: number | null;
  missing?: number;
  dropped?: boolean;
  latency_ns?: Distribution;
  queue?: Queue;
}
export interface FlowPath {
  id: string;
  hops: PathHop[] | null;
  packets: number;
  first: string;
  last: string;
}
export interface Flow extends Endpoints {
  id: string;
  outer?: Endpoints;
  dscp: number;
  first: string;
  last: string;
  reports: number;
  packets: number;
  bytes: number;
  drops: number;
  residence_ns?: Distribution;
  end_to_end_ns?: Distribution;
  end_to_end_clocks?: { offset_ns?: number; uncertainty_ns?: number; unknown?: string };
  paths: FlowPath[] | null;
  path_changes: number;
}
export interface Link {
  from: number;
  from_name?: string;
  from_port: number | null;
  to: number;
  to_name?: string;
  to_port: number | null;
  packets: number;
  first: string;
  last: string;
  confidence: number;
  delay: Delay | null;
  utilization?: Utilization;
}
export interface Utilization {
  samples: number;
  mean: number;
  max: number;
  last?: number;
}
export interface Node {
  id: number;
  name?: string;
  packets: number;
  drops: number;
  first: string;
  last: string;
  ports: number[] | null;
  latency_ns?: Distribution;
  queue_max?: number;
}
export interface NodeHop {
  node: number;
  name?: string;
  ingress_port: number | null;
  egress_port: number | null;
  packets: number;
  first: string;
  last: string;
  latency_ns?: Distribution;
  queue?: Queue;
}
export interface NodePort {
  port: number;
  to_node?: number;
  to_name?: string;
  to_port?: number;
  hosts?: number;
  received: number;
  sent: number;
  utilization?: Utilization;
  first: string;
  last: string;
}
export interface TopologyNode {
  id: number;
  name?: string;
  packets: number;
  first: string;
  last: string;
  ports: NodePort[] | null;
}
export interface Topology extends Head {
  since?: string;
  until?: string;
  nodes: TopologyNode[] | null;
  links: Link[] | null;
  hosts: unknown[] | null;
  hosts_left_out?: number;
}
export interface Drop {
  node: number | null;
  name?: string;
  ingress_port: number | null;
  egress_port: number | null;
  reason: number;
  reason_name: string;
  cause: string;
  severity: string;
  meaning: string;
  action: string;
  packets: number;
  first: string;
  last: string;
  last_flow?: Endpoints;
  to?: { prefix: string; packets: number }[];
}
export type Severity = 'info' | 'warning' | 'critical';
export interface Event {
  id: string;
  kind: string;
  severity: Severity;
  start: string;
  end: string | null;
  count: number;
  text: string;
  node?: number;
  name?: string;
  port?: number;
  queue?: number;
  to_node?: number;
  to_name?: string;
  to_port?: number;
  reason?: number;
  reason_name?: string;
  source?: string;
  flow?: Endpoints;
  path?: string;
  path_nodes?: string[] | null;
  rule?: string;
  evidence: { name: string; value: number; unit?: string }[] | null;
  bytes?: string;
  acknowledged?: { by: string; at: string };
}
export interface Culprit {
  flow: Endpoints | null;
  packets: number;
  bytes: number;
  drops: number;
  build_up_bytes: number;
  share: number;
}
export interface Victim {
  flow: Endpoints | null;
  packets: number;
  bytes: number;
  drops: number;
  extra_ns: number;
  max_extra_ns: number;
}
export interface Burst {
  id: string;
  node: number;
  name?: string;
  port: number;
  queue: number;
  start: string;
  peak: string;
  end: string;
  duration_ns: number;
  start_slack_ns?: number;
  end_slack_ns?: number;
  open?: boolean;
  peak_bytes: number;
  peak_delay_ns: number;
  above_bytes: number;
  below_bytes: number;
  packets: number;
  bytes: number;
  drops: number;
  complete: number;
  sources: number;
  main_sources: number;
  incast: boolean;
  culprits: Culprit[] | null;
  victims: Victim[] | null;
  other_flows?: number;
  other_bytes?: number;
}
export interface BurstPoint {
  at_ns: number;
  depth: number;
  bytes: number;
  flow: number;
  extra_ns: number;
  dropped?: boolean;
}
export interface BurstDetail extends Burst {
  flows: (Endpoints | null)[] | null;
  samples: number;
  timeline: BurstPoint[] | null;
  stack: { step_ns: number; flows: number[] | null; bytes: number[][] | null };
}
export interface QueueDepth {
  node: number;
  name?: string;
  port: number | null;
  queue: number;
  depth?: Distribution;
  last_depth?: number;
  first: string;
  last: string;
}
export interface Exporter {
  source: string;
  node: number | null;
  name?: string;
  hw_id: number | null;
  version: string;
  dialect: string;
  first: string;
  last: string;
  received: number;
  reports: number;
  lost: number | null;
  loss_known: string;
  reordered: number;
  duplicate: number;
  restarted: number;
  malformed: Record<string, number> | null;
  damaged: Record<string, number> | null;
  refused?: number;
  refused_because?: string;
}
export interface Listener {
  address: string;
  received: number;
  decoded: number;
  damaged: number;
  malformed: number;
  refused: number;
  kernel_drops: number | null;
  receive_buffer_wanted: number;
  receive_buffer: number;
}
export interface Loss {
  socket: number;
  source: string;
  node: number | null;
  name?: string;
  hw_id: number | null;
  version: string;
  sent: number | null;
  arrived: number | null;
  lost: number | null;
  away: number | null;
  late: number | null;
  duplicate: number | null;
  received: number;
  decoded: number;
  damaged: Record<string, number> | null;
  malformed: Record<string, number> | null;
  reports: number;
  fate?: ReportFate;
  kernel_drops: number | null;
  loss_known: string;
}
/** What became of reports since the process began; held and queued are not known of a range, and what a store does not without one. */
export interface ReportFate {
  reports: number;
  repeated: number;
  waiting: number;
  flowless: number;
  kept_out: number;
  in_flows: number;
  unfollowed: number;
  evicted: number;
  held: number | null;
  queued: number | null;
  stored: number | null;
  store_dropped: number | null;
}
export interface LossList extends Head {
  since: string | null;
  until: string | null;
  intervals_since: string;
  loss: Loss[] | null;
  gaps: { from: string; to: string }[] | null;
  sockets:
    { address: string; exporters: number; received: number; unplaced: number; kernel_drops: number | null }[] | null;
  tables: {
    reports: number;
    stored: number;
    waiting: number;
    flowless: number;
    drops_unplaced: number;
    flows_evicted: number;
    paths_evicted: number;
    joins_cut: number;
  };
}
export interface Clock {
  node: number;
  name?: string;
  reference: number;
  reference_name?: string;
  trusted: boolean;
  reason?: string;
  offset_ns: number | null;
  uncertainty_ns: number | null;
  drift_ppb: number | null;
}
export interface Session {
  name: string;
  role: string;
  by: string;
}
export interface FilterError {
  offset: number;
  length: number;
  column: number;
  message: string;
  expected?: string[] | null;
  suggestion?: string;
}
export interface Candidate {
  text: string;
  class: string;
  kind?: string;
  unit?: string;
  doc?: string;
  start: number;
  end: number;
}

// Answers about a time range, from the store. What is not known is missing.

export interface Frame {
  since: string;
  until: string;
  resolution_ns: number;
  next_cursor?: string;
}
export type History<Name extends string, T> = Head & Frame & Record<Name, T[] | null>;
export interface HeatmapStep {
  packets: number;
  min_ns: number;
  mean_ns: number;
  p50_ns: number;
  p99_ns: number;
  max_ns: number;
}
export interface Heatmap extends Frame {
  generated_at: string;
  step_ns: number;
  bounds: number[];
  times: string[];
  counts: number[][];
  spread: HeatmapStep[];
}
export interface HopRecord {
  start?: string;
  node?: number;
  name?: string;
  ingress_port?: number;
  egress_port?: number;
  packets?: number;
  latency_min_ns?: number;
  latency_mean_ns?: number;
  latency_p50_ns?: number;
  latency_p99_ns?: number;
  latency_max_ns?: number;
}
export interface LinkRecord {
  start?: string;
  from?: number;
  from_name?: string;
  from_port?: number;
  to?: number;
  to_name?: string;
  to_port?: number;
  packets?: number;
  delay_mean_ns?: number;
  delay_p50_ns?: number;
  delay_p99_ns?: number;
  delay_max_ns?: number;
  utilization_samples?: number;
  utilization_mean?: number;
  utilization_max?: number;
}
export interface QueueRecord {
  start?: string;
  node?: number;
  name?: string;
  egress_port?: number;
  queue?: number;
  samples?: number;
  occupancy_mean?: number;
  occupancy_max?: number;
}
export interface DropRecord {
  start?: string;
  node?: number;
  name?: string;
  ingress_port?: number;
  egress_port?: number;
  reason?: number;
  reason_name?: string;
  dst?: string;
  packets?: number;
}
export interface FlowRecord {
  start?: string;
  id?: string;
  src?: string;
  dst?: string;
  src_port?: number;
  dst_port?: number;
  protocol?: string;
  path?: string;
  packets?: number;
  bytes?: number;
  drops?: number;
  reports?: number;
  path_changes?: number;
  residence_min_ns?: number;
  residence_mean_ns?: number;
  residence_max_ns?: number;
}
export interface PathRecord {
  start?: string;
  id?: string;
  packets?: number;
  residence_mean_ns?: number;
  residence_p50_ns?: number;
  residence_p99_ns?: number;
  residence_max_ns?: number;
}
export interface ExporterRecord {
  start?: string;
  source?: string;
  node?: number;
  name?: string;
  received?: number;
  reports?: number;
  lost?: number;
  duplicate?: number;
  malformed?: number;
  damaged?: number;
}
export interface DecodedField {
  name: string;
  value?: string | number | boolean | string[];
  text: string;
  meaning?: string;
  error?: boolean;
  offset: number;
  length: number;
  bits?: { first: number; count: number };
  fields?: DecodedField[] | null;
  layers?: DecodedLayer[] | null;
}
export interface DecodedLayer {
  name: string;
  title?: string;
  offset: number;
  length: number;
  fields: DecodedField[] | null;
}
export interface DecodeAnswer {
  length: number;
  layers: DecodedLayer[] | null;
}
export interface Alert {
  id: string;
  rule: string;
  state: 'pending' | 'firing' | 'resolved';
  severity: Severity;
  since: string;
  fired: string | null;
  resolved: string | null;
  resolution?: string;
  silenced_by?: string;
  summary: string;
  told?: Told[] | null;
  event: Event;
}
/** at: when a message was last put into the queue of the output. */
export interface Told {
  output: string;
  at: string;
  delivered: string | null;
  waiting?: boolean;
}
export interface Silence {
  id: string;
  filter: string;
  from?: string;
  until: string;
  reason: string;
  in_file: boolean;
}
export interface AlertRule {
  name: string;
  filter: string;
  for_ns: number;
  severity?: string;
  outputs: string[] | null;
  pending: number;
  firing: number;
  silenced: number;
  last_fired: string | null;
}
export interface AlertOutput {
  name: string;
  kind: string;
  waiting: number;
  delivered: number;
  retried: number;
  rejected: number;
  expired: number;
  crowded_out: number;
  failures: number;
  last_error?: string;
}
export interface RawReport {
  id: string;
  time: string;
  exporter: string;
  exporter_port: number;
  listener: string;
  version?: string;
  dialect?: string;
  outcome: string;
  reason?: string;
  node?: number | null;
  name?: string;
  sequence?: number;
  reports?: number;
  nodes: number[] | null;
  flow?: { id: string; text: string } | null;
  length: number;
}
export interface RawReportDetail extends RawReport {
  bytes: string;
  layers: DecodedLayer[] | null;
}
export interface DocLink {
  page: string;
  title: string;
  anchor?: string;
  heading?: string;
  excerpt?: string;
}
export interface DocIndex {
  version: string;
  pages: DocLink[] | null;
}
export interface DocPage {
  page: string;
  title: string;
  html: string;
  headings: DocLink[] | null;
}
export interface DocHits {
  hits: DocLink[] | null;
}
export interface PathTime {
  id: string;
  start: string;
  end: string;
  packets: number;
  bytes?: number;
  drops?: number;
  residence_min_ns?: number;
  residence_mean_ns?: number;
  residence_max_ns?: number;
  hops: PathHop[] | null;
}
export interface PathTimes {
  generated_at: string;
  since: string;
  until: string;
  resolution_ns: number;
  id: string;
  paths: PathTime[] | null;
}
export interface DemoState {
  running: boolean;
  started: string | null;
  ends: string | null;
  failed?: string;
}
