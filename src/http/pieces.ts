import type { ServerResponse } from 'node:http';

/** After each piece of this size of a longer body it is known how much was taken. */
export const PIECE_BYTES = 64 * 1024;
/** How many pieces of a long body one turn of the event loop takes. */
export const PIECES_AT_ONCE = 8;

/** What the answer's connection does for it. */
interface Surroundings {
  /** Has a task done in turn with other connections. */
  readonly inTurn: (task: () => void) => void;
  /** Whether nothing more can be sent. */
  readonly isClosed: () => boolean;
  /** The client takes no more for now. */
  readonly onStuck: () => void;
}

/**
 * Sends the long body of an answer piece by piece: so it is known how fast the client takes it, and very many large answers at a
 * time, which the system's buffers take in at once, do not hold up everything else.
 */
export function endInPieces(
  response: ServerResponse,
  bytes: Uint8Array,
  { inTurn, isClosed, onStuck }: Surroundings,
): void {
  let at = 0;
  // Answers that go out by the thousand are shorter than this.
  const most = bytes.length > PIECES_AT_ONCE * PIECE_BYTES ? PIECES_AT_ONCE : 1;
  let left = 0;
  const goOn = (): void => {
    left = most;
    // What the system takes at once is asked for at once, too.
    setImmediate(() => {
      left = 0;
    });
    writeOn();
  };
  const writeOn = (): void => {
    if (isClosed()) return;
    if (at + PIECE_BYTES >= bytes.length) response.end(bytes.subarray(at));
    else if (left === 0) inTurn(goOn);
    else {
      left--;
      if (response.write(bytes.subarray(at, (at += PIECE_BYTES)))) writeOn();
      else {
        response.once('drain', writeOn);
        onStuck();
      }
    }
  };
  goOn();
}
