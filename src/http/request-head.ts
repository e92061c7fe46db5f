import { HttpProblem } from '../component/http.js';
import type { Exchange } from './engine.js';

/**
 * Header fields that a request has at most once (RFC 9110 section 5.3, RFC 9112 sections 3.2 and 6.3), by the length of their names:
 * with two of them, this service and a proxy in front of it might trust different ones.
 */
const SINGLE_BY_LENGTH: readonly (string | undefined)[] = Array.from({ length: 18 }, (_, length) =>
  ['host', 'authorization', 'content-length', 'transfer-encoding'].find((name) => name.length === length),
);

/** More than any client sends; Node's parser drops fields after the first 2000. */
export const MAX_HEADER_FIELDS = 1000;

const LENGTH = /^\d+$/;

/** @returns the name in lower case if a request has the field at most once */
export function singleField(name: string): string | undefined {
  const single = SINGLE_BY_LENGTH[name.length];
  return single !== undefined && name.toLowerCase() === single ? single : undefined;
}

/** Whether the end of the body is ambiguous: the following bytes may be the rest of it, or a request smuggled past a proxy. */
export function isFramingUnsure(head: Pick<Exchange, 'header' | 'repeated' | 'version'>): boolean {
  const coding = head.header('transfer-encoding');
  const length = head.header('content-length');
  if (head.repeated === 'content-length' || head.repeated === 'transfer-encoding') return true;
  if (coding === undefined) return length !== undefined && !LENGTH.test(length);
  return length !== undefined || coding.toLowerCase() !== 'chunked' || head.version === '1.0';
}

/**
 * The problem of a request head, independent of the engine. Such a request is the last one of its connection.
 *
 * @returns 505 `version_not_supported`, 431 `headers_too_large`, 400 `invalid_request`, 501 `unsupported_transfer_encoding`, 417
 *   `expectation_failed`
 */
export function headProblem(exchange: Exchange): HttpProblem | undefined {
  const { version, repeated } = exchange;
  if (version !== '1.1' && version !== '1.0')
    return new HttpProblem(505, 'version_not_supported', 'Only HTTP/1.1 and HTTP/1.0 are supported.');
  if (exchange.isHeadTooLarge) return new HttpProblem(431, 'headers_too_large', 'The headers are too large.');
  if (repeated !== undefined) return invalid(`The request has two ${repeated} headers; send one.`);
  const coding = exchange.header('transfer-encoding')?.toLowerCase();
  if (coding !== undefined && coding !== 'chunked' && coding !== '')
    return new HttpProblem(
      501,
      'unsupported_transfer_encoding',
      'The only supported Transfer-Encoding is chunked; compress the body with Content-Encoding.',
    );
  if (isFramingUnsure(exchange))
    return invalid(
      'The length of the body is ambiguous; send one Content-Length, or Transfer-Encoding: chunked.',
    );
  if (version === '1.0') return undefined;
  if (exchange.header('host') === undefined) return invalid('The request has no Host header.');
  const expectation = exchange.header('expect');
  if (expectation !== undefined && expectation.toLowerCase() !== '100-continue')
    return new HttpProblem(417, 'expectation_failed', 'The only supported expectation is 100-continue.');
  return undefined;
}

function invalid(detail: string): HttpProblem {
  return new HttpProblem(400, 'invalid_request', detail);
}

/** Whether a raw query is percent-encoded UTF-8. */
export function isWellFormed(query: string): boolean {
  if (!query.includes('%')) return true;
  try {
    decodeURIComponent(query);
    return true;
  } catch {
    return false;
  }
}
