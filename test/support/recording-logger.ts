import type { Logger } from '../../src/component/telemetry.js';

/** A logger that keeps its lines, each as the text that a log would show. */
export class RecordingLogger implements Logger {
  readonly lines: string[];
  readonly #fields: Record<string, unknown>;

  constructor(lines: string[] = [], fields: Record<string, unknown> = {}) {
    this.lines = lines;
    this.#fields = fields;
  }

  debug(fields: object, message: string): void {
    this.#write('debug', fields, message);
  }

  info(fields: object, message: string): void {
    this.#write('info', fields, message);
  }

  warn(fields: object, message: string): void {
    this.#write('warn', fields, message);
  }

  error(fields: object, message: string): void {
    this.#write('error', fields, message);
  }

  child(fields: Record<string, unknown>): Logger {
    return new RecordingLogger(this.lines, { ...this.#fields, ...fields });
  }

  isDebugEnabled(): boolean {
    return true;
  }

  #write(level: string, fields: object, message: string): void {
    const shown = Object.entries({ ...this.#fields, ...fields }).map(
      ([name, value]: [string, unknown]) =>
        `${name}=${value instanceof Error ? value.message : JSON.stringify(value)}`,
    );
    this.lines.push([level, message, ...shown].join(' '));
  }
}
