/** Faults of the test server. */
export interface ClickHouseFault {
  /**
   * - `cut`: closes the connection before anything is done
   * - `lost`: does everything and closes the connection before the response
   * - `silent`: does everything and never responds
   * - `endless`: runs an endless statement instead
   * - `half`: does everything and closes the connection in the middle of the response
   * - a number: does nothing and responds with this ClickHouse error code
   */
  readonly kind: 'cut' | 'lost' | 'silent' | 'endless' | 'half' | number;
  /** Number of affected requests. */
  readonly times: number;
  /** Only requests whose statement contains this. */
  readonly matching?: string;
}

/** Pending faults. */
export class ClickHouseFaults {
  readonly #faults: { kind: ClickHouseFault['kind']; left: number; matching: string }[] = [];

  add({ kind, times, matching = '' }: ClickHouseFault): void {
    this.#faults.push({ kind, left: times, matching });
  }

  clear(): void {
    this.#faults.length = 0;
  }

  /** Takes the fault for a statement. */
  take(statement: string): ClickHouseFault['kind'] | null {
    const fault = this.#faults.find(({ left, matching }) => left > 0 && statement.includes(matching));
    if (fault === undefined) return null;
    fault.left--;
    return fault.kind;
  }
}
