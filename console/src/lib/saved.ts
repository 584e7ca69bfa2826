// Views that were given a name, in this browser. A view is the address of a page, so that it can be sent to others as well.

export interface Saved {
  name: string;
  hash: string;
}

const most = 100;

const keyOf = (page: string): string => `waybill.saved.${page}`;

/** saved returns the views of a page by name; none where the browser keeps nothing. */
export function saved(page: string): Saved[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(keyOf(page)) ?? '[]');
    if (!Array.isArray(list)) return [];
    // Only addresses of the page itself: the text may be of another version, or of somebody else.
    return list
      .filter(
        (v): v is Saved => typeof v?.name === 'string' && typeof v?.hash === 'string' && v.hash.startsWith(`#/${page}`),
      )
      .slice(0, most);
  } catch {
    return [];
  }
}

/** save gives a view a name, which an older one of that name loses. It returns the list, or null if the browser keeps nothing. */
export const save = (page: string, view: Saved): Saved[] | null =>
  write(page, [...saved(page).filter((v) => v.name !== view.name), view]);

export const forget = (page: string, name: string): Saved[] | null =>
  write(
    page,
    saved(page).filter((v) => v.name !== name),
  );

function write(page: string, list: Saved[]): Saved[] | null {
  try {
    const kept = list.toSorted((a, b) => a.name.localeCompare(b.name)).slice(0, most);
    localStorage.setItem(keyOf(page), JSON.stringify(kept));
    return kept;
  } catch {
    return null;
  }
}
