import { every, is } from '../../lib/filter';
import { route } from '../../lib/route.svelte';

/** chosen is the filter of the drops that the address selects. A reason is a number or a name. */
export function chosen(): string {
  const reason = route.get('reason');
  return every(
    route.get('filter'),
    is('node', route.get('node')),
    is(/^\d+$/.test(reason) ? 'reason' : 'reason_name', reason),
  );
}
