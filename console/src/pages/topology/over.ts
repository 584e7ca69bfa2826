// What an address wants to see drawn over the map: the paths of a flow or of an attack, or the places of an incident.
import { get, type Params } from '../../api/client';
import type { Attack, Event, Flow, Incident, List, Path, PathTimes } from '../../api/types';
import { flowName } from '../../lib/format';
import type { Values } from '../../lib/route.svelte';

type Nodes = { node: number | null }[];

/** An Over is what is drawn over the map, in words, and the page that tells of it. */
export interface Over {
  text: string;
  page: string;
  params: Values;
  paths: Nodes[];
}

type Ask = <T>(path: string, params?: Params) => Promise<T>;

/** overs are the parameters that say what is drawn over the map, and how it is found. when is a time range, {} for now. */
export const overs: Record<string, (id: string, when: Params, ask: Ask) => Promise<Over>> = {
  flow: async (id, when, ask) => {
    const of = encodeURIComponent(id);
    if (when['since'] !== undefined) {
      const past = await ask<PathTimes>(`flows/${of}/paths`, { ...when, limit: 100 });
      const paths = (past.paths ?? []).map((path) => path.hops ?? []);
      return { text: `paths of ${flowName(past.flow)}`, page: 'flow', params: { id }, paths };
    }
    const { flow } = await ask<{ flow: Flow }>(`flows/${of}`);
    const paths = (flow.paths ?? []).slice(0, 1).map((path) => path.hops ?? []);
    return { text: `path of ${flowName(flow)}`, page: 'flow', params: { id }, paths };
  },
  incident: async (id, when, ask) => {
    const { incident } = await ask<{ incident: Incident }>(`incidents/${encodeURIComponent(id)}`);
    const ids = (incident.events ?? []).map((e) => `"${e.id}"`).join(', ');
    const events = await ask<List<'events', Event>>('events', { ...when, filter: `id in (${ids})`, limit: 1000 });
    const paths = [incident, ...(events.events ?? [])].flatMap((e) =>
      e.node === undefined ? [] : [[{ node: e.node }, ...(e.to_node === undefined ? [] : [{ node: e.to_node }])]],
    );
    return { text: incident.text, page: 'incident', params: { id }, paths };
  },
  attack: async (id, when, ask) => {
    const { attack } = await ask<{ attack: Attack }>(`attacks/${encodeURIComponent(id)}`);
    const sources = [...(attack.devices ?? []), ...(attack.gateways ?? []), ...(attack.paths ?? [])];
    const ids = [...new Set(sources.map((s) => s.path))].filter((path) => path !== undefined).slice(0, 200);
    const filter = `id in (${ids.map((path) => `"${path}"`).join(', ')})`;
    const found = ids.length ? await ask<List<'paths', Path>>('paths', { filter, limit: 200 }) : null;
    const paths = (found?.paths ?? []).map((path) => path.hops ?? []);
    return { text: `paths of the attack on ${attack.prefix ?? attack.target}`, page: 'attack', params: { id }, paths };
  },
};

/** find finds what parameters of an address want to see, or null. */
export async function find(params: Record<string, string>, when: Params, signal: AbortSignal): Promise<Over | null> {
  const name = Object.keys(overs).find((key) => params[key]);
  const ask: Ask = (path, more) => get(path, more, signal);
  return name === undefined ? null : overs[name]!(params[name]!, when, ask);
}
