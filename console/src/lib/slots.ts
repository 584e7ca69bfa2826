/**
 * slotsOf gives each of the rows in view a place in the document: one that was in view before keeps its own, so that what has the focus
 * or is being clicked stays what it is; one that comes into view takes the place of one that left, so that nothing has to be built anew.
 * before is what the function returned for the rows of before.
 */
export function slotsOf(rows: string[], before: Map<string, number>): Map<string, number> {
  const slots = new Map<string, number>();
  for (const row of rows) {
    const slot = before.get(row);
    if (slot !== undefined) slots.set(row, slot);
  }
  const taken = new Set(slots.values());
  let free = 0;
  for (const row of rows) {
    if (slots.has(row)) continue;
    while (taken.has(free)) free++;
    slots.set(row, free++);
  }
  return slots;
}

/** whole is the event by which a table that draws the rows in view only is told to draw all, or no longer all. */
export const whole = 'whole';
