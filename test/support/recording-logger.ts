import { KeepingLogger, type LoggedLine } from '../../src/testing/test-logger.js';

/** A logger that keeps its lines as log text. */
export class RecordingLogger extends KeepingLogger<string> {
  constructor() {
    super(printed);
  }
}

function printed({ level, message, fields }: LoggedLine): string {
  const shown = Object.entries(fields).map(
    ([name, value]) => `${name}=${value instanceof Error ? value.message : JSON.stringify(value)}`,
  );
  return [level, message, ...shown].join(' ');
}
