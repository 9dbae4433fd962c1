/** A part of the panel that unfolds: it asks a kernel while somebody looks, and says what failed. */
import { type TranslationBundle } from '@jupyterlab/translation';
import { element, folded } from './elements';
import { type KernelLine, saidOf } from './kernelLine';

/** Where a part stands: which kernel it is about, null where none answers. */
export interface PanelScene {
  readonly trans: TranslationBundle;
  /** How dates and numbers are written. */
  readonly tongue: string;
  readonly line: KernelLine | null;
  readonly looking: boolean;
  /** The prompt that is being typed into a chat cell, '' where nobody types. */
  readonly prompt: string;
  refresh(): void;
}

export abstract class Section<T> {
  readonly node: HTMLDetailsElement;
  protected readonly body = element('div', 'jan-Panel-body');
  private readonly trouble = element('div', 'jan-Panel-trouble');
  private asking: KernelLine | null = null;
  private again = false;
  /** What could not be asked, and what could not be done. */
  private readonly failures: [unknown, unknown] = [null, null];

  constructor(
    protected readonly scene: PanelScene,
    title: string,
    readonly name: string
  ) {
    this.trouble.setAttribute('role', 'alert');
    const className = `jan-Panel-section jan-Panel-${name}`;
    this.node = folded(className, title, this.trouble, this.body);
    this.node.open = true;
    this.node.addEventListener('toggle', () => this.refresh());
  }

  protected abstract ask(line: KernelLine): Promise<T>;

  protected abstract show(state: T): void;

  /** Begin anew: another kernel. */
  forget(): void {
    this.asking = null;
    this.failures.fill(null);
    this.complain();
  }

  /** Ask how things are; while an answer is on its way, once more after it. */
  refresh(): void {
    const { line, looking } = this.scene;
    if (!line || !looking || !this.node.open) {
      return;
    }
    this.again = this.asking === line;
    if (!this.again) {
      this.asking = line;
      void this.look(line);
    }
  }

  /** Do something in the kernel; what goes wrong stands in the section until the next attempt. */
  async attempt(work: (line: KernelLine) => Promise<unknown>): Promise<boolean> {
    const { line } = this.scene;
    if (!line) {
      return false;
    }
    this.failures[1] = await work(line).then(
      () => null,
      (failure: unknown) => failure
    );
    this.complain();
    this.scene.refresh();
    return this.failures[1] === null;
  }

  /** Say what went wrong, as the kernel tells it. */
  private complain(): void {
    const said = this.failures.filter(failure => failure !== null).map(saidOf);
    this.trouble.replaceChildren(...said.map(words => element('div', '', words)));
  }

  private async look(line: KernelLine): Promise<void> {
    let failure: unknown = null;
    try {
      const state = await this.ask(line);
      if (this.asking === line) {
        this.show(state);
      }
    } catch (caught) {
      failure = caught;
    }
    if (this.asking !== line) {
      return;
    }
    this.failures[0] = failure;
    this.complain();
    this.asking = null;
    if (this.again) {
      this.refresh();
    }
  }
}
