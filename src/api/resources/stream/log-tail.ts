import { serializeJson } from '../../../signal/json.js';
import { eventNameOf } from '../../../signal/logged-event.js';
import type { LogRecord } from '../../../signal/log-record.js';
import type { LogFilter } from '../../../storage/contracts/logs.js';
import { logMatcher, textsOf, type LogMatcher } from '../../../storage/shared/matches-log.js';
import { shortened } from '../../support/shortened.js';
import { serializeLog } from '../logs.js';

/** Maximum number of records sent at a time; the rest is only counted, which bounds the cost of a flood. */
const MOST_RECORDS = 200;
const MOST_BYTES = 512 * 1024;
/** Characters of bodies searched at a time: some milliseconds. */
const MOST_TEXT = 1_000_000;
const RECORD_BYTES = 16 * 1024;

/** Collects matching new records, within bounds. */
export class LogTail {
  readonly #matcher: LogMatcher;
  readonly #wake: () => void;
  #printed: string[] = [];
  #bytes = 0;
  #textLeft = MOST_TEXT;
  #lost = 0;

  /** @param wake called when records are available */
  constructor(filter: LogFilter, wake: () => void) {
    this.#matcher = logMatcher(filter);
    this.#wake = wake;
  }

  /** As `ArrivalListener.logs`. */
  readonly offer = (records: readonly LogRecord[], unseen: number): (() => void) | undefined => {
    const taken: string[] = [];
    let lost = unseen;
    for (const record of records) {
      if (!this.#matcher.fields(record)) continue;
      const isWanted = this.#hasText(record);
      if (isWanted === false) continue;
      const isFull = this.#printed.length + taken.length >= MOST_RECORDS || this.#bytes >= MOST_BYTES;
      if (isFull || isWanted === undefined) {
        lost += 1;
        continue;
      }
      const text = printed(record);
      this.#bytes += text.length;
      taken.push(text);
    }
    if (taken.length === 0 && lost === 0) return undefined;
    return () => {
      this.#printed.push(...taken);
      this.#lost += lost;
      this.#wake();
    };
  };

  /** Records since the last call, as JSON, oldest first; and the number of dropped records. */
  take(): { readonly records: readonly string[]; readonly lost: number } {
    const taken = { records: this.#printed, lost: this.#lost };
    this.#printed = [];
    this.#bytes = 0;
    this.#textLeft = MOST_TEXT;
    this.#lost = 0;
    return taken;
  }

  /** @returns undefined if the search limit was reached */
  #hasText(record: LogRecord): boolean | undefined {
    const { text } = this.#matcher;
    if (text === null) return true;
    if (this.#textLeft <= 0) return undefined;
    const texts = textsOf(record);
    this.#textLeft -= (texts.body?.length ?? 0) + (texts.other?.length ?? 0);
    return text(texts);
  }
}

function printed(record: LogRecord): string {
  const shown = serializeLog({
    ...record,
    event_name: eventNameOf(record),
    service_name: record.origin.serviceName,
  });
  return serializeJson(shortened(shown, RECORD_BYTES));
}
