const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Values that only the issuing daemon understands. */
const OPAQUE = /("seq"|"next_cursor"): (?:\d+|"[^"]*")/g;
/** The last digits of sums and percentiles depend on the engine's summation order. */
const FRACTION = /(?<=: )\d+\.\d{4,}(?=,?$)/gm;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/**
 * Normalizes the responses of one daemon for comparison with another that received the same data: generated ids become
 * numbers in order of appearance, times of its own clock become `now`, and stored bytes are omitted.
 * Pass the responses of both daemons in the same order.
 */
export class Comparable {
  readonly #sent: ReadonlySet<string>;
  readonly #since: number;
  readonly #numbers = new Map<string, number>();

  /** @param sent ids sent to both @param since start of sending in milliseconds, after all sent times */
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
