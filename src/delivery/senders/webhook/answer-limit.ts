import type { Socket } from 'node:net';
import { AnswerTooLongError } from './connection-error.js';
import { MAX_RESPONSE_BYTES } from './response-start.js';

/** Enough for the longest head and the kept body, in chunks of two bytes each. */
const MAX_ANSWER_BYTES = 8 * MAX_RESPONSE_BYTES;

/**
 * Ends a connection on which more arrives in answer to one request than any answer that is read to its end may have. Limits of
 * heads and bodies do not see early hints, extensions of chunks and empty lines, which can go on for ever and keep a core busy.
 * To be called before the connection has another reader, so that this one looks first.
 */
export function limitAnswers(socket: Socket): void {
  let written = 0;
  let before = 0;
  let seen = 0;
  socket.on('readable', () => {
    if (socket.bytesWritten !== written) {
      // Another request went out: what was read before belongs to earlier ones.
      written = socket.bytesWritten;
      before = seen;
    }
    seen = socket.bytesRead;
    if (seen - before > MAX_ANSWER_BYTES)
      socket.destroy(new AnswerTooLongError(`more than ${MAX_ANSWER_BYTES} bytes`));
  });
}
