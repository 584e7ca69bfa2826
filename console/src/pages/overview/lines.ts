/**
 * linesOf is how many lines each of the four lists of the page has, so that they fill a window and are no longer than it: by eights, so
 * that a window that changes a little asks for nothing else. Rem is px of 1rem, as the style sheet has it.
 */
export function linesOf(window: { width: number; height: number; rem: number }): number {
  const [width, height] = [window.width / window.rem, window.height / window.rem];
  const beside = Math.max(1, Math.floor((Math.min(width, 180) - 1.4) / 31)); // lists of 30rem, 1rem apart
  const room = (height - 17) / Math.ceil(4 / beside); // below what stands above the lists
  const lines = Math.floor((room - 6) / 2.2); // below the title of the list
  return Math.min(32, Math.max(8, lines - (lines % 8)));
}
