import createClient, { type Middleware } from 'openapi-fetch';
import { BASE } from './base.js';
import type { components, paths } from './generated/schema.js';

export type Schemas = components['schemas'];

/** An error response of the API. */
export class ApiError extends Error {
  readonly status: number;
  /** Seconds to wait before a retry. */
  readonly retryAfter: number | undefined;
  /** Problems by field of the request body. */
  readonly fields: readonly Schemas['FieldError'][];

  constructor(
    status: number,
    message: string,
    retryAfter: number | undefined,
    fields: readonly Schemas['FieldError'][] = [],
  ) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
    this.fields = fields;
  }
}

const marked: Middleware = {
  onRequest: ({ request }) => {
    // Forms and other sites cannot send this header.
    request.headers.set('X-Jackdaw', '1');
    return request;
  },
};

/** The API client; requests carry the session cookie. */
export const api = createClient<paths>({ baseUrl: BASE.href.replace(/\/$/, ''), credentials: 'same-origin' });
api.use(marked);

interface Answer<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** The body of a response. @throws ApiError if the response is not a success */
export async function bodyOf<Data>(answer: Promise<Answer<Data>>): Promise<Data> {
  const { data, error, response } = await answer;
  if (!response.ok) throw errorFrom(response, error);
  return data as Data;
}

/**
 * The response text of a path below `api/v1/`, for payloads whose numbers must keep their digits.
 *
 * @throws ApiError
 */
export async function readText(path: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(new URL(`api/v1/${path}`, BASE), { headers: { 'X-Jackdaw': '1' }, signal });
  const text = await response.text();
  if (response.ok) return text;
  let error: unknown;
  try {
    error = JSON.parse(text);
  } catch {
    // A proxy may answer with anything.
  }
  throw errorFrom(response, error);
}

/** A response other than JSON. @throws ApiError if the response is not a success */
export async function fetchAs(url: URL, accept: string, signal: AbortSignal): Promise<Response> {
  const response = await fetch(url, { headers: { 'X-Jackdaw': '1', accept }, signal });
  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => undefined);
  throw errorFrom(response, body);
}

function errorFrom(response: Response, body: unknown): ApiError {
  const { detail, title, errors } = (body ?? {}) as Partial<Record<'detail' | 'title' | 'errors', unknown>>;
  const reason =
    [detail, title].find((text) => typeof text === 'string') ??
    `Request failed with status ${String(response.status)}.`;
  const fields = Array.isArray(errors) ? (errors as readonly Schemas['FieldError'][]) : [];
  return new ApiError(response.status, reason, retryAfterOf(response), fields);
}

/** Seconds to wait before the next request, from `Retry-After`. */
export function retryAfterOf(response: Response): number | undefined {
  const wait = Number(response.headers.get('retry-after') ?? NaN);
  return Number.isFinite(wait) ? wait : undefined;
}
