/** What the server of tests does wrong with requests. */
export interface ClickHouseFault {
  /**
   * - `cut`: the connection is cut before anything is done
   * - `lost`: everything is done, and the connection is cut before the answer
   * - `silent`: everything is done, and no answer comes
   * - `endless`: in its place a statement runs that never ends by itself
   * - `half`: everything is done, and the connection is cut in the middle of the answer
   * - a number: nothing is done, and the answer is an error with this code of ClickHouse
   */
  readonly kind: 'cut' | 'lost' | 'silent' | 'endless' | 'half' | number;
  /** How many requests it befalls. */
  readonly times: number;
  /** Only requests whose statement contains this. */
  readonly matching?: string;
}

/** The faults that are still to come. */
export class ClickHouseFaults {
  readonly #faults: { kind: ClickHouseFault['kind']; left: number; matching: string }[] = [];

  add({ kind, times, matching = '' }: ClickHouseFault): void {
    this.#faults.push({ kind, left: times, matching });
  }

  clear(): void {
    this.#faults.length = 0;
  }

  /** The fault that befalls a statement, which counts. */
  take(statement: string): ClickHouseFault['kind'] | null {
    const fault = this.#faults.find(({ left, matching }) => left > 0 && statement.includes(matching));
    if (fault === undefined) return null;
    fault.left--;
    return fault.kind;
  }
}
