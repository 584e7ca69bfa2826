/**
 * linesOf is how many lines each of the four lists of the page has, two beside two, so that they fill a window: by fours, so that a window
 * that changes a little asks for nothing else. Rem is px of 1rem, as the style sheet has it.
 */
export function linesOf(window: { width: number; height: number; rem: number }): number {
  const [width, height] = [window.width / window.rem, window.height / window.rem];
  const room = (height - 40) / (width > 64 ? 2 : 4); // below what stands above the lists
  const lines = Math.floor((room - 6) / 2.2); // below the title of the list
  return Math.min(32, Math.max(8, lines - (lines % 4)));
}
