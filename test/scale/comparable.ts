const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** What only the daemon that gave it understands. */
const OPAQUE = /("seq"|"next_cursor"): (?:\d+|"[^"]*")/g;
/** Sums and percentiles of doubles depend on the order in which an engine adds: their last digits are nobody's promise. */
const FRACTION = /(?<=: )\d+\.\d{4,}(?=,?$)/gm;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/**
 * Answers of one daemon in a form that is the same for another one that was told the same: ids that it made itself become numbers in the order
 * in which they are seen, times of its own clock become `now`, and the bytes that an engine stores are left out. Give it the answers in the same order for both.
 */
export class Comparable {
  readonly #sent: ReadonlySet<string>;
  readonly #since: number;
  readonly #numbers = new Map<string, number>();

  /** @param sent ids that both were sent @param since when the first was sent, in milliseconds; nothing sent is of a later time */
  constructor(sent: ReadonlySet<string>, since: number) {
    this.#sent = sent;
    this.#since = since;
  }

  /** @param body parsed JSON */
  of(body: unknown): string {
    return JSON.stringify(body, (key, value: unknown) => (key === 'stored_bytes' ? undefined : value), 1)
      .replaceAll(OPAQUE, '$1: "opaque"')
      .replaceAll(FRACTION, (number) => String(Number(Number(number).toPrecision(12))))
      .replaceAll(UUID, (id) => (this.#sent.has(id) ? id : `#${this.#numberOf(id)}`))
      .replaceAll(TIME, (time) => (Date.parse(time) >= this.#since ? 'now' : time));
  }

  #numberOf(id: string): number {
    const number = this.#numbers.get(id) ?? this.#numbers.size + 1;
    this.#numbers.set(id, number);
    return number;
  }
}
