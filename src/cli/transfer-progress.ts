import type { ProcessIo } from './io.js';
import { ProgressLine } from './progress-line.js';

const ON_TERMINAL_MS = 1000;
const IN_LOG_MS = 10_000;

/** Progress of an export or an import, in rows and bytes. */
export interface Reached {
  readonly table?: string | null;
  readonly rows: number;
  readonly total: number | null;
  readonly bytes?: number;
}

/** Prints the progress of long work: on a terminal as a line that is rewritten, elsewhere as a line every ten seconds. */
export class TransferProgress {
  readonly #io: ProcessIo;
  readonly #line: ProgressLine;
  #loggedAt = performance.now();

  constructor(io: ProcessIo) {
    this.#io = io;
    this.#line = new ProgressLine(io);
  }

  /** Interval between progress updates. */
  get everyMs(): number {
    return this.#io.isLogTerminal ? ON_TERMINAL_MS : IN_LOG_MS;
  }

  /** May be called at any rate; at most one call in {@link everyMs} is printed. */
  reached(reached: Reached): void {
    this.#show(() => asText(reached));
  }

  /** Like {@link reached}, for work that is measured in bytes. */
  bytes(what: string, bytes: number, total: number): void {
    this.#show(() => {
      const share = total === 0 ? '' : ` (${Math.min(100, Math.floor((bytes / total) * 100))} %)`;
      return `${what}: ${inMiB(bytes)} of ${inMiB(total)}${share}`;
    });
  }

  #show(textOf: () => string): void {
    if (performance.now() - this.#loggedAt < this.everyMs) return;
    this.#loggedAt = performance.now();
    const text = textOf();
    if (this.#io.isLogTerminal) this.#line.show(text);
    else this.#io.err(text);
  }

  /** Like {@link reached}, for other work. */
  text(textOf: () => string): void {
    this.#show(textOf);
  }

  /** Shows a step without rows, on terminals only. */
  step(text: string): void {
    this.#line.show(text);
  }

  /** Call it before writing anything else. */
  clear(): void {
    this.#line.clear();
  }
}

/** `spans: 120000 of 1000000 rows (12 %), 34.5 MiB` */
function asText({ table = null, rows, total, bytes }: Reached): string {
  const of = total === null || total === 0 ? '' : ` of ${total}`;
  const share = of === '' ? '' : ` (${Math.min(100, Math.floor((rows / Number(total)) * 100))} %)`;
  const size = bytes === undefined ? '' : `, ${inMiB(bytes)}`;
  return `${table === null ? '' : `${table}: `}${rows}${of} rows${share}${size}`;
}

export function inMiB(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
