import { get } from './client';
import type { Session } from './types';

/** Who asks, and what they may do. */
class Who {
  /** null: nothing is known, or there is no log-in */
  session = $state.raw<Session | null>(null);

  /** why nothing can be changed; '' if it can, as far as is known */
  get refused(): string {
    return this.session?.role === 'read'
      ? `${this.session.name || 'who asks'} may read only: this needs the role operate`
      : '';
  }
}

export const who = new Who();

void get<Session>('session').then(
  (session) => {
    who.session = session;
  },
  () => null,
);
