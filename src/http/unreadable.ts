import { STATUS_CODES } from 'node:http';
import { HttpProblem } from '../component/http.js';
import { problemResponse } from './problem.js';

const INVALID = { status: 400, code: 'invalid_request', detail: 'The request is not valid HTTP/1.1.' };

/** An error code that does not come from the parser: too many pipelined requests. */
export const TOO_MANY_PIPELINED = 'TOO_MANY_PIPELINED';

/** Response by the error code of Node's parser. */
const REFUSALS: Readonly<Record<string, typeof INVALID>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'headers_too_large',
    detail: 'The headers are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'request_timeout',
    detail: 'The headers did not arrive in time.',
  },
  [TOO_MANY_PIPELINED]: {
    status: 503,
    code: 'overloaded',
    detail:
      'Too many pipelined requests on this connection. Requests without a response had no effect; send them again.',
  },
  HPE_INVALID_METHOD: { status: 501, code: 'not_implemented', detail: 'This method is not supported.' },
};

const OTHER_VERSION: typeof INVALID = {
  status: 505,
  code: 'version_not_supported',
  detail: 'Only HTTP/1.1 and HTTP/1.0 are supported.',
};

/** An error of Node's parser. */
export interface UnreadableError extends Error {
  readonly code?: string;
  readonly reason?: string;
}

/** The text of a complete response to input that the parser cannot read. It ends the connection. */
export function unreadableAnswer(error: UnreadableError): {
  readonly status: number;
  readonly text: string;
} {
  const { status, code, detail } = refusalOf(error);
  const { headers, body: text } = problemResponse(new HttpProblem(status, code, detail));
  const title = STATUS_CODES[status] ?? 'Error';
  const fields = Object.entries({
    ...headers,
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
    date: new Date().toUTCString(),
  });
  return {
    status,
    text: `HTTP/1.1 ${status} ${title}\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`,
  };
}

function refusalOf({ code = '', reason }: UnreadableError): typeof INVALID {
  // The same code is used for a line that ends in a line feed alone.
  if (code === 'HPE_INVALID_VERSION' && reason === 'Invalid HTTP version') return OTHER_VERSION;
  return REFUSALS[code] ?? INVALID;
}
