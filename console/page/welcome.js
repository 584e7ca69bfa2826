import { el, keep, setText } from './dom.js';

const capture = 'testdata/captures/onos_v10_udp_reports.pcap';

// targetOf returns the HOST:PORT to send reports to: the address of a listener, where it listens on all addresses with
// the host that the browser reached the page by.
export function targetOf(listener, host) {
  const at = listener.address.replace(/^[a-z]+:\/\//, '');
  const colon = at.lastIndexOf(':');
  const name = at.slice(0, colon);
  const everywhere = ['', '0.0.0.0', '[::]'].includes(name);
  return `${everywhere ? host : name}${at.slice(colon)}`;
}

// showWelcome says where to send reports as long as none has come.
export function showWelcome(page, { listeners, exporters }) {
  page.welcome.hidden = exporters.length > 0;
  const targets = listeners.map((listener) => targetOf(listener, location.hostname));
  const lines = targets.length ? targets : ['none: start waybill serve with --listen udp://:8555'];
  keep(page.targets, lines, (line) => line, () => el('li', {}, el('code')), (item, line) => setText(item.firstChild, line));
  setText(page.replay, `waybill replay ${capture} --to ${targets[0] ?? `${location.hostname}:8555`}`);
}
