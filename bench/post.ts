import type { Pool } from 'undici';

/** Result of one request. */
export interface Answer {
  /** 0 if there was no response. */
  readonly status: number;
  /** Error code if there was no response. */
  readonly failure?: string;
  readonly body: Buffer;
}

const NO_BODY = Buffer.alloc(0);

/** Posts one body. Never rejects: failures are part of the result. Uses `dispatch`, which takes half the CPU time of `request`. */
export function post(
  pool: Pool,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): Promise<Answer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let status = 0;
    pool.dispatch(
      { method: 'POST', path, headers, body },
      {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, statusCode) => {
          status = statusCode;
        },
        onResponseData: (_controller, chunk) => {
          chunks.push(chunk);
        },
        onResponseEnd: () => {
          resolve({ status, body: Buffer.concat(chunks) });
        },
        onResponseError: (_controller, error) => {
          const failure = 'code' in error ? String(error.code) : error.message;
          resolve({ status: 0, failure, body: NO_BODY });
        },
      },
    );
  });
}
