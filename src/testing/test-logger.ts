import type { Logger } from '../component/telemetry.js';

/** A line as it was logged. */
export interface LoggedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A logger that keeps its lines. */
export class TestLogger implements Logger {
  readonly lines: LoggedLine[];
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(lines: LoggedLine[] = [], fields: Readonly<Record<string, unknown>> = {}) {
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
    return new TestLogger(this.lines, { ...this.#fields, ...fields });
  }

  isDebugEnabled(): boolean {
    return true;
  }

  #write(level: LoggedLine['level'], fields: object, message: string): void {
    this.lines.push({ level, message, fields: { ...this.#fields, ...fields } });
  }
}
