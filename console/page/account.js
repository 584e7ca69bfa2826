// What the accounts of the exporters say together.
import { counted, number, percent } from './format.js';

// completeness returns which share of the reports that were sent arrived, over the exporters whose sequence numbers tell.
// Strangers whose reports are refused do not count.
export function completeness(exporters) {
  const own = exporters.filter((e) => !e.refused);
  const known = own.filter((e) => e.lost != null);
  const unknown = own.length - known.length;
  const lost = sum(known, (e) => e.lost);
  const sent = lost + sum(known, (e) => e.received - e.duplicate);
  return { share: sent > 0 ? (sent - lost) / sent : null, lost, sent, unknown };
}

// completenessText returns the figure and its small print.
export function completenessText(exporters) {
  if (exporters.every((e) => e.refused)) return ['–', 'no exporter yet'];
  const { share, lost, sent, unknown } = completeness(exporters);
  if (share === null) return ['unknown', `for ${counted(unknown, 'exporter')}`];
  const note = `${number(lost)} of ${number(sent)} lost`;
  return [percent(share), unknown ? `${note}; unknown for ${counted(unknown, 'exporter')}` : note];
}

// lossText says how many datagrams of an exporter were lost, or why nobody knows.
export function lossText(exporter) {
  if (exporter.lost != null) return number(exporter.lost);
  const why = (exporter.loss_known ?? '').replace(/^no(: )?/, '');
  return why ? `unknown: ${why}` : 'unknown';
}

// A Rate is the growth per second of a counter that is read now and then, over the last readings.
export class Rate {
  #readings = [];
  #span;

  constructor(spanMs) {
    this.#span = spanMs;
  }

  // add takes a reading at a time in milliseconds. A counter that sinks began anew.
  add(total, ms) {
    const last = this.#readings.at(-1);
    if (last && total < last.total) this.#readings = [];
    this.#readings.push({ total, ms });
    while (ms - this.#readings[0].ms > this.#span) this.#readings.shift();
  }

  // perSecond returns null before the second reading.
  perSecond() {
    const [first, last] = [this.#readings[0], this.#readings.at(-1)];
    if (!first || last.ms === first.ms) return null;
    return ((last.total - first.total) * 1000) / (last.ms - first.ms);
  }

  clear() {
    this.#readings = [];
  }
}

export function sum(list, value) {
  return list.reduce((total, item) => total + value(item), 0);
}
