import { gzipSync } from 'node:zlib';
import type { AttemptResult } from '../../src/delivery/senders/webhook/sender.js';
import { answerText, type Answer } from './webhook-receiver.js';
import { nextAnswerHead } from './webhook-sender.js';

/** The fields of every failed attempt without a response. */
export const NOTHING = {
  succeeded: false,
  statusCode: null,
  responseBody: '',
  isGone: false,
  retryAfterMs: null,
};
export const NO_ANSWER = 'The connection closed before a response arrived';
const HALF_ANSWER = 'The connection closed before the response was complete';
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

/** A faulty receiver and the expected attempt. */
interface FaultyAnswer {
  readonly what: string;
  readonly answer: Answer;
  readonly expected: Partial<AttemptResult>;
}

const write =
  (...pieces: readonly (string | Buffer)[]): Answer =>
  (socket) => {
    for (const piece of pieces) socket.write(piece);
    socket.end();
  };

/** Writes endlessly, as fast as the client reads. */
const pour =
  (start: string, endless: string): Answer =>
  (socket) => {
    const more = (): void => {
      while (socket.writable && socket.write(endless));
    };
    socket.on('drain', more);
    socket.write(start);
    more();
  };

const BOMB = gzipSync(Buffer.alloc(10_000_000));

export const FAULTY_ANSWERS: readonly FaultyAnswer[] = [
  {
    what: 'a reset before the answer',
    answer: (_socket, _request, raw) => raw.resetAndDestroy(),
    expected: { ...NOTHING, error: NO_ANSWER },
  },
  {
    what: 'an end before the answer',
    answer: (socket) => socket.end(),
    expected: { ...NOTHING, error: NO_ANSWER },
  },
  {
    what: 'a reset within the head of the answer',
    answer: (socket, _request, raw) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Le', () => raw.resetAndDestroy());
    },
    expected: { ...NOTHING, error: NO_ANSWER },
  },
  {
    what: 'a reset after the head of the answer',
    answer: (socket, _request, raw) => {
      void nextAnswerHead().then(() => raw.resetAndDestroy());
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf');
    },
    expected: { succeeded: false, statusCode: 200, error: HALF_ANSWER },
  },
  {
    what: 'a body that is shorter than announced',
    answer: write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf'),
    expected: { succeeded: false, statusCode: 200, responseBody: 'half', error: HALF_ANSWER },
  },
  {
    what: 'a body that is longer than announced',
    answer: write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhalf more'),
    expected: { succeeded: true, statusCode: 200, responseBody: 'half', error: null },
  },
  {
    what: 'chunks that are none',
    answer: write(CHUNKED, '3\r\nabc\r\nzz\r\nabc'),
    expected: {
      succeeded: false,
      statusCode: 200,
      responseBody: 'abc',
      error: 'The response is not valid HTTP',
    },
  },
  {
    what: 'an endless body',
    answer: pour(CHUNKED, '8\r\nendless \r\n'),
    expected: { succeeded: true, statusCode: 200, responseBody: 'endless '.repeat(2048), error: null },
  },
  {
    what: 'a gzip bomb, which stays what it is',
    answer: write(
      `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${BOMB.length}\r\n\r\n`,
      BOMB,
    ),
    expected: {
      succeeded: true,
      statusCode: 200,
      responseBody: decoded(BOMB),
      error: null,
    },
  },
  {
    what: 'huge headers',
    answer: write(`HTTP/1.1 200 OK\r\nX-Huge: ${'x'.repeat(20_000)}\r\n\r\n`),
    expected: { ...NOTHING, error: 'The response headers are longer than 16384 bytes' },
  },
  {
    what: 'many headers',
    answer: write(`HTTP/1.1 200 OK\r\n${'X-More: 1\r\n'.repeat(3000)}\r\n`),
    expected: { ...NOTHING, error: 'The response headers are longer than 16384 bytes' },
  },
  {
    what: 'early hints before the answer',
    answer: write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(16), answerText('200 OK', [], 'late')),
    expected: { succeeded: true, statusCode: 200, responseBody: 'late', error: null },
  },
  ...[
    ['early hints', 'HTTP/1.1 103 Early Hints\r\n\r\n', ''],
    ['empty lines', '\r\n'.repeat(100), ''],
    ['an extension of a chunk', 'x'.repeat(100), `${CHUNKED}1;`],
  ].map(([what = '', endless = '', start = '']) => ({
    what: `${what} without an end`,
    answer: pour(start, endless),
    expected: {
      succeeded: false,
      responseBody: '',
      error: 'The receiver sent too much data before its response was complete',
    },
  })),
  {
    what: 'a body of small chunks',
    answer: write(CHUNKED, '1\r\nx\r\n'.repeat(16_000), '0\r\n\r\n'),
    expected: { succeeded: true, responseBody: 'x'.repeat(16_000) },
  },
  {
    what: 'a change of protocols',
    answer: write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nxx'),
    expected: { ...NOTHING, error: NO_ANSWER },
  },
  {
    what: 'another protocol',
    answer: write('SSH-2.0-OpenSSH_9.2\r\n'),
    expected: { ...NOTHING, error: 'The response is not valid HTTP' },
  },
  {
    what: 'an answer that says its length twice',
    answer: write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
    expected: { ...NOTHING, error: 'The response is not valid HTTP' },
  },
  {
    what: '204 with a body',
    answer: write('HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody'),
    expected: { succeeded: true, statusCode: 204, responseBody: '', error: null },
  },
  {
    what: '200 without a body',
    answer: write(answerText('200 OK')),
    expected: { succeeded: true, statusCode: 200, responseBody: '', error: null, retryAfterMs: null },
  },
  {
    what: 'a body that ends with the connection',
    answer: write('HTTP/1.1 200 OK\r\n\r\nto the end'),
    expected: { succeeded: true, statusCode: 200, responseBody: 'to the end' },
  },
  {
    what: 'a body that is no UTF-8',
    answer: write(
      'HTTP/1.1 500 Oh\r\nContent-Type: text/html; charset=latin1\r\nContent-Length: 8\r\n\r\n',
      Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xe9, 0x62, 0x00, 0xc3]),
    ),
    expected: { succeeded: false, statusCode: 500, responseBody: '\ufeffa\ufffdb\u0000\ufffd', error: null },
  },
  {
    what: 'a long body that is cut within a character',
    answer: write(answerText('200 OK', [], `x${'é'.repeat(10_000)}`)),
    expected: { succeeded: true, responseBody: `x${'é'.repeat(8191)}` },
  },
  ...[301, 302, 303, 307, 308].map((status) => ({
    what: `${status}, which is not followed`,
    answer: write(answerText(`${status} Elsewhere`, ['Location: /elsewhere'], 'there')),
    expected: {
      succeeded: false,
      statusCode: status,
      responseBody: 'there',
      error: `The receiver answered ${status}: redirects are not followed; set the endpoint to the final URL`,
    },
  })),
  {
    what: '304, which names no other address',
    answer: write(answerText('304 Not Modified')),
    expected: { succeeded: false, statusCode: 304, error: null },
  },
  {
    what: '410',
    answer: write(answerText('410 Gone')),
    expected: { succeeded: false, statusCode: 410, isGone: true, error: null },
  },
  {
    what: '429 with Retry-After in seconds',
    answer: write(answerText('429 Slow down', ['Retry-After: 120'], 'slow')),
    expected: {
      succeeded: false,
      statusCode: 429,
      responseBody: 'slow',
      error: null,
      retryAfterMs: 120_000,
      isGone: false,
    },
  },
  {
    what: '503 with Retry-After as a date',
    // The test clock is at 12:00.
    answer: write(answerText('503 Later', ['Retry-After: Thu, 15 Jan 2026 12:01:30 GMT'])),
    expected: { statusCode: 503, retryAfterMs: 90_000 },
  },
  {
    what: '503 with a Retry-After that is nothing',
    answer: write(answerText('503 Later', ['Retry-After: soon'])),
    expected: { statusCode: 503, retryAfterMs: null },
  },
  {
    what: '200 with Retry-After',
    answer: write(answerText('200 OK', ['Retry-After: 120'])),
    expected: { succeeded: true, retryAfterMs: null },
  },
];

/** The stored start of a body. */
function decoded(bytes: Buffer): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, 16_384), {
    stream: bytes.length >= 16_384,
  });
}
