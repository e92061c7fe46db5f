/** A read that waits in the queue. */
export interface Turn {
  /** Whose it is: reads of one share wait for each other before they wait for others. */
  readonly share: Share;
  /** Whether it looks through much: it must not take the last connection from those that look at little. */
  readonly isLong: boolean;
}

/** A user, by the number of its tenant, or a kind of the store's own work, by its name. */
export type Share = number | string;

/** What one share has running and waiting. */
interface Standing<T> {
  readonly short: T[];
  readonly long: T[];
  running: number;
  runningLong: number;
  /** How long its reads have taken, in milliseconds, on the clock of {@link ReadTurns}. */
  spent: number;
  /** How many short reads went before a long one that waits. */
  passed: number;
}

/** How many short reads of its own share a long read waits for, at most. */
const MAX_PASSED = 8;

/**
 * Whose turn it is among the reads that wait for one of `size` connections. Shares take turns: first the one with the fewest
 * running reads, then the one whose reads have taken the least time, so that many short reads come before few long ones. The last
 * free connection is only for a share that has none, and long reads leave one connection to short ones; so whoever asks for
 * little finds a place, whatever any one other asks for.
 */
export class ReadTurns<T extends Turn> {
  readonly #size: number;
  readonly #maxLong: number;
  readonly #standings = new Map<Share, Standing<T>>();
  #running = 0;
  #runningLong = 0;
  #waiting = 0;
  /** What the share had spent that had the last turn: a share that is new begins there. */
  #time = 0;

  constructor(size: number) {
    this.#size = size;
    this.#maxLong = Math.max(1, size - 1);
  }

  get waiting(): number {
    return this.#waiting;
  }

  get running(): number {
    return this.#running;
  }

  /** Reads of one share that wait. */
  waitingOf(share: Share): number {
    const standing = this.#standings.get(share);
    return standing === undefined ? 0 : standing.short.length + standing.long.length;
  }

  add(turn: T): void {
    this.#lineOf(turn).push(turn);
    this.#waiting++;
  }

  /** @returns whether it waited */
  remove(turn: T): boolean {
    const line = this.#lineOf(turn);
    const at = line.indexOf(turn);
    if (at >= 0) {
      line.splice(at, 1);
      this.#waiting--;
    }
    this.#forgetIfIdle(turn.share);
    return at >= 0;
  }

  /** The last read of the share that has the most waiting. */
  lastOfLongest(): T | undefined {
    let longest: Standing<T> | undefined;
    for (const standing of this.#standings.values()) {
      if (longest === undefined || lengthOf(standing) > lengthOf(longest)) longest = standing;
    }
    return longest?.long.at(-1) ?? longest?.short.at(-1);
  }

  /** All that wait. */
  all(): T[] {
    return [...this.#standings.values()].flatMap(({ short, long }) => [...short, ...long]);
  }

  /** Takes the next read out of the queue, and counts it as running. @returns undefined where none may begin now */
  next(): T | undefined {
    let best: { readonly standing: Standing<T>; readonly line: T[] } | undefined;
    for (const standing of this.#standings.values()) {
      const line = this.#eligible(standing);
      if (line === undefined) continue;
      if (best === undefined || comesBefore(standing, best.standing)) best = { standing, line };
    }
    const turn = best?.line.shift();
    if (best === undefined || turn === undefined) return undefined;
    const { standing } = best;
    standing.passed = !turn.isLong && standing.long.length > 0 ? standing.passed + 1 : 0;
    this.#time = Math.max(this.#time, standing.spent);
    this.#waiting--;
    standing.running++;
    this.#running++;
    if (turn.isLong) {
      standing.runningLong++;
      this.#runningLong++;
    }
    return turn;
  }

  /** A running read is over. @param ms how long it took */
  done(turn: T, ms: number): void {
    const standing = this.#standingOf(turn.share);
    standing.spent += ms;
    standing.running--;
    this.#running--;
    if (turn.isLong) {
      standing.runningLong--;
      this.#runningLong--;
    }
    this.#forgetIfIdle(turn.share);
  }

  /** The queue of a share whose first read may begin now. */
  #eligible(standing: Standing<T>): T[] | undefined {
    const free = this.#size - this.#running;
    if (free === 0 || (free === 1 && standing.running > 0 && this.#size > 1)) return undefined;
    const { short, long, runningLong, passed } = standing;
    const freeLong = this.#maxLong - this.#runningLong;
    const mayLong = freeLong > 1 || (freeLong === 1 && (runningLong === 0 || this.#maxLong === 1));
    const hasLong = long.length > 0 && mayLong;
    if (hasLong && (short.length === 0 || passed >= MAX_PASSED)) return long;
    return short.length > 0 ? short : undefined;
  }

  #lineOf({ share, isLong }: Turn): T[] {
    const standing = this.#standingOf(share);
    return isLong ? standing.long : standing.short;
  }

  #standingOf(share: Share): Standing<T> {
    let standing = this.#standings.get(share);
    if (standing === undefined) {
      standing = { short: [], long: [], running: 0, runningLong: 0, spent: this.#time, passed: 0 };
      this.#standings.set(share, standing);
    }
    return standing;
  }

  #forgetIfIdle(share: Share): void {
    const standing = this.#standings.get(share);
    if (standing?.running === 0 && lengthOf(standing) === 0) this.#standings.delete(share);
  }
}

function lengthOf({ short, long }: Standing<unknown>): number {
  return short.length + long.length;
}

function comesBefore(a: Standing<unknown>, b: Standing<unknown>): boolean {
  return a.running < b.running || (a.running === b.running && a.spent < b.spent);
}
