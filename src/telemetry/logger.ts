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
  /** Changes the minimum level, also of its children. */
  setLevel(level: LoggerOptions['level']): void;
  /** Also passes each line to `receive`, as JSON and without secrets; null ends it. */
  forward(receive: ((line: string) => void) | null): void;
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
  let forward: ((line: string) => void) | null = null;
  const write = (line: string): void => {
    const clean = redact(line);
    forward?.(clean);
    output.write(isPretty ? pretty(clean) : clean);
  };
  const root = pino(
    {
      level: 'debug',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: stdSerializers.err, error: stdSerializers.err },
    },
    { write },
  );
  const threshold: Threshold = { level: options.level };
  return Object.assign(new PinoLogger(root, threshold), {
    hide: (more: readonly string[]) => {
      for (const secret of more) secrets.add(secret);
      redact = redactor([...secrets]);
    },
    setLevel: (level: LoggerOptions['level']) => {
      threshold.level = level;
    },
    forward: (receive: typeof forward) => {
      forward = receive;
    },
  });
}

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** Shared by all children of a logger; pino copies the level of a logger into each child. */
interface Threshold {
  level: (typeof LEVELS)[number];
}

class PinoLogger implements Logger {
  readonly #pino: Pino;
  readonly #threshold: Threshold;

  constructor(inner: Pino, threshold: Threshold) {
    this.#pino = inner;
    this.#threshold = threshold;
  }

  debug(fields: object, message: string): void {
    this.#log('debug', fields, message);
  }

  info(fields: object, message: string): void {
    this.#log('info', fields, message);
  }

  warn(fields: object, message: string): void {
    this.#log('warn', fields, message);
  }

  error(fields: object, message: string): void {
    this.#log('error', fields, message);
  }

  child(fields: Record<string, unknown>): Logger {
    return new PinoLogger(this.#pino.child(fields), this.#threshold);
  }

  isDebugEnabled(): boolean {
    return this.#isEnabled('debug');
  }

  #isEnabled(level: Threshold['level']): boolean {
    return LEVELS.indexOf(level) >= LEVELS.indexOf(this.#threshold.level);
  }

  #log(level: Threshold['level'], fields: object, message: string): void {
    if (this.#isEnabled(level)) this.#pino[level](fields, message);
  }
}
