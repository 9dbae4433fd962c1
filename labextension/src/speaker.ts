/** Reads a growing answer to those who listen: whole sentences, each once. */
import { element } from './elements';
import { spoken } from './turns';

/** Milliseconds between two utterances, so that they do not cut one another off. */
const SPEAK_EVERY = 2000;

export class Speaker {
  private readonly region = element('div', 'jan-Turn-spoken');
  private said = 0;
  private next = 0;

  constructor(turn: HTMLElement) {
    this.region.setAttribute('role', 'log');
    this.region.setAttribute('aria-live', 'polite');
    turn.append(this.region);
  }

  follow(markdown: string): void {
    const now = performance.now();
    const [text, said] = spoken(markdown, this.said);
    if (text && now >= this.next) {
      this.said = said;
      this.next = now + SPEAK_EVERY;
      this.region.append(element('div', '', text));
    }
  }

  /** The answer stands: it can be read where it is. */
  end(): void {
    this.region.replaceChildren();
    this.said = 0;
  }
}
