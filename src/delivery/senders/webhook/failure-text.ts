import { errors } from 'undici';
import { shorten } from '../../../component/item-problems.js';
import {
  AddressRefusedError,
  AnswerTooLongError,
  ConnectionLostError,
  LookupFailedError,
  TimeLimitError,
} from './connection-error.js';
import { MAX_HEADER_BYTES } from './guarded-agent.js';

const NO_HTTP = 'The response is not valid HTTP';
const NO_ADDRESS =
  'The host of the URL has no allowed address. Check the URL, or ask an administrator for the reason in the log.';
const NO_ANSWER =
  'No valid HTTPS response arrived in time. Check the URL, the certificate and the receiver, or ask an administrator for the reason in the log.';

/** The codes of Node, OpenSSL and undici, in sentences. */
const SENTENCES: readonly (readonly [codes: RegExp, sentence: string])[] = [
  [/^ECONNREFUSED$/, 'The receiver refused the connection'],
  [/^E(NETUNREACH|HOSTUNREACH|ADDRNOTAVAIL|TIMEDOUT|NETDOWN|HOSTDOWN)$/, 'Cannot reach the receiver'],
  [/^CERT_HAS_EXPIRED$/, 'The receiver’s certificate has expired'],
  [/^CERT_NOT_YET_VALID$/, 'The receiver’s certificate is not valid yet'],
  [
    /^(CERT_.*|(DEPTH_ZERO_)?SELF_SIGNED_CERT.*|UNABLE_TO_(GET|VERIFY|DECRYPT|DECODE)_.*|INVALID_CA|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH)$/,
    'The receiver’s certificate is not trusted',
  ],
  [/^(EPROTO|ERR_SSL_.*|ERR_TLS_.*)$/, 'The TLS handshake with the receiver failed'],
  [/^UND_ERR_HEADERS_OVERFLOW$/, `The response headers are longer than ${MAX_HEADER_BYTES} bytes`],
  [/^UND_ERR_RES_/, NO_HTTP],
];

/** Codes for a connection that the other side ended, undici's among them. */
const CLOSED = /^(ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET)$/;

/**
 * The error text for the user. Without a response header there are only two texts, so that users cannot probe internal names and open
 * ports.
 *
 * @param text by {@link failureText}
 */
export function userFailureText(error: unknown, text: string, hasAnswer: boolean): string {
  if (hasNoAddress(error)) return NO_ADDRESS;
  return hasAnswer ? text : NO_ANSWER;
}

/** Whether the attempt ended before a connection was begun: the name has no address, or none that is allowed. */
export function hasNoAddress(error: unknown): boolean {
  return error instanceof AddressRefusedError || error instanceof LookupFailedError;
}

/**
 * The error text for the operator: one sentence without the addresses of a name, and without any text of the other side.
 *
 * @param host as the user wrote it
 * @param hasAnswer whether the header of a response has arrived
 */
export function failureText(error: unknown, host: string, hasAnswer: boolean): string {
  if (error instanceof AddressRefusedError) return 'The destination address is not allowed';
  if (error instanceof LookupFailedError) return lookupText(codeOf(error.cause), host);
  if (error instanceof TimeLimitError) {
    return hasAnswer
      ? `The response was not complete within ${error.limitMs} ms`
      : `No ${error.missing} within ${error.limitMs} ms`;
  }
  if (error instanceof AnswerTooLongError)
    return 'The receiver sent too much data before its response was complete';
  if (error instanceof errors.HTTPParserError) return NO_HTTP;
  const code = codeOf(error);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `The receiver’s certificate is not for ${host}`;
  if (error instanceof ConnectionLostError || CLOSED.test(code)) {
    return hasAnswer
      ? 'The connection closed before the response was complete'
      : 'The connection closed before a response arrived';
  }
  const found = SENTENCES.find(([codes]) => codes.test(code));
  return found?.[1] ?? (code === '' ? 'The request failed' : `The request failed (${code})`);
}

/** Text by c-ares code; other lookups only report that there is no address. */
function lookupText(code: string, host: string): string {
  const text = `The host name ${host} cannot be resolved`;
  if (code === 'ETIMEOUT') return `${text}: DNS did not answer in time`;
  return /^E(SERVFAIL|REFUSED|CONNREFUSED|BADRESP|FORMERR|NOTIMP)$/.test(code)
    ? `${text}: DNS could not answer`
    : text;
}

/** The code of an error; several addresses give several errors. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** The text of an error, for the operator's log. */
export function failureDetail(error: unknown): string {
  const isSeveral = error instanceof AggregateError && error.errors.length > 0;
  return shorten(isSeveral ? error.errors.map(String).join(', ') : String(error));
}
