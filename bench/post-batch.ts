import type { Pool } from 'undici';

/** What the daemon said to one request. */
export interface Answer {
  /** 0 where there was no answer. */
  readonly status: number;
  /** Code of the failed connection, where there was no answer. */
  readonly failure?: string;
  readonly accepted: number;
  readonly rejected: number;
}

/** Posts one body. Never rejects: what went wrong is part of the answer. By `dispatch`, which costs half of `request`. */
export function postBatch(
  pool: Pool,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): Promise<Answer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let status = 0;
    const fail = (error: Error) => {
      const code = 'code' in error ? String(error.code) : error.message;
      resolve({ status: 0, failure: code, accepted: 0, rejected: 0 });
    };
    pool.dispatch(
      { method: 'POST', path: '/api/v1/traces/batch', headers, body },
      {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, statusCode) => {
          status = statusCode;
        },
        onResponseData: (_controller, chunk) => {
          chunks.push(chunk);
        },
        onResponseEnd: () => {
          resolve({ status, ...counts(status, Buffer.concat(chunks)) });
        },
        onResponseError: (_controller, error) => {
          fail(error);
        },
      },
    );
  });
}

function counts(status: number, body: Buffer): { accepted: number; rejected: number } {
  if (status !== 200) return { accepted: 0, rejected: 0 };
  const parsed = JSON.parse(body.toString()) as { accepted: number; rejected: number };
  return { accepted: parsed.accepted, rejected: parsed.rejected };
}
