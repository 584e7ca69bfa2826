// Tables whose rows are cards on a phone (app.css): each cell has the title of its column.

/** cards is an action of such a table. Rows that come later get titles too. */
export function cards(table: HTMLTableElement): { destroy: () => void } {
  const title = (): void => {
    const titles = [...(table.tHead?.rows[0]?.cells ?? [])].map((cell) => cell.textContent.trim());
    for (const body of table.tBodies)
      for (const row of body.rows)
        [...row.cells].slice(1).forEach((cell, i) => {
          cell.dataset['title'] = titles[i + 1];
        });
  };
  title();
  const watch = new MutationObserver(title);
  watch.observe(table, { childList: true, subtree: true });
  return { destroy: () => watch.disconnect() };
}
