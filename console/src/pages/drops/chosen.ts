import { every, is } from '../../lib/filter';
import { href, route } from '../../lib/route.svelte';
import { range } from '../../lib/range.svelte';

/** chosen is the filter of the drops that the address selects. A reason is a number or a name. */
export function chosen(): string {
  const reason = route.get('reason');
  return every(
    route.get('filter'),
    is('node', route.get('node')),
    is(/^\d+$/.test(reason) ? 'reason' : 'reason_name', reason),
  );
}

/** narrow is the address of the drops of a box of the picture: of a place, of a reason, or on the way to a prefix. */
export function narrow(column: number, label: string): string | undefined {
  if (/^other |^elsewhere|^unknown/.test(label)) return undefined;
  if (column === 0) return href('drops', { ...route.params, node: label.replace(/^node (?=\d+$)/, '') });
  if (column === 1) return href('drops', { ...route.params, reason: label.replaceAll(' ', '_') });
  return /\/\d+$/.test(label) && range.past
    ? href('drops', { ...route.params, filter: every(route.get('filter'), is('dst', label)) })
    : undefined;
}
