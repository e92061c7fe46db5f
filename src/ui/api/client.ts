import createClient, { type Middleware } from 'openapi-fetch';
import { BASE } from './base.js';
import type { components, paths } from './generated/schema.js';

export type Schemas = components['schemas'];

/** What an answer that is not a success says. */
export class ApiError extends Error {
  readonly status: number;
  /** Seconds after which it is worth another try. */
  readonly retryAfter: number | undefined;
  /** What is wrong with which field of what was sent. */
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
    // No form and no other site can send it.
    request.headers.set('X-Jackdaw', '1');
    return request;
  },
};

/** The API, with the cookie of the session. */
export const api = createClient<paths>({ baseUrl: BASE.href.replace(/\/$/, ''), credentials: 'same-origin' });
api.use(marked);

interface Answer<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** The body of an answer. @throws ApiError where it is none of success */
export async function bodyOf<Data>(answer: Promise<Answer<Data>>): Promise<Data> {
  const { data, error, response } = await answer;
  if (!response.ok) throw errorFrom(response, error);
  return data as Data;
}

/** The text of an answer of a path below `api/v1/`, for payloads whose numbers must keep their digits. @throws ApiError */
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

/** An answer in another form than JSON. @throws ApiError where it is none of success */
export async function fetchAs(url: URL, accept: string): Promise<Response> {
  const response = await fetch(url, { headers: { 'X-Jackdaw': '1', accept } });
  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => undefined);
  throw errorFrom(response, body);
}

function errorFrom(response: Response, body: unknown): ApiError {
  const { detail, title, errors } = (body ?? {}) as Partial<Record<'detail' | 'title' | 'errors', unknown>>;
  const told =
    [detail, title].find((text) => typeof text === 'string') ??
    `Request failed with status ${String(response.status)}.`;
  const fields = Array.isArray(errors) ? (errors as readonly Schemas['FieldError'][]) : [];
  return new ApiError(response.status, told, retryAfterOf(response), fields);
}

/** Seconds after which the daemon wants to be asked again. */
export function retryAfterOf(response: Response): number | undefined {
  const wait = Number(response.headers.get('retry-after') ?? NaN);
  return Number.isFinite(wait) ? wait : undefined;
}
