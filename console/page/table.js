import { el, keep, setAttributes, setText } from './dom.js';

// A Table shows rows under sortable headers. A column is
//   {label, value(row), text(row)}   value sorts: a number, a text or null, which comes last in either direction
// and may have
//   draw(cell, row)   instead of text, for what is not plain text
//   title(row)        tooltip of a cell
//   hint              tooltip of the header
//   numeric           aligned to the right, and sorted from the largest
//   kind              class of its cells
//   order             what the server calls this order
export class Table {
  #columns;
  #keyOf;
  #sort;
  #heads;
  #body = el('tbody', { role: 'rowgroup' });
  #table;
  #empty = el('p', { class: 'empty' });
  #rows = [];
  #now = null;

  // sort is {column, descending}: the label of a column and a direction; sorted is called when a person changes it.
  constructor(section, { columns, keyOf, sort, sorted = () => {} }) {
    this.#columns = columns;
    this.#keyOf = keyOf;
    this.#sort = sort;
    this.#heads = columns.map((column) => {
      const button = el('button', { type: 'button', title: column.hint }, column.label);
      button.addEventListener('click', () => {
        this.#turn(column);
        sorted(column);
      });
      return el('th', { scope: 'col', role: 'columnheader', class: column.numeric ? 'number' : undefined }, button);
    });
    // Narrow screens show rows as cards, which takes the roles that a browser sees in a table: they are given in full.
    this.#table = el('table', { role: 'table', 'aria-labelledby': `${section.id}-title` },
      el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, ...this.#heads)), this.#body);
    section.append(el('div', { class: 'scroll' }, this.#table), this.#empty);
  }

  // show replaces the rows; whenEmpty is said if there are none. now is passed on to the columns.
  show(rows, whenEmpty, now) {
    this.#rows = rows;
    this.#now = now;
    setText(this.#empty, rows.length ? '' : whenEmpty);
    this.#empty.hidden = rows.length > 0;
    this.#table.hidden = rows.length === 0;
    this.#draw();
  }

  #turn(column) {
    const same = this.#sort.column === column.label;
    this.#sort = { column: column.label, descending: same ? !this.#sort.descending : Boolean(column.numeric) };
    this.#draw();
  }

  #draw() {
    this.#heads.forEach((head, i) => {
      const direction = this.#sort.descending ? 'descending' : 'ascending';
      setAttributes(head, { 'aria-sort': this.#columns[i].label === this.#sort.column ? direction : undefined });
    });
    const column = this.#columns.find((c) => c.label === this.#sort.column);
    const rows = sortRows(this.#rows, (row) => column.value(row, this.#now), this.#sort.descending, this.#keyOf);
    keep(this.#body, rows, this.#keyOf, () => this.#makeRow(), (tr, row) => {
      this.#columns.forEach((c, i) => this.#drawCell(tr.children[i], c, row));
    });
  }

  #makeRow() {
    return el('tr', { role: 'row' }, ...this.#columns.map((c) => {
      const names = [c.numeric && 'number', c.kind].filter(Boolean).join(' ');
      return el('td', { role: 'cell', 'data-label': c.label, class: names || undefined });
    }));
  }

  #drawCell(cell, column, row) {
    if (column.draw) column.draw(cell, row, this.#now);
    else setText(cell, column.text(row, this.#now));
    setAttributes(cell, { title: column.title?.(row) });
  }
}

// sortRows returns the rows in order of a value. Equal rows stay in order of their keys, so that they stand still.
export function sortRows(rows, valueOf, descending, keyOf) {
  const sign = descending ? -1 : 1;
  return rows
    .map((row) => ({ row, value: valueOf(row) ?? null, key: keyOf(row) }))
    .sort((a, b) => {
      if (a.value !== b.value) {
        if (a.value === null) return 1;
        if (b.value === null) return -1;
        return a.value < b.value ? -sign : sign;
      }
      return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
    })
    .map(({ row }) => row);
}
