// Tables whose rows are cards on a phone (app.css): one cell is the head, the others have the titles of their columns.

/** Blocks are no table for who reads by ear, unless it is said that they are one. */
const roles = (table: HTMLTableElement): void => {
  table.role = 'table';
  for (const part of [table.tHead, ...table.tBodies]) if (part) part.role = 'rowgroup';
  for (const row of table.rows) {
    row.role = 'row';
    for (const cell of row.cells)
      cell.role = cell.tagName === 'TD' ? 'cell' : cell.closest('thead') ? 'columnheader' : 'rowheader';
  }
};

/** cards is an action of such a table; lead is the column of the head. Rows that come later are cards too. */
export function cards(table: HTMLTableElement, lead = 0): { destroy: () => void } {
  const title = (): void => {
    const titles = [...(table.tHead?.rows[0]?.cells ?? [])].map((cell) => cell.textContent.trim());
    for (const body of table.tBodies)
      for (const row of body.rows) {
        let column = 0;
        for (const cell of row.cells) {
          const head = column === lead;
          if (head) cell.dataset['lead'] = '';
          // A number says nothing without its title; what stands for several columns has none.
          if ((head && !cell.classList.contains('number')) || cell.colSpan > 1) delete cell.dataset['title'];
          else cell.dataset['title'] = titles[column];
          column += cell.colSpan;
        }
      }
    roles(table);
  };
  title();
  const watch = new MutationObserver(title);
  watch.observe(table, { childList: true, subtree: true });
  return { destroy: () => watch.disconnect() };
}
