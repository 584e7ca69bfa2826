// How all pages look: colours, and the zone of times. Both are kept in this browser.

export type Theme = 'system' | 'light' | 'dark';

const keys = { theme: 'waybill.theme', zone: 'waybill.zone' };

class Display {
  theme = $state<Theme>('system');
  utc = $state(false);
  #systemDark = $state(false);
  /** dark says which colours are shown, whatever chose them. */
  readonly dark = $derived(this.theme === 'system' ? this.#systemDark : this.theme === 'dark');

  /** start reads what was chosen before, and follows what the system prefers. */
  start(): void {
    const media = matchMedia('(prefers-color-scheme: dark)');
    const follow = (): void => {
      this.#systemDark = media.matches;
      this.#paint();
    };
    media.addEventListener('change', follow);
    const theme = kept(keys.theme);
    if (theme === 'light' || theme === 'dark') this.theme = theme;
    this.utc = kept(keys.zone) === 'UTC';
    follow();
  }

  chooseTheme(theme: Theme): void {
    this.theme = theme;
    keep(keys.theme, theme);
    this.#paint();
  }

  chooseUTC(utc: boolean): void {
    this.utc = utc;
    keep(keys.zone, utc ? 'UTC' : '');
  }

  #paint(): void {
    document.documentElement.dataset.theme = this.dark ? 'dark' : 'light';
  }
}

export const display = new Display();

function kept(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // the browser keeps nothing
  }
}

function keep(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // it holds until the page is left
  }
}
