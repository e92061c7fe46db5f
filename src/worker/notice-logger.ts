import type { Logger } from '../component/telemetry.js';
import { serializeError } from './thread-protocol.js';

/** A log line, written by the logger of the thread's owner. */
export interface LogNotice {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: object;
  readonly message: string;
}

/**
 * The logger of a thread: its owner writes the lines with {@link writeNotice}.
 *
 * @param isDebugEnabled whether the owner's logger writes debug lines
 */
export function noticeLogger(send: (line: LogNotice) => void, isDebugEnabled: boolean): Logger {
  const line =
    (level: LogNotice['level']) =>
    (fields: object, message: string): void => {
      const plain = Object.entries(fields).map(([key, value]) => [
        key,
        value instanceof Error ? serializeError(value) : (value as unknown),
      ]);
      send({ level, fields: Object.fromEntries(plain) as object, message });
    };
  const logger: Logger = {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: (added) =>
      noticeLogger((line) => {
        send({ ...line, fields: { ...added, ...line.fields } });
      }, isDebugEnabled),
    isDebugEnabled: () => isDebugEnabled,
  };
  return logger;
}

export function writeNotice(logger: Logger, { level, fields, message }: LogNotice): void {
  logger[level](fields, message);
}
