// How large the text is, which the style sheet makes larger on large screens. Pictures are drawn as for the usual text and stretched with it.

const usual = 14; // px of 1rem

class Size {
  /** px of 1rem */
  rem = $state(usual);
  /** how much larger than usual everything is drawn */
  scale = $derived(this.rem / usual);
  /** of the window, in px */
  width = $state(1280);
  height = $state(800);
  /** as "max-width: 700px" of the style sheet */
  phone = $derived(this.width <= 700);

  constructor() {
    this.#look();
    addEventListener('resize', () => this.#look());
  }

  #look(): void {
    [this.width, this.height] = [innerWidth, innerHeight];
    this.rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  }
}

export const size = new Size();

/** stretched is a length of a picture, in px as for the usual text, for what lies over it. */
export const stretched = (px: number): string => `${px / usual}rem`;
