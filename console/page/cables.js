import { steps } from './select.js';

// cablesOf returns the connections to draw, in a stable order: {key, a, b, forward, backward, silent} with ends {node,
// port, name}. The two directions of a cable are one connection: forward counts the packets from a to b, backward those
// from b to a, null where there were none. Where silent is above 0, that many nodes between a and b sent nothing, and
// what connects them is not known.
export function cablesOf(links, paths, layer) {
  const cables = new Map();
  const add = (from, to, silent, packets) => {
    const forward = layer.get(from.node) - layer.get(to.node) || from.node - to.node;
    const [a, b] = forward <= 0 ? [from, to] : [to, from];
    const key = [a.node, a.port, b.node, b.port, silent].join('/');
    const cable = cables.get(key) ?? { key, a, b, forward: null, backward: null, silent };
    const direction = forward <= 0 ? 'forward' : 'backward';
    cable[direction] = (cable[direction] ?? 0) + packets;
    cables.set(key, cable);
  };
  for (const link of links) {
    add({ node: link.from, port: link.from_port, name: link.from_name },
      { node: link.to, port: link.to_port, name: link.to_name }, 0, link.packets);
  }
  for (const path of paths) {
    if (path.uncertain) continue;
    for (const { from, to, silent } of steps(path.hops)) {
      if (silent === 0) continue;
      add({ node: from.node, port: from.egress_port, name: from.name },
        { node: to.node, port: to.ingress_port, name: to.name }, silent, path.packets);
    }
  }
  return [...cables.values()].sort((x, y) => (x.key < y.key ? -1 : 1));
}
