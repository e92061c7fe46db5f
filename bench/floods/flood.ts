/** Whom a flood is aimed at, and with whose key. Travels to the process that floods as JSON. */
export interface FloodTarget {
  /** The HTTP listener: `http://127.0.0.1:40123`. */
  readonly url: string;
  /** OTLP over gRPC: `grpc://127.0.0.1:40124`. */
  readonly grpcUrl: string;
  /** Of a user of its own. */
  readonly key: string;
}

/** What one careless or hostile client does. */
export interface Flood {
  /** What it does, for the table. */
  readonly title: string;
  /** Goes on until it is told to stop, or until it has done what it is for. */
  run(target: FloodTarget, tally: Tally, stop: AbortSignal): Promise<void>;
}

/** Counts what a flood did and what came of it: `sent 200: 3000`. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(what: string, count = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
  }

  /** Everything counted, in the order of its first coming. */
  text(): string {
    return [...this.#counts].map(([what, count]) => `${what}: ${count}`).join(', ');
  }
}

/**
 * Where floods come from: another loopback address than the neighbour's, as clients of two machines have two.
 */
export const FLOOD_ADDRESS = '127.0.0.2';
