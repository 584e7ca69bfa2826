import { SvelteSet } from 'svelte/reactivity';

/** wrong are the fields for filters that show what is wrong in them, so that the answer to them need not say it once more. */
export const wrong = new SvelteSet<string>();
