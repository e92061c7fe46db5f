import { pino, stdSerializers, type Logger as Pino } from 'pino';
import { prettyFactory } from 'pino-pretty';
import type { Logger } from '../component/telemetry.js';
import { redactor } from './redact.js';

export interface LoggerOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly format: 'auto' | 'pretty' | 'json';
  /** Output of log lines. `isTerminal` controls `auto` and colours. */
  readonly output: { write(text: string): void; readonly isTerminal: boolean };
  /** Texts that are replaced in every line. */
  readonly secrets?: readonly string[];
}

/** The log of a whole process. */
export interface RootLogger extends Logger {
  /** Also replaces these texts from now on. */
  hide(secrets: readonly string[]): void;
}

/** The daemon's log: one JSON object a line, or lines for people. */
export function createLogger(options: LoggerOptions): RootLogger {
  const { output } = options;
  const secrets = new Set(options.secrets);
  let redact = redactor([...secrets]);
  const isPretty = options.format === 'pretty' || (options.format === 'auto' && output.isTerminal);
  const pretty = prettyFactory({
    colorize: output.isTerminal,
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
  });
  const write = (line: string): void => {
    const clean = redact(line);
    output.write(isPretty ? pretty(clean) : clean);
  };
  const root = pino(
    {
      level: options.level,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: stdSerializers.err, error: stdSerializers.err },
    },
    { write },
  );
  return Object.assign(new PinoLogger(root), {
    hide: (more: readonly string[]) => {
      for (const secret of more) secrets.add(secret);
      redact = redactor([...secrets]);
    },
  });
}

class PinoLogger implements Logger {
  readonly #pino: Pino;

  constructor(inner: Pino) {
    this.#pino = inner;
  }

  debug(fields: object, message: string): void {
    this.#pino.debug(fields, message);
  }

  info(fields: object, message: string): void {
    this.#pino.info(fields, message);
  }

  warn(fields: object, message: string): void {
    this.#pino.warn(fields, message);
  }

  error(fields: object, message: string): void {
    this.#pino.error(fields, message);
  }

  child(fields: Record<string, unknown>): Logger {
    return new PinoLogger(this.#pino.child(fields));
  }

  isDebugEnabled(): boolean {
    return this.#pino.isLevelEnabled('debug');
  }
}
