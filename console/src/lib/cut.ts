/**
 * cut takes away the middle of a text that is wider than there is room, and puts an ellipsis there: names of devices often differ at
 * their end, where a port stands too. measure says how wide a text is.
 */
export function cut(text: string, room: number, measure: (text: string) => number): string {
  if (measure(text) <= room) return text;
  const signs = Array.from(text); // a half of a sign is none
  const kept = (n: number): string =>
    `${signs.slice(0, Math.ceil(n / 2)).join('')}…${signs.slice(signs.length - Math.floor(n / 2)).join('')}`;
  let [low, high] = [0, signs.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (measure(kept(middle)) <= room) low = middle;
    else high = middle - 1;
  }
  return kept(low);
}
