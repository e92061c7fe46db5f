import type { Logger } from '../component/telemetry.js';

/** A line as it was logged. */
export interface LoggedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A logger that keeps its lines in a chosen form; its children write to the same list. */
export class KeepingLogger<Line> implements Logger {
  readonly lines: Line[];
  readonly #form: (line: LoggedLine) => Line;
  readonly #fields: LoggedLine['fields'];

  constructor(form: (line: LoggedLine) => Line, lines: Line[] = [], fields: LoggedLine['fields'] = {}) {
    this.lines = lines;
    this.#form = form;
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
    return new KeepingLogger(this.#form, this.lines, { ...this.#fields, ...fields });
  }

  isDebugEnabled(): boolean {
    return true;
  }

  #write(level: LoggedLine['level'], fields: object, message: string): void {
    this.lines.push(this.#form({ level, message, fields: { ...this.#fields, ...fields } }));
  }
}

/** A logger that keeps its lines. */
export class TestLogger extends KeepingLogger<LoggedLine> {
  constructor() {
    super((line) => line);
  }
}
