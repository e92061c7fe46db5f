/** A read that waits in the queue. */
export interface QueuedRead {
  /** The owner: reads of one share wait for each other before they wait for others. */
  readonly share: Share;
  /** Whether it scans much data: such reads must not take the last connection. */
  readonly isLong: boolean;
}

/** A user, by tenant number, or a kind of internal work, by name. */
export type Share = number | string;

/** Running and waiting reads of one share. */
interface Standing<T> {
  readonly short: T[];
  readonly long: T[];
  running: number;
  runningLong: number;
  /** Total duration of its reads in milliseconds, on the clock of {@link FairReadQueue}. */
  spent: number;
  /** Number of short reads that overtook a waiting long one. */
  passed: number;
}

/** Maximum number of short reads of its own share that overtake a long read. */
const MAX_PASSED = 8;

/**
 * Fair queue for reads that wait for one of `size` connections. Shares with the fewest running reads come first, then those with the
 * least total read time, so many short reads come before few long ones. The last free connection is only for a share without one, and
 * long reads leave one connection to short ones, so no share can block the short reads of others.
 */
export class FairReadQueue<T extends QueuedRead> {
  readonly #size: number;
  readonly #maxLong: number;
  readonly #standings = new Map<Share, Standing<T>>();
  #running = 0;
  #runningLong = 0;
  #waiting = 0;
  /** The largest `spent` at which a share was served: new shares start with it. */
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

  /** Number of waiting reads of one share. */
  waitingOf(share: Share): number {
    const standing = this.#standings.get(share);
    return standing === undefined ? 0 : standing.short.length + standing.long.length;
  }

  add(read: T): void {
    this.#lineOf(read).push(read);
    this.#waiting++;
  }

  /** @returns whether it was waiting */
  remove(read: T): boolean {
    const line = this.#lineOf(read);
    const at = line.indexOf(read);
    if (at >= 0) {
      line.splice(at, 1);
      this.#waiting--;
    }
    this.#forgetIfIdle(read.share);
    return at >= 0;
  }

  /** The last read of the share with the most waiting reads. */
  lastOfLongest(): T | undefined {
    let longest: Standing<T> | undefined;
    for (const standing of this.#standings.values()) {
      if (longest === undefined || lengthOf(standing) > lengthOf(longest)) longest = standing;
    }
    return longest?.long.at(-1) ?? longest?.short.at(-1);
  }

  /** All waiting reads. */
  all(): T[] {
    return [...this.#standings.values()].flatMap(({ short, long }) => [...short, ...long]);
  }

  /** Removes the next read from the queue and counts it as running. @returns undefined if none may start now */
  next(): T | undefined {
    let best: { readonly standing: Standing<T>; readonly line: T[] } | undefined;
    for (const standing of this.#standings.values()) {
      const line = this.#eligible(standing);
      if (line === undefined) continue;
      if (best === undefined || comesBefore(standing, best.standing)) best = { standing, line };
    }
    const read = best?.line.shift();
    if (best === undefined || read === undefined) return undefined;
    const { standing } = best;
    standing.passed = !read.isLong && standing.long.length > 0 ? standing.passed + 1 : 0;
    this.#time = Math.max(this.#time, standing.spent);
    this.#waiting--;
    standing.running++;
    this.#running++;
    if (read.isLong) {
      standing.runningLong++;
      this.#runningLong++;
    }
    return read;
  }

  /** Must be called when a running read ends. @param ms its duration */
  done(read: T, ms: number): void {
    const standing = this.#standingOf(read.share);
    standing.spent += ms;
    standing.running--;
    this.#running--;
    if (read.isLong) {
      standing.runningLong--;
      this.#runningLong--;
    }
    this.#forgetIfIdle(read.share);
  }

  /** The queue of a share whose first read may start now. */
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

  #lineOf({ share, isLong }: QueuedRead): T[] {
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
