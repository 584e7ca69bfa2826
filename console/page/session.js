import { setText } from './dom.js';

// showSession asks who is logged in, and shows button, which logs out, if that is by a session. Where nobody has to log
// in, or the server cannot tell, nothing is shown.
export async function showSession(button) {
  const answer = await fetch('api/v1/session', { cache: 'no-store', headers: { Accept: 'application/json' } }).catch(() => null);
  const who = answer?.ok ? await answer.json().catch(() => ({})) : {};
  if (who.by !== 'session') return;
  setText(button, `Log out ${who.name}`);
  button.hidden = false;
  button.addEventListener('click', async () => {
    await fetch('logout', { method: 'POST' }).catch(() => null);
    location.reload(); // to the page to log in at
  });
}
